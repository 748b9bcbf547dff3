"""The standings of a tournament while script mode plays it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.ui.operators.script_card import ScriptCard
from gym_gui.ui.operators.script_job import OperatorRunProgress, ScriptJob, ScriptPlan

if TYPE_CHECKING:
    from gym_gui.controllers.runs.script_execution import RunResult
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.results.live_results import LiveResults


class ScriptStandings(QObject):
    """Shows rounds and standings of the current tournament on its card; ignores an experiment.

    Args:
        context: Runs background tasks and provides the colors.
        card: Card that shows the standings.
        parent: Qt owner.

    Attributes:
        view: Widget with the standings; ``None`` before a tournament begins.
    """

    operator_chosen = pyqtSignal(object)
    """Emits the pairing (:class:`~gym_gui.analysis.findings.summary.OperatorSummary`) that the user clicked.
    """
    failure_chosen = pyqtSignal()
    """Emitted when the user clicks on a failed game."""

    def __init__(self, context: AppContext, card: ScriptCard, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context, self._card = context, card
        self._plan: ScriptPlan | None = None
        self._job: ScriptJob | None = None
        self.view: LiveResults | None = None

    def follow_run(self, plan: ScriptPlan, job: ScriptJob) -> None:
        """Follow a tournament's run from now on.

        Args:
          plan: The tournament's plan.
          job: The run.
        """
        self._plan, self._job = plan, job
        job.began.connect(self._on_began)
        job.paired.connect(self._on_paired)
        job.progressed.connect(self._on_progressed)
        self._on_paired()

    def show(self) -> None:
        """Show the standings; their widget is created on first use."""
        if self._job is None or self._job.tournament_run is None:
            return
        from gym_gui.ui.results.live_results import LiveResults  # Only tournaments need it.

        if self.view is None:
            self.view = LiveResults(self._context.spawn, self._context.theme)
            self.view.operator_chosen.connect(self.operator_chosen)
            self.view.failure_chosen.connect(self._on_failure_chosen)
            self._card.set_standings(self.view)
        if self._job.folder is None:
            self.view.show_message(
                "The first games have begun", "Ratings and the matrix appear as games end."
            )
        self._card.show_view("standings")

    def ended(self, result: RunResult) -> None:
        """Show the final standings and how the run ended."""
        if self.view is not None:
            self.view.grown(result.episodes, result.status)

    def drop(self) -> None:
        """Remove the standings, because another file was opened."""
        self._plan = self._job = None
        if self.view is not None:
            self.close()
            self._card.set_standings(None)

    def close(self) -> None:
        """Stop reading the run folder."""
        view, self.view = self.view, None
        if view is not None:
            view.close_reading()

    def _on_began(self) -> None:
        if self.view is not None and self._job is not None and self._job.folder is not None:
            self.view.follow(self._job.folder)

    def _on_progressed(self, standings: Mapping[str, OperatorRunProgress]) -> None:
        if self.view is not None:
            self.view.grown(sum(each.done for each in standings.values()))

    def _on_paired(self) -> None:
        """Show the pairings of the first or next round."""
        tournament_run = None if self._job is None else self._job.tournament_run
        if self._plan is None or tournament_run is None:
            return
        rounds = tournament_run.rounds
        self._card.stage = f"Round {len(rounds)} of {tournament_run.tournament.rounds}" if rounds else ""
        self._card.show_pairings(self._plan, tournament_run)

    def _on_failure_chosen(self, _failure: object) -> None:
        self.failure_chosen.emit()
