"""How the learner of a league has done over its steps, and where the members stand beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QResizeEvent

from gym_gui.services.trainings.training_league import TrainingLeague
from gym_gui.services.trainings.training_series import Curve
from gym_gui.ui.plots.series import Look, Series
from gym_gui.ui.train.curve_plot import CurvePlot
from gym_gui.ui.training_numbers import steps_in_words, value_in_words

POINT: Final = 8
_LEAST_FOR_NAMES: Final = 300
LINE: Final = 1.2
_NEAR: Final = 0.02
"""Share of the plot's steps within which a member is pointed at."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A member: a point where the learner left it, a line from side to side where it was there before.

    Attributes:
        name: What it is called.
        height: Its rating, or the mean return with it.
        step: Where it was left; ``None`` of the pool.
    """

    name: str
    height: float
    step: int | None = None


def marks_of(league: TrainingLeague) -> list[Mark]:
    """Its members at their ratings; in a league without ratings, at the learner's mean return with them."""
    found = [(member, member.rating if league.rated else member.mean_return) for member in league.members]
    return [Mark(member.name, height, member.step) for member, height in found if height is not None]


class LeaguePlot(CurvePlot):
    """The line of one run, with marks. Made as :class:`CurvePlot` is."""

    _marks: tuple[Mark, ...] = ()
    _drawn: tuple[Any, ...] = ()

    def show_league(self, runs: Sequence[Series], curves: Mapping[str, Curve], marks: Sequence[Mark]) -> None:
        """Draw the line of a run, and these beside it."""
        self._marks = tuple(marks)
        self.show_curves(runs, curves)

    @property
    def marks(self) -> Sequence[Mark]:
        """Who stands beside the line."""
        return self._marks

    # ----------------------------------------------------------------------------- for the base

    def describe(self) -> str:
        """The learner's last value, then each member's."""
        members = [
            f"{mark.name}: {value_in_words(mark.height)}"
            + ("." if mark.step is None else f", left at step {steps_in_words(mark.step)}.")
            for mark in self._marks
        ]
        return " ".join([super().describe(), *members])

    def draw(self, pg: Any, plot: Any, look: dict[str, Look]) -> None:
        """The line, then points and lines of the members."""
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
        """Members too are within the plot."""
        found = (*super().heights(), *(mark.height for mark in self._marks))
        return min(found), max(found)

    def ends(self) -> list[tuple[str, Look, float, float]]:
        """Members of the pool are named at the right, where that leaves room for the line."""
        if self.width() < _LEAST_FOR_NAMES:
            return []
        look, (_, last) = Look(self._theme.color("muted"), Qt.PenStyle.DashLine), self._span()
        return [(mark.name, look, last, mark.height) for mark in self._marks if mark.step is None]

    def text_at(self, step: float) -> str:
        """The learner, and the members that it left about there."""
        words, (first, last) = super().text_at(step), self._span()
        near = _NEAR * (last - first)
        found = [
            f"{mark.name}  {value_in_words(mark.height)}"
            for mark in self._marks
            if mark.step is not None and abs(mark.step - step) <= near
        ]
        return "\n".join([words, *found]) if words else ""

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """There may be room for names now, or none any more."""
        super().resizeEvent(a0)
        self.renewed()

    def _span(self) -> tuple[float, float]:
        spans = [curve.span for curve in self.curves.values()]
        return (0.0, max(span[1] for span in spans)) if spans else (0.0, 1.0)
