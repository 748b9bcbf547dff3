"""The operator of a line or bar, and the color and dashes that set it apart from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor

from gym_gui.core.drawing.colors import told_apart
from gym_gui.ui import theme as themes


@dataclass(frozen=True, slots=True)
class Series:
    """One operator in a plot.

    Attributes:
        id: Its id.
        name: What people call it.
        kind: Kind of agent (``rl``, ``llm``, …), which gives the color of the first of them.
    """

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is drawn: lines that share a kind differ in color and in dashes."""

    color: QColor
    dash: Qt.PenStyle


DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
)


def looks(series: Sequence[Series]) -> dict[str, Look]:
    """A look for each series, by id; the colors are those of the operators' cards."""
    seen: dict[str, int] = {}
    result: dict[str, Look] = {}
    for one, color in zip(series, told_apart([one.kind for one in series]), strict=True):
        base = themes.kind_color(one.kind).name()
        nth = seen.get(base, 0)
        seen[base] = nth + 1
        result[one.id] = Look(QColor(color), DASHES[nth % len(DASHES)])
    return result
