"""Defines the elements of charts: shapes and texts in pixels, each with the name of its color (its role)."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal, NamedTuple

from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.core.drawing.colors import (
    HUES,
    KIND_COLORS,
    Tokens,
    contrast,
    distinct_roles,
    leading_kind,
    mixed,
)

Measure = Callable[[str, int], float]
"""Function that returns the width of a text for a font size, both in pixels."""

TEXT_PX, LABEL_PX, SMALL_PX = 13, 12, 11
STEP, ROW, GAP = 4, 8, 12
LINE_PX = 18
"""Height of a line of text, in pixels."""


class Area(NamedTuple):
    """Rectangle in pixels, with its upper left corner at ``x``, ``y``."""

    x: float
    y: float
    width: float
    height: float

    def holds(self, x: float, y: float) -> bool:
        """Return whether a point lies in the rectangle."""
        return 0 <= x - self.x < self.width and 0 <= y - self.y < self.height

    def inset(self, by: float) -> Area:
        """Return the rectangle made smaller by ``by`` pixels on every side."""
        return Area(self.x + by, self.y + by, max(self.width - 2 * by, 0.0), max(self.height - 2 * by, 0.0))


@dataclass(frozen=True, slots=True)
class Line:
    """Thin straight line between two points."""

    x1: float
    y1: float
    x2: float
    y2: float
    role: str = "line"


@dataclass(frozen=True, slots=True)
class Box:
    """Filled rectangle with corners rounded by ``radius``."""

    area: Area
    role: str
    opacity: float = 1.0
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class TextLine:
    """Line of text with its baseline at ``y``; its start, middle or end (``anchor``) is at ``x``."""

    x: float
    y: float
    text: str
    role: str = "muted"
    pixels: int = LABEL_PX
    anchor: Literal["start", "middle", "end"] = "start"


@dataclass(frozen=True, slots=True)
class Curve:
    """Polyline through points, each (x, y)."""

    points: tuple[tuple[float, float], ...]
    role: str
    width: float = 1.5
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Patch:
    """Filled polygon with these corners, each (x, y)."""

    points: tuple[tuple[float, float], ...]
    role: str
    opacity: float = 1.0


Mark = Line | Box | TextLine | Curve | Patch


@dataclass(frozen=True, slots=True)
class HoverRegion:
    """Part of a chart (a row, bar or square) with a sentence that appears under the pointer.

    Attributes:
        key: Number of the row, pair or team of the chart.
        area: Area that reacts to the pointer.
        sentence: Text that appears when the pointer is in ``area``.
        marks: Shapes and texts of the part.
    """

    key: int
    area: Area
    sentence: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes and texts of a chart, drawn in one size.

    Attributes:
        width: Width in pixels.
        height: Height in pixels.
        marks: Grid and texts in the background.
        spots: Parts that react to the pointer, in keyboard order.
    """

    width: float
    height: float
    marks: tuple[Mark, ...]
    spots: tuple[HoverRegion, ...]


class Chart(ABC):
    """Chart of results that can be drawn in any size. The object is false if there is nothing to draw.

    Attributes:
        title: Title above the chart.
    """

    title: str

    @property
    def nothing(self) -> str:
        """Sentence that says why the chart is empty, to replace it; empty if there is no reason."""
        return ""

    @property
    def caption(self) -> str:
        """Sentences below the chart; may be empty."""
        return ""

    @abstractmethod
    def __bool__(self) -> bool: ...

    @abstractmethod
    def describe(self) -> str:
        """Return the content of the chart as sentences."""

    @property
    @abstractmethod
    def heights(self) -> tuple[float, float]:
        """Least legible height and usual height, in pixels."""

    @abstractmethod
    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """Return the chart drawn in a size in pixels; ``measure`` gives the width of texts."""


@cache
def role_colors(tokens: Tokens) -> dict[str, str]:
    """Return the color of each role of a theme, such as ``#1f77b4``, by role.

    Roles are the theme's tokens, the kinds of agents, further colors for several agents of one kind, a second
    shade of each kind (``-second``), and text colors on bars (``on-``).
    """
    seconds = {f"{role}-second": mixed(hue, tokens.text, 0.4) for role, hue in HUES.items()}
    inks = {
        f"on-{role}": max(tokens.text, tokens.panel, key=lambda ink: contrast(ink, getattr(tokens, role)))
        for role in ("ok", "error", "raised")
    }
    return {**asdict(tokens), **HUES, **seconds, **inks}


def same_hue(one: str, other: str) -> bool:
    """Return whether two roles have the same color; some kinds of agents share a color."""
    return KIND_COLORS.get(one, one) == KIND_COLORS.get(other, other)


def operator_roles(operators: Sequence[OperatorSummary]) -> dict[str, str]:
    """Return the color role of each operator, by operator key; operators of one kind get different colors.

    Args:
        operators: All operators of a report, in recorded order.
    """
    roles = distinct_roles([leading_kind(operator.kinds) for operator in operators])
    return {operator.key: role for operator, role in zip(operators, roles, strict=True)}


def cut(text: str, room: float, measure: Measure, pixels: int = LABEL_PX) -> str:
    """Return a text, shortened with an ellipsis if it is wider than ``room`` pixels."""
    if measure(text, pixels) <= room:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        short = text[:middle].rstrip() + "…"
        fits, too_long = (middle, too_long) if measure(short, pixels) <= room else (fits, middle)
    return text[:fits].rstrip() + "…"


def baseline(middle: float, pixels: int = LABEL_PX) -> float:
    """Return the y of the baseline of a line of text whose middle is at ``middle``."""
    return middle + 0.36 * pixels


def rough_width(text: str, pixels: int) -> float:
    """Estimate the width of a text in pixels without its font, as a :data:`Measure`; rather too wide."""
    return pixels * sum(map(_share, text))


@cache
def _share(letter: str) -> float:
    """Return the width of a letter relative to the font size."""
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in " .,:;|!'ijlIft()[]":
        return 0.38
    return 0.95 if letter in "mwMW@%…↑↓\N{EM SPACE}" else 0.7 if letter.isupper() else 0.61
