"""The plots below the operators' cards: returns, rewards and actions, with a color per operator."""

from __future__ import annotations

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtGui import QHideEvent, QShowEvent
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.controllers.live_play.episode_totals import EpisodeTotals
from gym_gui.ui import theme
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.render_container import leading_kind
from gym_gui.ui.plots import ActionPlot, ReturnPlot, RewardPlot, Series
from gym_gui.ui.plots.live_plot import Legend, LivePlot
from gym_gui.ui.plots.series import series_styles
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets import Card, IconButton, section_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout

GATHER_MS = 250
"""Time during which new results are collected into one update, in milliseconds."""


class OperatorPlots(Card):
    """Plots returns, rewards and actions of all operators; does no work while it is hidden.

    Args:
        theme_: Theme with the colors.
        deck: Deck that holds the operators.
        parent: Qt owner.
    """

    close_requested = pyqtSignal()

    def __init__(self, theme_: theme.Theme, deck: OperatorDeck, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("operator-plots")
        self.setAccessibleName("Plots")
        self._theme, self._deck = theme_, deck
        self._followed: list[LiveOperator] = []
        self._listening = False
        self._drawn: dict[str, tuple[EpisodeTotals, int]] = {}
        self.returns, self.rewards, self.shares = (
            ReturnPlot(self._theme),
            RewardPlot(theme_),
            ActionPlot(theme_),
        )
        self._key = Legend(theme_, lines=True, parent=self)
        self._key.setObjectName("plots-key")
        self._close_button = IconButton(
            "close", "Hide the plots (Ctrl+G)", name="plots-close", on_click=self.close_requested.emit
        )
        self._close_button.setFixedSize(22, 22)
        self._timer = single_shot_timer(self, GATHER_MS, self._redraw)
        self._build()
        theme_.changed.connect(self._show_key)

    def _build(self) -> None:
        head = row_layout()
        head.addWidget(self._key, 1)
        head.addWidget(self._close_button)
        self.body.addLayout(head)
        row = row_layout(spacing=theme.PAGE)
        for heading, plot in (
            ("Return per episode", self.returns),
            ("Reward per step", self.rewards),
            ("Actions", self.shares),
        ):
            row.addLayout(self._column(heading, plot), 1)
        self.body.addLayout(row, 1)

    def _column(self, heading: str, plot: LivePlot) -> QVBoxLayout:
        plot.set_compact()
        column = column_layout(spacing=theme.STEP)
        column.addWidget(section_label(heading))
        column.addWidget(plot, 1)
        return column

    def sizeHint(self) -> QSize:
        """Return a size whose height leaves most of the window to the cards."""
        window = self.window()
        return QSize(720, max(220, window.height() // 5 if window is not None else 0))

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size at which the axes are readable."""
        return QSize(480, 180)

    # -- while the plots are visible ---------------------------------------------------

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Connect to the operators and draw what happened while the plots were hidden."""
        super().showEvent(a0)
        if not self._listening:
            self._listening = True
            self._deck.changed.connect(self._on_deck_changed)
            self._on_deck_changed()
            self._redraw()

    def hideEvent(self, a0: QHideEvent | None) -> None:
        """Disconnect from the operators."""
        super().hideEvent(a0)
        if self._listening:
            self._listening = False
            self._deck.changed.disconnect(self._on_deck_changed)
            self._timer.stop()
            self._listen(())

    def _listen(self, operators: tuple[LiveOperator, ...]) -> None:
        for operator in self._followed:
            operator.viewed.disconnect(self._on_results_changed)
            operator.episode_over.disconnect(self._on_results_changed)
        self._followed = list(operators)
        for operator in operators:
            operator.viewed.connect(self._on_results_changed)
            operator.episode_over.connect(self._on_results_changed)

    def _on_results_changed(self, _what: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _on_deck_changed(self) -> None:
        """Update the plots after an operator was added, removed, renamed or restarted."""
        operators = tuple(self._deck.operators)
        if list(operators) != self._followed:
            self._listen(operators)
        series = [_series(operator) for operator in operators]
        if tuple(series) != self.returns.series:
            gone = set(self._drawn) - {one.id for one in series}
            for plot in (self.returns, self.rewards, self.shares):
                for series_id in gone:
                    plot.clear(series_id)
                plot.set_series(series)
            for series_id in gone:
                del self._drawn[series_id]
            self._show_key()
        self._on_results_changed(None)

    def _show_key(self) -> None:
        series = self.returns.series
        look = series_styles(series)
        self._key.show_names([(one.name, look[one.id]) for one in series])

    def _redraw(self) -> None:
        """Redraw the curves of the operators whose results have changed since the last update."""
        words: set[tuple[int, str]] = set()
        changed: list[LiveOperator] = []
        for operator in self._followed:
            tally = operator.player.tally
            words |= tally.actions.keys()
            if self._drawn.get(operator.player.config.operator_id) != (tally, tally.changes):
                changed.append(operator)
        if not changed:
            return
        self.shares.set_actions([word for _, word in sorted(words)])
        for operator in changed:
            operator_id, tally = operator.player.config.operator_id, operator.player.tally
            self._drawn[operator_id] = (tally, tally.changes)
            self.returns.set_values(operator_id, tally.returns)
            self.rewards.set_values(operator_id, tally.rewards)
            self.shares.set_counts(operator_id, tally.action_counts())


def _series(operator: LiveOperator) -> Series:
    config = operator.player.config
    return Series(config.operator_id, config.display_name, leading_kind(config))
