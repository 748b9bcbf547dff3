"""Plot of a self-play league: the learner's curve over its steps, and marks for the league's members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QResizeEvent

from gym_gui.services.trainings.training_league import TrainingLeague
from gym_gui.services.trainings.training_series import Curve
from gym_gui.ui.plots.series import Series, SeriesStyle
from gym_gui.ui.train.curve_plot import CurvePlot
from gym_gui.ui.training_numbers import steps_in_words, value_in_words

POINT: Final = 8
_LEAST_FOR_NAMES: Final = 300
LINE: Final = 1.2
_NEAR: Final = 0.02
"""Distance within which the mouse finds a league member, as a share of the steps axis."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark of a league member: a point at the step of a snapshot, or a horizontal line for a pool member.

    Attributes:
        name: Name of the member.
        height: Its rating, or the learner's mean return with it.
        step: Training step at which the learner was copied; ``None`` for a member of the initial pool.
    """

    name: str
    height: float
    step: int | None = None


def marks_of(league: TrainingLeague) -> list[Mark]:
    """Return marks of the members at their ratings, or at the learner's mean returns in a league without
    ratings.
    """
    found = [(member, member.rating if league.rated else member.mean_return) for member in league.members]
    return [Mark(member.name, height, member.step) for member, height in found if height is not None]


class LeaguePlot(CurvePlot):
    """Plot of one run's curve with marks for the members of its league; its arguments are those of
    :class:`CurvePlot`.
    """

    _marks: tuple[Mark, ...] = ()
    _drawn: tuple[Any, ...] = ()

    def show_league(self, runs: Sequence[Series], curves: Mapping[str, Curve], marks: Sequence[Mark]) -> None:
        """Draw the curve of a run and the marks of its league's members."""
        self._marks = tuple(marks)
        self.show_curves(runs, curves)

    @property
    def marks(self) -> Sequence[Mark]:
        """Marks of the league's members."""
        return self._marks

    # ------------------------------------------------------------- methods that the base calls

    def describe(self) -> str:
        """Return an accessible text with the learner's last value and each member's value."""
        members = [
            f"{mark.name}: {value_in_words(mark.height)}"
            + ("." if mark.step is None else f", copied at step {steps_in_words(mark.step)}.")
            for mark in self._marks
        ]
        return " ".join([super().describe(), *members])

    def draw(self, pg: Any, plot: Any, look: dict[str, SeriesStyle]) -> None:
        """Draw the curve, then points for snapshots and lines for pool members."""
        super().draw(pg, plot, look)
        for item in self._drawn:
            plot.removeItem(item)
        color = next(iter(look.values())).color
        muted = self._theme.color("muted")
        items: list[Any] = [
            pg.InfiniteLine(mark.height, angle=0, pen=pg.mkPen(muted, width=LINE, style=Qt.PenStyle.DashLine))
            for mark in self._marks
            if mark.step is None
        ]
        left = [mark for mark in self._marks if mark.step is not None]
        points = pg.ScatterPlotItem(
            [mark.step for mark in left],
            [mark.height for mark in left],
            size=POINT,
            pen=pg.mkPen(color, width=2),
            brush=self._theme.color("panel"),
        )
        items.append(points)
        for item in items:
            plot.addItem(item, ignoreBounds=True)
        self._drawn = tuple(items)

    def heights(self) -> tuple[float, float]:
        """Return the lowest and highest value of curve and members."""
        found = (*super().heights(), *(mark.height for mark in self._marks))
        return min(found), max(found)

    def ends(self) -> list[tuple[str, SeriesStyle, float, float]]:
        """Return the labels of pool members at the right end, if the plot is at least 300 pixels wide."""
        if self.width() < _LEAST_FOR_NAMES:
            return []
        look, (_, last) = SeriesStyle(self._theme.color("muted"), Qt.PenStyle.DashLine), self._span()
        return [(mark.name, look, last, mark.height) for mark in self._marks if mark.step is None]

    def text_at(self, step: float) -> str:
        """Return the learner's value at a step, and the snapshots taken near this step."""
        words, (first, last) = super().text_at(step), self._span()
        near = _NEAR * (last - first)
        found = [
            f"{mark.name}  {value_in_words(mark.height)}"
            for mark in self._marks
            if mark.step is not None and abs(mark.step - step) <= near
        ]
        return "\n".join([words, *found]) if words else ""

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Draw the labels again, because the new width may have space for more or fewer of them."""
        super().resizeEvent(a0)
        self.renewed()

    def _span(self) -> tuple[float, float]:
        spans = [curve.span for curve in self.curves.values()]
        return (0.0, max(span[1] for span in spans)) if spans else (0.0, 1.0)
