"""Runs view of the Train page: table, curves, log, league and the current policy."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PyQt6.QtCore import QPoint, QTimer, pyqtSignal
from PyQt6.QtGui import QAction, QResizeEvent
from PyQt6.QtWidgets import QMenu, QStackedWidget, QWidget

from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainings.training_titles import titles
from gym_gui.ui import theme
from gym_gui.ui.commands import COMMAND
from gym_gui.ui.context import AppContext
from gym_gui.ui.plots.series import Series
from gym_gui.ui.train.curve_board import CurveBoard
from gym_gui.ui.train.link import LinkState, TrainerLink
from gym_gui.ui.train.log_view import RunLog
from gym_gui.ui.train.policy_live import WatchablePolicy
from gym_gui.ui.train.policy_now import CurrentPolicyCard
from gym_gui.ui.train.run_colors import RunColors
from gym_gui.ui.train.run_content import RunContent
from gym_gui.ui.train.run_data import RunData
from gym_gui.ui.train.run_menu import menu_entries
from gym_gui.ui.train.runs_model import RUN_ROLE, TRAINING_COLUMNS, RunRow, id_of_run
from gym_gui.ui.train.runs_table import RunsTable
from gym_gui.ui.training_words import why_no_film
from gym_gui.ui.widgets import EmptyHint, InlineMessage
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.tables import RowsModel

DRAWN: Final = 6
"""Number of runs whose curves are drawn by default: runs in progress first, then the newest."""
FEWEST_ROWS: Final = 4
_LOG: Final = "log.txt"


class RunsView(QWidget):
    """View of the trainer's runs and their curves, and of log, league and policy of the selected run.

    Args:
        context: Provides theme and background tasks.
        link: Connection to the trainer.
        parent: Qt owner.
    """

    action_requested = pyqtSignal(str, str)
    """Emits the id of a run and the name of an action."""
    selection_changed = pyqtSignal()
    removal_requested = pyqtSignal()

    def __init__(self, context: AppContext, link: TrainerLink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-runs-view")
        self._context, self.link = context, link
        self.colors = RunColors()
        self.data = RunData(context.spawn, link, self)
        self.titles: dict[str, str] = {}
        self._chosen: dict[str, bool] = {}
        self._only: frozenset[str] | None = None
        self.model = RowsModel(TRAINING_COLUMNS, id_of_run, {RUN_ROLE: id_of_run}, self)
        self._content: RunContent | None = None
        self._make_layout()
        self.data.grown.connect(self._show_league)
        link.runs_changed.connect(self.refresh)
        link.state_changed.connect(self._on_link_changed)
        context.theme.changed.connect(self._on_theme_changed)
        self._on_link_changed()

    def _make_layout(self) -> None:
        self._trouble = InlineMessage("error", "", ("Connect", self.link.open), name="train-trouble")
        self._waiting = EmptyHint("Connecting to the trainer…", "", icon_name="train")
        self._empty = EmptyHint(
            "No training runs yet",
            "Press Start in the form at the right. Runs continue after you close the window.",
            icon_name="train",
        )
        self._empty.setObjectName("train-empty")
        self._stack = QStackedWidget(self)
        for view in (self._waiting, self._empty):
            self._stack.addWidget(view)
        layout = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        layout.addWidget(self._trouble)
        layout.addWidget(self._stack, 1)

    # -- parts that are built with the first run -------------------------------------------

    @property
    def content(self) -> RunContent:
        """Table, curves, log, league and video; created when first needed."""
        if self._content is None:
            content = RunContent(self._context, self.model, self.data, self.colors, self._stack)
            self._content = content
            content.log_shown.connect(self._show_log_file)
            content.league_shown.connect(content.board.refresh)
            table = content.table
            table.action_requested.connect(self._on_action_requested)
            table.selection_changed.connect(self._on_selection_changed)
            table.removal_requested.connect(self.removal_requested)
            table.customContextMenuRequested.connect(self._on_menu_requested)
            self._stack.addWidget(content)
        return self._content

    @property
    def table(self) -> RunsTable:
        """Table of the runs."""
        return self.content.table

    @property
    def board(self) -> CurveBoard:
        """Cards with the curves."""
        return self.content.board

    @property
    def policy(self) -> CurrentPolicyCard:
        """Card with the current policy of a run."""
        return self.content.policy

    @property
    def log(self) -> RunLog:
        """Log of the selected run."""
        return self.content.log

    # -- display -------------------------------------------------------------------------

    @property
    def selected(self) -> list[TrainingRecord]:
        """Selected runs, from top to bottom."""
        ids = self._content.table.selected if self._content is not None else []
        return [record for run_id in ids if (record := self.link.run(run_id)) is not None]

    def select_none(self) -> None:
        """Deselect all runs."""
        if self._content is not None:
            self._content.table.clearSelection()

    @property
    def drawn(self) -> list[str]:
        """Ids of the runs whose curves are drawn, in the order of the list."""
        runs = self.link.runs
        if self._only is not None:
            return [run.run_id for run in runs if run.run_id in self._only]
        usual = {run.run_id for run in [run for run in runs if run.state != "queued"][:DRAWN]}
        return [run.run_id for run in runs if self._chosen.get(run.run_id, run.run_id in usual)]

    def refresh(self) -> None:
        """Update table, curves, policy and league from the trainer's list of runs."""
        runs = self.link.runs
        self.titles = titles(runs)
        oldest = sorted(runs, key=lambda run: (run.submitted_at, run.run_id))
        self.colors.set_runs([run.run_id for run in oldest])
        known = {run.run_id for run in runs}
        self._chosen = {run: chosen for run, chosen in self._chosen.items() if run in known}
        if self._only is not None and not self._only <= known:
            self._only = frozenset(self._only & known) or None
        drawn = self.drawn
        content = self.content if runs else self._content
        selected = content.table.selected if content is not None else []
        self.model.set_rows([RunRow(run, self.titles[run.run_id], run.run_id in drawn) for run in runs])
        if content is not None and content.table.selected != selected:
            self._on_selection_changed()  # Qt does not signal that a selected row is gone.
        self._fit_table()
        self._show_right_view()
        self._follow()
        if content is not None:
            series = [Series(run_id, self.titles[run_id], "rl") for run_id in drawn]
            content.board.set_runs(series, {run.run_id: run.env_id for run in runs})
            self._show_policy(content)
            self._show_league()

    def draw_only(self, run_ids: list[str]) -> None:
        """Draw the curves of only these runs until the user changes the choice."""
        self._only = frozenset(run_ids) or None
        self.refresh()

    def draw_all(self) -> None:
        """Draw the default runs again, together with the user's own choices."""
        if self._only is not None:
            self._only = None
            self.refresh()

    def toggle_drawn(self, run_id: str) -> None:
        """Switch the curves of a run on or off."""
        drawn = set(self.drawn)
        if self._only is not None:
            self._chosen.update({run.run_id: run.run_id in drawn for run in self.link.runs})
            self._only = None
        self._chosen[run_id] = run_id not in drawn
        self.refresh()

    def show_log(self) -> None:
        """Show the log of the selected run."""
        if self.model.rowCount():
            self.content.show_log()

    async def closed(self) -> None:
        """Stop following the runs and playing the policy."""
        await self.data.close()
        if self._content is not None:
            await self._content.closed()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Fit the number of visible table rows to the height of the view."""
        super().resizeEvent(a0)
        self._fit_table()

    # -- internal ------------------------------------------------------------------------

    def _fit_table(self) -> None:
        if self._content is not None:
            table, margins = self._content.table, self.contentsMargins()
            taken = table.minimumHeight() or table.minimumSizeHint().height()
            others = self._content.minimumSizeHint().height() - taken  # Charts keep their minimum height.
            room = self.height() - margins.top() - margins.bottom() - others
            most = max(FEWEST_ROWS, min(table.rows_in(int(self.height() * 0.3)), table.rows_in(room)))
            table.setFixedHeight(table.height_for(min(max(self.model.rowCount(), 1), most)))

    def _show_right_view(self) -> None:
        if self.model.rowCount():
            view: QWidget = self.content
        else:
            view = self._empty if self.link.state is LinkState.READY else self._waiting
        if self._stack.currentWidget() is not view:
            self._stack.setCurrentWidget(view)
            if view is self._content:
                QTimer.singleShot(0, self.board.refresh)

    def _show_policy(self, content: RunContent) -> None:
        record = self._with_film()
        if record is None:
            content.policy.show_run("", None)
            content.policy.offer(None)
            return
        file = Path(record.video) if record.video else None
        if file is not None and not file.is_absolute():
            file = record.folder / file
        title = self.titles.get(record.run_id, "")
        content.policy.show_run(title, file, why_no_film(record))
        kept = Path(record.policy) if record.policy else None
        playable = kept is not None and kept.is_dir()  # The policy of a remote run arrives when the run ends.
        offered = WatchablePolicy(kept, record.worker_id, record.env_id, title) if kept and playable else None
        content.policy.offer(offered)

    def _follow(self) -> None:
        """Follow the files of the drawn runs, and of the selected run for its league."""
        self.data.follow(dict.fromkeys([*self.drawn, *(run.run_id for run in self.selected[:1])]))

    def _show_league(self) -> None:
        """Show the league of the selected run; without a selection, of the first drawn run with a league."""
        content = self._content
        if content is None:
            return
        selected = self.selected
        asked = [selected[0].run_id] if selected else self.drawn
        run_id = next((run_id for run_id in asked if self.data.league(run_id) is not None), "")
        record, league = self.link.run(run_id), self.data.league(run_id)
        content.offer_league(record is not None and league is not None)
        if record is None or league is None:
            content.board.set_league_of(None)
            return
        title = self.titles.get(run_id, "")
        content.league.show_league(record, title, league)
        content.board.set_league_of(Series(run_id, title, "rl"))

    def _with_film(self) -> TrainingRecord | None:
        """Return the selected run, else a run in progress with a video, else any run with a video, else
        ``None``.
        """
        selected = self.selected
        if selected:
            return selected[0]
        filmed = [run for run in self.link.runs if run.video]
        return next((run for run in filmed if not run.has_ended), next(iter(filmed), None))

    def _on_action_requested(self, run_id: str, action: str) -> None:
        self.action_requested.emit(run_id, action)

    def _on_selection_changed(self) -> None:
        self._follow()
        self._show_policy(self.content)
        self._show_league()
        self._show_log_file()
        self.selection_changed.emit()

    def _show_log_file(self) -> None:
        selected = self.selected
        self.log.show_file(selected[0].folder / _LOG if selected else None)

    def _on_link_changed(self) -> None:
        broken = self.link.state is LinkState.BROKEN
        self._trouble.set_text(self.link.trouble)
        self._trouble.setVisible(broken)
        text = "MOSAIC starts the trainer if needed. The trainer keeps running after you close the window."
        title = "The trainer does not answer" if broken else "Connecting to the trainer…"
        self._waiting.set_text(title, "Press Connect to try again." if broken else text)
        self._show_right_view()

    def _on_theme_changed(self) -> None:
        if self._content is not None:
            viewport = self._content.table.viewport()
            if viewport is not None:
                viewport.update()
            self._content.board.refresh()

    def _on_menu_requested(self, place: QPoint) -> None:
        """Open a menu with all actions of the selected run, which also serves keyboard users."""
        record = self.selected[0] if self.selected else None
        viewport = self.table.viewport()
        if record is None or viewport is None:
            return
        menu = QMenu(self)
        menu.setObjectName("train-run-menu")
        menu.aboutToHide.connect(menu.deleteLater)
        for action, text in menu_entries(record, drawn=record.run_id in self.drawn):
            entry = QAction(text, menu)
            entry.setProperty(COMMAND, f"train.{'pause' if action == 'resume' else action}")
            entry.setData((record.run_id, action))
            menu.addAction(entry)
        menu.triggered.connect(self._on_menu_triggered)
        menu.popup(viewport.mapToGlobal(place))

    def _on_menu_triggered(self, entry: QAction | None) -> None:
        if entry is not None:
            run_id, action = entry.data()
            self._on_action_requested(run_id, action)
