"""What a chart is made of: shapes and words in pixels, each in a color that has a name."""

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
    leading_kind,
    mixed,
    roles_apart,
)

Measure = Callable[[str, int], float]
"""How wide a text is in letters of a size, both in pixels."""

TEXT_PX, LABEL_PX, SMALL_PX = 13, 12, 11
STEP, ROW, GAP = 4, 8, 12
LINE_PX = 18
"""Height of a line of words."""


class Area(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies in it."""
        return 0 <= x - self.x < self.width and 0 <= y - self.y < self.height

    def inset(self, by: float) -> Area:
        """Smaller by this at every side."""
        return Area(self.x + by, self.y + by, max(self.width - 2 * by, 0.0), max(self.height - 2 * by, 0.0))


@dataclass(frozen=True, slots=True)
class Line:
    """A thin line from one point to another."""

    x1: float
    y1: float
    x2: float
    y2: float
    role: str = "line"


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle, its corners rounded by ``radius``."""

    area: Area
    role: str
    opacity: float = 1.0
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text; ``x`` is where ``anchor`` says, ``y`` its baseline."""

    x: float
    y: float
    text: str
    role: str = "muted"
    pixels: int = LABEL_PX
    anchor: Literal["start", "middle", "end"] = "start"


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, (x, y) each."""

    points: tuple[tuple[float, float], ...]
    role: str
    width: float = 1.5
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Patch:
    """A filled polygon with these corners, (x, y) each."""

    points: tuple[tuple[float, float], ...]
    role: str
    opacity: float = 1.0


Mark = Line | Box | Words | Curve | Patch


@dataclass(frozen=True, slots=True)
class Spot:
    """What one thing of the chart is drawn by, and where one points at it.

    Attributes:
        key: Which row, pair or team of the chart it stands for.
        area: Where it is pointed at.
        sentence: What it says.
        marks: What is drawn of it.
    """

    key: int
    area: Area
    sentence: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart in one size.

    Attributes:
        width: Pixels.
        height: Pixels.
        marks: Grid and words, below everything else.
        spots: What can be pointed at, in the order of the keyboard.
    """

    width: float
    height: float
    marks: tuple[Mark, ...]
    spots: tuple[Spot, ...]


class Chart(ABC):
    """Something of a summary that can be drawn in any size. False where there is nothing to draw.

    Attributes:
        title: What stands above it.
    """

    title: str

    @property
    def nothing(self) -> str:
        """Why there is nothing to draw, as a sentence in its place; empty where nothing is known yet."""
        return ""

    @property
    def caption(self) -> str:
        """Sentences that stand with it, empty where it needs none."""
        return ""

    @abstractmethod
    def __bool__(self) -> bool: ...

    @abstractmethod
    def describe(self) -> str:
        """What it shows, as sentences."""

    @property
    @abstractmethod
    def heights(self) -> tuple[float, float]:
        """The least height in which it can be read, and the usual one."""

    @abstractmethod
    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """The chart in a size in pixels."""


@cache
def role_colors(tokens: Tokens) -> dict[str, str]:
    """The color of each role: tokens, kinds of agents and further ones of a kind, a second shade of each,
    what is read on a bar."""
    seconds = {f"{role}-second": mixed(hue, tokens.text, 0.4) for role, hue in HUES.items()}
    inks = {
        f"on-{role}": max(tokens.text, tokens.panel, key=lambda ink: contrast(ink, getattr(tokens, role)))
        for role in ("ok", "error", "raised")
    }
    return {**asdict(tokens), **HUES, **seconds, **inks}


def same_hue(one: str, other: str) -> bool:
    """Whether two roles of kinds cannot be told apart: some kinds share a color."""
    return KIND_COLORS.get(one, one) == KIND_COLORS.get(other, other)


def operator_roles(operators: Sequence[OperatorSummary]) -> dict[str, str]:
    """The role of each operator's color, by its key: those of one kind are told apart, as on their cards.

    Args:
        operators: All that are reported together, as they are recorded.
    """
    roles = roles_apart([leading_kind(operator.kinds) for operator in operators])
    return {operator.key: role for operator, role in zip(operators, roles, strict=True)}


def cut(text: str, room: float, measure: Measure, pixels: int = LABEL_PX) -> str:
    """The text, its end replaced by dots where it is wider than the room."""
    if measure(text, pixels) <= room:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        short = text[:middle].rstrip() + "…"
        fits, too_long = (middle, too_long) if measure(short, pixels) <= room else (fits, middle)
    return text[:fits].rstrip() + "…"


def baseline(middle: float, pixels: int = LABEL_PX) -> float:
    """Where the foot of letters is whose line has its middle here."""
    return middle + 0.36 * pixels


def rough_width(text: str, pixels: int) -> float:
    """A :data:`Measure` for where the letters are not known: that of wide ones, so that words fit."""
    return pixels * sum(map(_share, text))


@cache
def _share(letter: str) -> float:
    """Width of a letter as a share of the size."""
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in " .,:;|!'ijlIft()[]":
        return 0.38
    return 0.95 if letter in "mwMW@%…↑↓\N{EM SPACE}" else 0.7 if letter.isupper() else 0.61
