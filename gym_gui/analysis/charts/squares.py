"""A square for each two of a list, with a number in it and shaded by it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Final, NamedTuple

from gym_gui.analysis.charts.marks import (
    GAP,
    ROW,
    Area,
    Box,
    Chart,
    Drawing,
    Mark,
    Measure,
    Spot,
    Words,
    baseline,
    cut,
)
from gym_gui.analysis.text import clean

HEAD: Final = 22
_INSET: Final = 4
"""Between a number and its square's edges."""


class Shade(NamedTuple):
    """What stands in a square.

    Attributes:
        away: From -1, red, to 1, green; how far from the middle.
        number: As short as can be.
        sentence: All of it, where one points at it.
    """

    away: float
    number: str
    sentence: str


class SquareChart(Chart):
    """Rows and columns are the same names, in one order.

    Attributes:
        square: Pixels of a side, where there is room.
    """

    square: ClassVar[int] = 30

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Whom the rows and the columns are of."""

    @abstractmethod
    def shade(self, i: int, j: int) -> Shade | None:
        """What stands in a row and a column; ``None``: nothing."""

    @property
    def heights(self) -> tuple[float, float]:
        """A square for each name."""
        rows = len(self.names)
        return HEAD + rows * 12, HEAD + rows * self.square

    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """Names at the left, numbers of the columns above, the squares."""
        names = self.names
        labels = [f"{i + 1} {clean(name)}" for i, name in enumerate(names)]
        left = min(max(measure(label, 12) for label in labels) + GAP, width * 0.4)
        side = min((width - left) / len(names), (height - HEAD) / len(names), 48.0)
        marks: list[Mark] = []
        spots: list[Spot] = []
        for i, label in enumerate(labels):
            middle = HEAD + (i + 0.5) * side
            if side >= 11:
                marks.append(Words(0, baseline(middle), cut(label, left - ROW, measure)))
                marks.append(Words(left + (i + 0.5) * side, baseline(HEAD / 2), str(i + 1), anchor="middle"))
            for j in range(len(names)):
                if (shade := self.shade(i, j)) is not None:
                    area = Area(left + j * side, HEAD + i * side, side, side)
                    spots.append(_spot(i * len(names) + j, area, shade, measure))
        return Drawing(width, height, tuple(marks), tuple(spots))


def _spot(number: int, area: Area, shade: Shade, measure: Measure) -> Spot:
    role = "ok" if shade.away > 0 else "error" if shade.away < 0 else "raised"
    square: list[Mark] = [Box(area.inset(0.5), "raised")]
    if shade.away:
        square.append(Box(area.inset(0.5), role, 0.15 + 0.6 * abs(shade.away)))
    if area.width >= measure(shade.number, 11) + _INSET:
        x, y = area.x + area.width / 2, baseline(area.y + area.height / 2, 11)
        square.append(Words(x, y, shade.number, "text", 11, "middle"))
    return Spot(number, area, shade.sentence, tuple(square))
