"""Draws matrix charts: a colored square with a number for each pair of names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Final, NamedTuple

from gym_gui.analysis.charts.shapes import (
    GAP,
    ROW,
    Area,
    Box,
    Chart,
    Drawing,
    HoverRegion,
    Line,
    Mark,
    Measure,
    TextLine,
    baseline,
    cut,
)
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean

HEAD: Final = 22
_INSET: Final = 4
"""Space between a number and the edges of its square, in pixels."""


class Shade(NamedTuple):
    """Content of one square of a matrix chart.

    Attributes:
        away: Strength of the color, from -1 (red) over 0 (none) to 1 (green).
        number: Number in the square, as short as possible.
        sentence: Text that appears when the pointer is on the square.
        played: Share of games played, which is the share of the square that is filled.
    """

    away: float
    number: str
    sentence: str
    played: float = 1.0


PARTLY: Final = "Hollow: not played yet; partly filled: share of games played."
"""Legend for squares of which not all games are played."""


def share_played(played: int, planned: int) -> float:
    """Return which share of a square to fill; between 0.15 and 0.85 if some of the games are played."""
    if not planned or played >= planned:
        return 1.0
    return min(max(played / planned, 0.15), 0.85) if played else 0.0


def played_words(played: int, planned: int) -> str:
    """Return the number of games played, such as ``3 of 10 games played``; empty if all are played."""
    if played >= planned:
        return ""
    games = wording.count(planned, "game")
    return f"{played:,} of {games} played" if played else f"none of {games} played yet"


class SquareChart(Chart):
    """Matrix chart whose rows and columns are the same names in the same order.

    Attributes:
        square: Usual side of a square, in pixels.
    """

    square: ClassVar[int] = 30

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of rows and columns."""

    @abstractmethod
    def shade(self, i: int, j: int) -> Shade | None:
        """Return the content of the square in a row and a column; ``None`` for an empty square."""

    @property
    def heights(self) -> tuple[float, float]:
        """Least and usual height in pixels: a heading, and a row of squares for each name."""
        rows = len(self.names)
        return HEAD + rows * 12, HEAD + rows * self.square

    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """Draw names at the left, column numbers above, and the squares, in a size in pixels."""
        names = self.names
        labels = [f"{i + 1} {clean(name)}" for i, name in enumerate(names)]
        left = min(max(measure(label, 12) for label in labels) + GAP, width * 0.4)
        side = min((width - left) / len(names), (height - HEAD) / len(names), 48.0)
        marks: list[Mark] = []
        spots: list[HoverRegion] = []
        for i, label in enumerate(labels):
            middle = HEAD + (i + 0.5) * side
            if side >= 11:
                marks.append(TextLine(0, baseline(middle), cut(label, left - ROW, measure)))
                marks.append(
                    TextLine(left + (i + 0.5) * side, baseline(HEAD / 2), str(i + 1), anchor="middle")
                )
            for j in range(len(names)):
                if (shade := self.shade(i, j)) is not None:
                    area = Area(left + j * side, HEAD + i * side, side, side)
                    spots.append(_spot(i * len(names) + j, area, shade, measure))
        return Drawing(width, height, tuple(marks), tuple(spots))


def _spot(number: int, area: Area, shade: Shade, measure: Measure) -> HoverRegion:
    role = "ok" if shade.away > 0 else "error" if shade.away < 0 else "raised"
    whole = area.inset(0.5)
    square: list[Mark] = []
    if shade.played < 1:
        square += _outline(area.inset(1.5))
        whole = whole._replace(
            y=whole.y + whole.height * (1 - shade.played), height=whole.height * shade.played
        )
    if shade.played:
        square.append(Box(whole, "raised"))
        if shade.away:
            square.append(Box(whole, role, 0.15 + 0.6 * abs(shade.away)))
    if area.width >= measure(shade.number, 11) + _INSET:
        x, y = area.x + area.width / 2, baseline(area.y + area.height / 2, 11)
        square.append(TextLine(x, y, shade.number, "text", 11, "middle"))
    return HoverRegion(number, area, shade.sentence, tuple(square))


def _outline(area: Area) -> Iterator[Mark]:
    """Yield the four lines around a square that is not completely filled."""
    right, below = area.x + area.width, area.y + area.height
    yield Line(area.x, area.y, right, area.y)
    yield Line(right, area.y, right, below)
    yield Line(right, below, area.x, below)
    yield Line(area.x, below, area.x, area.y)
