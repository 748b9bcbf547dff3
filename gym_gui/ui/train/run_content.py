"""Layout of the Train page's Runs view: table, curves, log, league and the current policy."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QStackedWidget, QWidget

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.train.curve_board import CurveBoard
from gym_gui.ui.train.league_view import LeagueView
from gym_gui.ui.train.log_view import RunLog
from gym_gui.ui.train.policy_now import CurrentPolicyCard
from gym_gui.ui.train.run_colors import RunColors
from gym_gui.ui.train.run_data import RunData
from gym_gui.ui.train.runs_model import RunRow
from gym_gui.ui.train.runs_table import RunsTable
from gym_gui.ui.widgets import Card, SegmentedControl
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.tables import RowsModel

LOG = "log"
CHART = "chart"
LEAGUE = "league"


class RunContent(QWidget):
    """Container of the table, charts, log, league and policy of the Runs view.

    :class:`~gym_gui.ui.train.runs_view.RunsView` sets their contents.

    Args:
        context: Provides theme and background tasks.
        model: Model of the runs.
        data: Series of the runs.
        colors: Colors of the runs.
        parent: Qt owner.
    """

    log_shown = pyqtSignal()
    """Emitted when the user switches the lower card between chart, league and log."""
    league_shown = pyqtSignal()
    """Emitted when the user switches the lower card to the league, which also hides the video."""

    def __init__(
        self,
        context: AppContext,
        model: RowsModel[RunRow],
        data: RunData,
        colors: RunColors,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.table = RunsTable(model, colors, self)
        self.board = CurveBoard(context, data, colors, self)
        self.policy = CurrentPolicyCard(context, self)
        self.log = RunLog(context.spawn, self)
        self.league = LeagueView(context, self.board.league, self)
        self._league_wanted = False
        table_card = Card(margin=theme.STEP, parent=self)
        table_card.add(self.table)
        bottom = row_layout(spacing=theme.GAP)
        bottom.addWidget(self._lower_card(), 1)
        bottom.addWidget(self.policy, 1)
        column = column_layout(self, spacing=theme.GAP)
        column.addWidget(table_card)
        column.addWidget(self.board.first, 1)
        column.addLayout(bottom, 1)

    def _lower_card(self) -> QWidget:
        """Build the card that shows the second chart, the log or the league."""
        card = self.board.second
        self._lower_choice = SegmentedControl(
            [(CHART, "Chart"), (LEAGUE, "League"), (LOG, "Log")], name="train-lower"
        )
        self._lower_choice.chosen.connect(self._on_lower_chosen)
        card.head.insertWidget(0, self._lower_choice)
        self._lower_choice.set_offered(LEAGUE, False)
        card.head.insertStretch(1, 1)
        card.head.insertWidget(1, self.league.note, 2)
        card.head.addWidget(self.league.use)
        card.body.removeWidget(card.charts)
        self._lower = QStackedWidget(card)
        self._lower.addWidget(card.charts)
        self._lower.addWidget(self.log)
        self._lower.addWidget(self.league)
        card.add(self._lower, 1)
        self._show_lower(CHART)
        return card

    def show_log(self) -> None:
        """Show the log of the selected run."""
        self._lower_choice.set_value(LOG)
        self._on_lower_chosen(LOG)

    def show_league(self) -> None:
        """Show the league in the lower card."""
        self._lower_choice.set_value(LEAGUE)
        self._on_lower_chosen(LEAGUE)

    def offer_league(self, offered: bool) -> None:
        """Show or hide the League button; show the league again if the user had chosen it before."""
        self._lower_choice.set_offered(LEAGUE, offered)
        if offered and self._league_wanted:
            self._lower_choice.set_value(LEAGUE)
        self._show_lower(self._lower_choice.value)

    async def closed(self) -> None:
        """Stop following the log and playing the policy."""
        await self.policy.closed()
        await self.log.closed()

    def _on_lower_chosen(self, value: str) -> None:
        self._league_wanted = value == LEAGUE
        self._show_lower(value)
        self.log_shown.emit()
        if value == LEAGUE:
            self.league_shown.emit()

    def _show_lower(self, value: str) -> None:
        card, league = self.board.second, value == LEAGUE
        shown: dict[str, QWidget] = {LOG: self.log, LEAGUE: self.league}
        self._lower.setCurrentWidget(shown.get(value, card.charts))
        card.choice.setVisible(value == CHART)
        for part in (self.league.note, self.league.use):
            part.setVisible(league)
        self.policy.setVisible(not league)
