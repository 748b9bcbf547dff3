"""What the Runs half shows once there are runs: table, curves, log, and the policy as it plays now."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.train.curve_board import CurveBoard
from gym_gui.ui.train.log_view import RunLog
from gym_gui.ui.train.policy_now import PolicyNow
from gym_gui.ui.train.run_colours import RunColours
from gym_gui.ui.train.run_data import RunData
from gym_gui.ui.train.runs_model import RunRow
from gym_gui.ui.train.runs_table import RunsTable
from gym_gui.ui.widgets import Card, SegmentedControl
from gym_gui.ui.widgets.rows import RowsModel

LOG = "log"
CHART = "chart"


class RunContent(QWidget):
    """Lays these parts out; what they show is said by :class:`~gym_gui.ui.train.runs_view.RunsView`.

    Args:
        context: Theme, and work in the background.
        model: The runs.
        data: Their series.
        colours: Of the runs.
        parent: Qt owner.
    """

    log_shown = pyqtSignal()
    """The log takes the place of the second chart, or gives it back."""

    def __init__(
        self,
        context: AppContext,
        model: RowsModel[RunRow],
        data: RunData,
        colours: RunColours,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.table = RunsTable(model, colours, self)
        self.board = CurveBoard(context, data, colours, self)
        self.policy = PolicyNow(context, self)
        self.log = RunLog(context.spawn, self)
        table_card = Card(margin=theme.STEP, parent=self)
        table_card.add(self.table)
        bottom = QHBoxLayout()
        bottom.setSpacing(theme.GAP)
        bottom.addWidget(self._lower_card(), 1)
        bottom.addWidget(self.policy, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GAP)
        column.addWidget(table_card)
        column.addWidget(self.board.first, 1)
        column.addLayout(bottom, 1)

    def _lower_card(self) -> QWidget:
        """The second chart, whose place the log may take."""
        card = self.board.second
        self._lower_choice = SegmentedControl([(CHART, "Chart"), (LOG, "Log")], name="train-lower")
        self._lower_choice.chosen.connect(self._on_lower_chosen)
        card.head.insertWidget(0, self._lower_choice)
        card.head.insertStretch(1, 1)
        card.body.removeWidget(card.plot)
        self._lower = QStackedWidget(card)
        self._lower.addWidget(card.plot)
        self._lower.addWidget(self.log)
        card.add(self._lower, 1)
        return card

    def show_log(self) -> None:
        """Show what the selected run has printed."""
        self._lower_choice.set_value(LOG)
        self._on_lower_chosen(LOG)

    async def closed(self) -> None:
        """Follow and play nothing any more."""
        await self.policy.closed()
        await self.log.closed()

    def _on_lower_chosen(self, value: str) -> None:
        card, showing = self.board.second, value == LOG
        self._lower.setCurrentWidget(self.log if showing else card.plot)
        card.choice.setVisible(not showing)
        self.log_shown.emit()
