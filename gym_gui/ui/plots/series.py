"""Series of a live plot and their colors and dash patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor

from gym_gui.core.drawing.colors import kind_colors
from gym_gui.ui import theme as themes


@dataclass(frozen=True, slots=True)
class Series:
    """One operator or training run in a plot.

    Attributes:
        id: Id of the operator or run.
        name: Display name.
        kind: Kind of agent (``rl``, ``llm``, …), which determines the color of the first series of that kind.
    """

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """Color and dash pattern of a series; series of one kind differ in both."""

    color: QColor
    dash: Qt.PenStyle


DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
)


def series_styles(series: Sequence[Series]) -> dict[str, SeriesStyle]:
    """Return color and dash pattern of each series, by its id; the colors are those of the operators'
    cards.
    """
    seen: dict[str, int] = {}
    result: dict[str, SeriesStyle] = {}
    for one, color in zip(series, kind_colors([one.kind for one in series]), strict=True):
        base = themes.kind_color(one.kind).name()
        nth = seen.get(base, 0)
        seen[base] = nth + 1
        result[one.id] = SeriesStyle(QColor(color), DASHES[nth % len(DASHES)])
    return result
