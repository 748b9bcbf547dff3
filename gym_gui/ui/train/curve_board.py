"""Cards with training curves; each card shows one series of the selected runs, smoothed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QSizePolicy, QSlider, QWidget

from gym_gui.services.trainings.training_league import RATING
from gym_gui.services.trainings.training_series import Curve
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.plots.series import Series
from gym_gui.ui.train.chart_words import chart_items, chart_word, is_of_several
from gym_gui.ui.train.curve_plot import CurvePlot
from gym_gui.ui.train.league_plot import LeaguePlot, marks_of
from gym_gui.ui.train.run_colors import RunColors
from gym_gui.ui.train.run_data import LENGTH, RETURN, RunData
from gym_gui.ui.widgets import Card, ElidedLabel, PickerButton, muted_label
from gym_gui.ui.widgets.layouts import row_layout

SMOOTHING: Final = 60
"""Initial value of the smoothing slider, in percent."""
_KEPT: Final = "train/smoothing"


class CurveCard(Card):
    """Card with the plots of one series, and a picker that chooses the series.

    Args:
        context: Provides theme and stored layout.
        colors: Colors of the runs.
        name: ``objectName``, under which the chosen series is stored.
        series: Series that is shown at first.
        parent: Qt owner.
    """

    series_chosen = pyqtSignal()

    def __init__(
        self,
        context: AppContext,
        colors: RunColors,
        name: str,
        series: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent=parent)
        self.setObjectName(name)
        self._context, self._name = context, name
        self._smooth, self._together = True, False
        self.title = ElidedLabel("", "section", name=f"{name}-title")
        self.choice = PickerButton(name=f"{name}-series", search_hint="Search charts")
        self.choice.setAccessibleName("Chart")
        self.choice.setToolTip("Choose the metric to plot: return, length, losses, speed, memory, …")
        self.choice.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.choice.chosen.connect(self._on_chosen)
        self.head = row_layout()
        self.head.addWidget(self.title, 1)
        self.head.addWidget(self.choice)
        self.body.addLayout(self.head)
        self._colors, self._named = colors, False
        self.charts = QWidget()
        self._panes = QGridLayout(self.charts)
        self._panes.setContentsMargins(0, 0, 0, 0)
        self._panes.setSpacing(theme.STEP)
        self._plots: list[CurvePlot] = []
        self._captions: list[ElidedLabel] = []
        self.plot = self._add_pane()
        self.add(self.charts, 1)
        self.set_names([])
        self.choice.set_value(str(context.layout.value(f"train/{name}", series)))
        self._name_chart()

    @property
    def series(self) -> str:
        """Name of the series (metric) that the card draws."""
        return str(self.choice.value)

    @property
    def plots(self) -> Sequence[CurvePlot]:
        """Visible plots, one for each environment of the drawn runs, each with its own axes."""
        return tuple(plot for plot in self._plots if not plot.isHidden())

    def set_named(self, named: bool) -> None:
        """Set whether run names are shown at the right ends of the lines."""
        self._named = named
        for plot in self._plots:
            plot.set_named(named)

    def show_curves(
        self, runs: Sequence[Series], curves: Mapping[str, Curve], environments: Mapping[str, str]
    ) -> None:
        """Draw the curves of runs, with one plot per environment, because returns of environments differ in
        scale.

        Args:
            runs: Runs in the order of their colors.
            curves: Curves by run id.
            environments: Environment of each run, by run id.
        """
        apart: dict[str, list[Series]] = {}
        for run in runs:
            apart.setdefault(environments.get(run.id, ""), []).append(run)
        groups = list(apart.items()) or [("", [])]
        while len(self._plots) < len(groups):
            self._add_pane()
        for place, (plot, caption) in enumerate(zip(self._plots, self._captions, strict=True)):
            shown = place < len(groups)
            plot.setVisible(shown)
            caption.setVisible(shown and len(groups) > 1)
            environment, members = groups[place] if shown else ("", [])
            caption.setText(environment)
            plot.show_curves(members, curves)
        self._arrange(len(groups))

    def _add_pane(self) -> CurvePlot:
        """Add a plot below the others and return it."""
        number = len(self._plots) + 1
        plot = CurvePlot(self._context.theme, self._colors, "")
        plot.setObjectName(f"{self._name}-plot" if number == 1 else f"{self._name}-plot-{number}")
        plot.set_named(self._named)
        caption = ElidedLabel("", "muted", name=f"{self._name}-environment-{number}")
        caption.hide()
        self._plots.append(plot)
        self._captions.append(caption)
        if number > 1:
            plot.hide()
            self._word_plot(plot)
        self._arrange(1)
        return plot

    def _arrange(self, count: int) -> None:
        """Place the plots one below the other, or in two columns if there are three or more."""
        columns = 1 if count < 3 else 2
        for place, (plot, caption) in enumerate(zip(self._plots, self._captions, strict=True)):
            row, column = divmod(place, columns)
            self._panes.addWidget(caption, 2 * row, column)
            self._panes.addWidget(plot, 2 * row + 1, column)
            self._panes.setRowStretch(2 * row + 1, 1 if place < count else 0)
        for column in range(2):
            self._panes.setColumnStretch(column, 1 if column < columns else 0)

    def _word_plot(self, plot: CurvePlot) -> None:
        word = chart_word(self.series)
        plot.set_word(word)
        plot.set_hint(_hint(self.series, word))

    def set_names(self, names: Sequence[str]) -> None:
        """Set the series that the picker offers; the chosen series stays, even if no run has it."""
        chosen = self.choice.value
        known = [*names, str(chosen)] if chosen is not None else list(names)
        items = chart_items(known)
        if tuple(items) != self.choice.items:
            self.choice.set_items(items)
        together = any(map(is_of_several, names))
        if together != self._together:
            self._together = together
            self._name_chart()

    def set_smooth(self, smooth: bool) -> None:
        """Set whether the heading says that the curves are smoothed."""
        if smooth != self._smooth:
            self._smooth = smooth
            self._name_chart()

    def _on_chosen(self, value: object) -> None:
        self._context.layout.setValue(f"train/{self._name}", str(value))
        self._name_chart()
        self.series_chosen.emit()

    def _name_chart(self) -> None:
        word = chart_word(self.series)
        what = f"{word} of training episodes" if self.series in (RETURN, LENGTH) else word
        if self.series == RETURN and self._together:
            what = f"{word} of all agents together"
        smooth = ", smoothed" if self._smooth else ""
        self.title.setText(f"{what} over steps{smooth}".upper())
        self.title.setAccessibleName(f"{what} over steps{smooth}")
        for plot in self._plots:
            self._word_plot(plot)


class CurveBoard(QWidget):
    """Owner of the curve cards, which draws their curves whenever new values arrive.

    The view that creates the board places the cards.

    Args:
        context: Provides theme and background tasks.
        data: Series of the runs.
        colors: Colors of the runs.
        parent: Qt owner.
    """

    def __init__(
        self, context: AppContext, data: RunData, colors: RunColors, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("train-curves")
        self.hide()
        self._context, self._data = context, data
        self._runs: list[Series] = []
        self._environments: dict[str, str] = {}
        self._with_league: Series | None = None
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self.first = CurveCard(context, colors, "train-first-chart", RETURN)
        self.second = CurveCard(context, colors, "train-second-chart", LENGTH)
        self.league = LeaguePlot(context.theme, colors, "The rating appears after the first games.")
        self.league.setObjectName("train-league-plot")
        self.first.set_named(True)
        self.second.title.hide()  # The picker shows the same text.
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setObjectName("train-smoothing")
        self._slider.setAccessibleName("Smoothing")
        self._slider.setRange(0, 99)
        self._slider.setFixedWidth(110)
        self._slider.setToolTip("Weight of earlier values in the moving average; 0 turns smoothing off")
        self._slider.setValue(context.layout.value(_KEPT, SMOOTHING, type=int))
        self._slider.valueChanged.connect(self._on_smoothing_changed)
        self.first.head.insertWidget(1, muted_label("Smoothing"))
        self.first.head.insertWidget(2, self._slider)
        for card in (self.first, self.second):
            card.series_chosen.connect(self.refresh)
            card.set_smooth(self._slider.value() > 0)
        data.grown.connect(self.refresh)

    @property
    def smoothing(self) -> float:
        """Weight of the previous mean in the exponential moving average, from 0 to 0.99."""
        return self._slider.value() / 100

    def set_runs(self, runs: Sequence[Series], environments: Mapping[str, str] | None = None) -> None:
        """Draw the curves of the given runs.

        Args:
            runs: Runs in the order of their colors.
            environments: Environment of each run by its id; runs of one environment share their axes.
        """
        self._environments = dict(environments or {})
        if list(runs) != self._runs:
            self._runs = list(runs)
        self.refresh()

    def set_league_of(self, run: Series | None) -> None:
        """Draw the league of a run while the league plot is visible; ``None`` draws no league."""
        if run != self._with_league:
            self._with_league = run
            self.refresh()

    def refresh(self) -> None:
        """Draw the curves; if a drawing is in progress, draw once more after it."""
        if self._task is not None:
            self._again = True
        elif self.first.isVisible():
            self._task = self._context.spawn(self._draw(), "Drawing curves")
            self._task.add_done_callback(self._on_drawn)

    @property
    def drawing(self) -> bool:
        """Whether a drawing of curves is in progress."""
        return self._task is not None

    async def _draw(self) -> None:
        runs = self._runs
        ids = [run.id for run in runs]
        wanted = {card.series: ids for card in (self.first, self.second)}
        curves = await self._data.curves(wanted, self.smoothing)
        names = self._data.names(ids)
        for card in (self.first, self.second):
            card.set_names(names)
            card.show_curves(runs, curves.get(card.series, {}), self._environments)
        await self._draw_league()

    async def _draw_league(self) -> None:
        run = self._with_league
        league = self._data.league(run.id) if run is not None else None
        if run is None or league is None or not self.league.isVisible():
            return
        # A rating is a mean already, and members are marked on the line without smoothing.
        series = RATING if RATING in self._data.store(run.id).names else RETURN
        smoothing = 0.0 if series == RATING else self.smoothing
        curves = await self._data.curves({series: [run.id]}, smoothing)
        self.league.show_league([run], curves[series], marks_of(league))

    def _on_drawn(self, _task: object) -> None:
        self._task = None
        if self._again:
            self._again = False
            self.refresh()

    def _on_smoothing_changed(self, value: int) -> None:
        self._context.layout.setValue(_KEPT, value)
        for card in (self.first, self.second):
            card.set_smooth(value > 0)
        self.refresh()


def _hint(series: str, word: str) -> str:
    if series in (RETURN, LENGTH):
        return "The line of a run appears after its first finished episode."
    return f"No plotted run has reported “{word}” yet."
