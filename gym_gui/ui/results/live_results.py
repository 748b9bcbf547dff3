"""View of a run's results that reads the run folder repeatedly while the run is played."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.analysis.findings.summary import Summary
from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.services.runs.recorder import RUNNING
from gym_gui.ui.results.comparison_view import ComparisonView
from gym_gui.ui.results.run_analysis_job import RunAnalysisJob
from gym_gui.ui.theme import Theme


class LiveResults(QWidget):
    """View of the results of one running run; reads the run folder only while the view is visible.

    Args:
        spawn: Runs work in the background.
        current: Color theme.
        parent: Qt owner.
    """

    operator_chosen = pyqtSignal(object)
    """Emits the :class:`~gym_gui.analysis.findings.summary.OperatorSummary` that the user asks to see."""
    failure_chosen = pyqtSignal(object)
    """Emits the :class:`~gym_gui.analysis.findings.summary.Failure` that the user asks to see."""

    def __init__(self, spawn: Spawn, current: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("live-results")
        self.view = ComparisonView(current, self)
        self.view.task.setParent(self)  # A run shown here has one environment.
        self.view.task.hide()
        self.view.set_frameless()
        self.view.ratings.set_charts_first()
        self.view.operator_chosen.connect(self.operator_chosen)
        self.view.failure_chosen.connect(self.failure_chosen)
        self._reading = RunAnalysisJob(spawn, self.isVisible, self)
        self._reading.made.connect(self._on_made)
        self._reading.refused.connect(self._on_refused)
        self._done, self._status = 0, RUNNING
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        self.show_message(
            "No games yet", "Press Run to play the games that fill the matrix and rate the policies."
        )

    @property
    def folder(self) -> Path | None:
        """Folder of the run that is shown, or ``None``."""
        return self._reading.run

    def show_message(self, title: str, text: str) -> None:
        """Show a title and a text instead of a run."""
        self._reading.analyze((), ())
        self.view.show_message(title, text)

    def follow(self, folder: Path) -> None:
        """Show the results of a run folder from now on."""
        if folder != self.folder:
            self.view.show_message(
                "The first games are in progress", "Ratings and the matrix appear after these games."
            )
            self._reading.analyze([folder], [])
            self._done, self._status = 0, RUNNING
        self._reading.read()

    def grown(self, done: int, status: str = RUNNING) -> None:
        """Read the run again after a pause, because more of its episodes are finished.

        Args:
            done: Number of finished episodes.
            status: Status of the run.
        """
        self._done, self._status = done, status
        self._update_entry()
        if status != RUNNING and self.isVisible() and self._reading.runs:
            self._reading.read()  # The final result is read at once.

    def showEvent(self, a0: object) -> None:
        """Read the results that the run recorded while the view was hidden."""
        super().showEvent(a0)  # type: ignore[arg-type]
        self._update_entry()

    def close_reading(self) -> None:
        """Stop reading the run folder."""
        self._reading.close()

    def _update_entry(self) -> None:
        entry = self._reading.entry
        if entry is not None:
            self._reading.listed([replace(entry, done=self._done, status=self._status)])

    def _on_made(self, summary: Summary) -> None:
        self.view.show_analysis(summary)
        self._update_entry()

    def _on_refused(self, sentence: str) -> None:
        self.view.show_message("The run cannot be read", sentence)
