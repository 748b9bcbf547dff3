"""Colors of training runs, the same in the table and in every plot."""

from __future__ import annotations

from PyQt6.QtGui import QColor

from gym_gui.core.drawing.colors import HUES, SERIES
from gym_gui.ui.plots.series import DASHES, SeriesStyle


class RunColors:
    """Assignment of palette colors to runs; a run keeps its color as long as the run is known."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def set_runs(self, run_ids: list[str]) -> None:
        """Set the known runs, oldest first, and free the colors of all other runs."""
        wanted = set(run_ids)
        self._places = {run: place for run, place in self._places.items() if run in wanted}
        for run in run_ids:
            if run not in self._places:
                taken = set(self._places.values())
                self._places[run] = next(n for n in range(len(taken) + 1) if n not in taken)

    def style_of(self, run_id: str) -> SeriesStyle:
        """Return the line style of a run: a hue, and a dash pattern once all hues are taken."""
        nth, place = divmod(self._places.get(run_id, 0), len(SERIES))
        return SeriesStyle(QColor(HUES[SERIES[place]]), DASHES[nth % len(DASHES)])

    def color(self, run_id: str) -> QColor:
        """Return the color of a run's dot in tables and legends."""
        return self.style_of(run_id).color
