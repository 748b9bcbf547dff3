"""A colour for each run, the same in the table and in every plot."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor

from gym_gui.ui import theme as themes
from gym_gui.ui.plots.series import Look
from gym_gui.ui.theme import Theme

_HUES: Final = ("rl", "vlm", "bdi", "human", "llm", "baseline")
"""Colours that are told apart in both themes; those of the kinds of agents, which mean nothing here."""
_DASHES: Final = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)
_SHADE: Final = 18


class RunColours:
    """Hands out places in the palette; a run keeps its own as long as it is known.

    Args:
        theme: Dark grounds want lighter shades.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._places: dict[str, int] = {}

    def keep(self, run_ids: list[str]) -> None:
        """These runs are known, oldest first; the places of others are free again."""
        wanted = set(run_ids)
        self._places = {run: place for run, place in self._places.items() if run in wanted}
        for run in run_ids:
            if run not in self._places:
                taken = set(self._places.values())
                self._places[run] = next(n for n in range(len(taken) + 1) if n not in taken)

    def look(self, run_id: str) -> Look:
        """How a run's line is drawn: hue first, then shade and dashes."""
        place = self._places.get(run_id, 0)
        nth = place // len(_HUES)
        base = themes.kind_colour(_HUES[place % len(_HUES)])
        factor = 100 + _SHADE * (nth % len(_DASHES))
        shade = base.lighter(factor) if self._theme.dark else base.darker(factor)
        return Look(shade, _DASHES[nth % len(_DASHES)])

    def colour(self, run_id: str) -> QColor:
        """Of its dot."""
        return self.look(run_id).colour
