"""Who a line or bar belongs to, and how it is told from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor

from gym_gui.ui import theme as themes
from gym_gui.ui.theme import Theme


@dataclass(frozen=True, slots=True)
class Series:
    """One operator in a plot.

    Attributes:
        id: Its id.
        name: What people call it.
        kind: Kind of agent (``rl``, ``llm``, …), which gives the colour.
    """

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is drawn: lines that share a kind differ in shade and in dashes."""

    colour: QColor
    dash: Qt.PenStyle


_DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
)


def looks(series: Sequence[Series], theme: Theme) -> dict[str, Look]:
    """A look for each series, by id."""
    seen: dict[str, int] = {}
    result: dict[str, Look] = {}
    for one in series:
        base = themes.kind_colour(one.kind)
        nth = seen.get(base.name(), 0)
        seen[base.name()] = nth + 1
        shade = base.lighter(100 + 18 * nth) if theme.dark else base.darker(100 + 18 * nth)
        result[one.id] = Look(shade, _DASHES[nth % len(_DASHES)])
    return result
