"""Controller of the submission on the Results page, which resumes, stops and merges it, and opens runs and
logs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QAbstractButton, QStackedWidget

from gym_gui.core.errors import FilePosition
from gym_gui.services.submissions.overview import Overview, ShardRow, run_of
from gym_gui.services.submissions.own_submissions import unconfirmed
from gym_gui.services.submissions.submission_record import FAILED, SENT
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.results.jobs import Job, JobStrip
from gym_gui.ui.results.submissions.confirm_dialog import ask_to_confirm
from gym_gui.ui.results.submissions.submission_jobs import go_on_job, merge_job, stop_job
from gym_gui.ui.results.submissions.submission_reader import SubmissionReader
from gym_gui.ui.results.submissions.submission_view import SubmissionView
from gym_gui.ui.widgets import PrimaryButton, QuietButton
from mosaic_worker.plain_files import read_file

_MOST_BYTES = 16 << 20


class SubmissionController(QObject):
    """Controller of one submission at a time, which creates the submission's view at first use.

    Args:
        context: The window's services.
        jobs: Runs jobs on the submission and shows their progress.
        views: Stack of widgets to which the view is added.
        show_run: Shows the run in a folder.
        parent: Qt owner.
    """

    changed = pyqtSignal()
    """Emitted when the set of available commands may have changed."""

    def __init__(
        self,
        context: AppContext,
        jobs: JobStrip,
        views: QStackedWidget,
        show_run: Callable[[Path], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._context, self._jobs, self._views, self._show_run = context, jobs, views, show_run
        self._view: SubmissionView | None = None
        self.folder: Path | None = None
        self.reader = SubmissionReader(context.spawn, self)
        self.reader.looked.connect(self._on_looked)
        self.reader.refused.connect(self._on_refused)
        jobs.ended.connect(self._on_job_ended)
        self._log = QuietButton("Log", name="submission-log", on_click=self.open_log)
        self._log.setToolTip(
            "Open the log of the selected shard, or the submission's log if the shard has none"
        )
        self._shard = QuietButton("Open shard", name="submission-shard", on_click=self.open_shard)
        self._shard.setToolTip("Show the run of the selected shard, if it is on this machine (Enter)")
        self._merge = QuietButton("Merge available shards", name="submission-merge", on_click=self.merge)
        self._merge.setToolTip("Merge the shards on this machine into a run that is marked as incomplete")
        self._stop = QuietButton("Stop", icon_name="stop", name="submission-stop", on_click=self.stop)
        self._stop.setToolTip("Stop the running shards on all hosts and keep finished episodes (Ctrl+.)")
        self._go_on = PrimaryButton("Resume", icon_name="run", name="submission-go-on", on_click=self.go_on)
        self._open = PrimaryButton("Open the run", name="submission-open", on_click=self.open_run)
        self._open.setToolTip("Show the results of the merged run")

    @property
    def buttons(self) -> Sequence[QAbstractButton]:
        """Buttons of the submission for the page's bar."""
        return self._log, self._shard, self._merge, self._stop, self._go_on, self._open

    @property
    def view(self) -> SubmissionView:
        """View that shows the state of the submission; created at the first access."""
        if self._view is None:
            view = self._view = SubmissionView(self._views)
            self._views.addWidget(view)
            view.log_wanted.connect(self._on_log_wanted)
            view.shard_opened.connect(self._on_shard_opened)
            view.selection_changed.connect(self.changed)
        return self._view

    @property
    def shown(self) -> bool:
        """Whether the view is the current widget of the stack."""
        return self._view is not None and self._views.currentWidget() is self._view

    @property
    def shown_overview(self) -> Overview | None:
        """Overview that the view shows; ``None`` if it shows a message instead."""
        return self._view.seen if self._view is not None else None

    @property
    def title(self) -> str:
        """Names of the policies or of the trained algorithm; ``""`` if no overview is shown."""
        return self.shown_overview.title if self.shown_overview is not None else ""

    def show_submission(self, folder: Path) -> None:
        """Show the submission in ``folder`` and read it repeatedly from now on."""
        if folder != self.folder:
            self.folder = folder
            self.view.show_message("Reading…", "The progress appears in a moment.")
        self.reader.follow(folder)

    def read_again(self) -> None:
        """Read the submission again when the page becomes visible, if the submission is shown."""
        if self.shown and self.folder is not None:
            self.reader.follow(self.folder)

    def rest(self) -> None:
        """Stop reading the submission while the page is hidden."""
        self.reader.rest()

    def show_buttons(self) -> None:
        """Show and enable the buttons of available commands; hide all buttons if no submission is shown."""
        seen = self.shown_overview if self.shown else None
        for button in self.buttons:
            button.setVisible(self.shown)
        if seen is None:
            for button in self.buttons:
                button.setVisible(False)
            return
        sub, row = seen.submission, self.view.current
        over, follower = bool(sub.run), seen.followed
        self._open.setVisible(over)
        self._open.setEnabled(seen.run is not None)
        self._go_on.setVisible(not over and follower is None)
        self._go_on.set_text("Retry failed shards" if sub.numbers(FAILED) else "Resume", "run")
        self._go_on.setToolTip(f"Run mosaic {sub.command} --resume {sub.folder} in its own process")
        self._go_on.setEnabled(not self._jobs.busy)
        self._stop.setVisible(not over and (follower is not None or bool(sub.numbers(SENT))))
        self._stop.setEnabled((follower is None or follower.is_here) and not self._jobs.busy)
        self._merge.setVisible(not over and sub.trainings is None)
        self._merge.setEnabled(any(each.tries for each in seen.shards) and not self._jobs.busy)
        self._shard.setVisible(not over or sub.trainings is not None)
        self._shard.setEnabled(row is not None and bool(row.tries))
        self._log.setEnabled(seen.log is not None or (row is not None and row.log is not None))

    def commands(self) -> list[Command]:
        """Return the submission's commands for the command palette."""
        asked = (
            ("go_on", "Resume the submission", self.go_on, "", self._go_on),
            ("stop", "Stop the submission", self.stop, "Ctrl+.", self._stop),
            ("merge", "Merge available shards of the submission", self.merge, "", self._merge),
            ("shard", "Open the selected shard", self.open_shard, "", self._shard),
            ("log", "Open the log of the shard or the submission", self.open_log, "", self._log),
        )
        return [
            Command(f"results.submission_{name}", title, run, keys, "Run", enabled=_Can(self, button))
            for name, title, run, keys, button in asked
        ]

    # -- commands -----------------------------------------------------------------------

    def go_on(self) -> None:
        """Resume the submission in a new process, which also plays its failed shards again."""
        if self.shown_overview is not None and self.folder is not None:
            job = go_on_job(self.folder, self.shown_overview.submission.command)
            self._context.spawn(self._run_confirmed("Resuming…", job, self.folder), "Resuming")

    def stop(self) -> None:
        """Stop the shards of the submission that are being played."""
        if self.folder is not None:
            job = stop_job(self.folder)
            words = "Stopping the running shards…"
            self._context.spawn(self._run_confirmed(words, job, self.folder), "Stopping")

    def merge(self) -> None:
        """Merge the shards whose files are on this machine into a run."""
        if self.shown_overview is not None and self.folder is not None:
            out = self.folder.parent.parent  # the record's folder may be on another machine
            self._jobs.run("Merging the available shards…", merge_job(self.folder, out, self._show_run))
            self.changed.emit()

    def open_run(self) -> None:
        """Show the merged run of the submission."""
        if self.shown_overview is not None and self.shown_overview.run is not None:
            self._show_run(self.shown_overview.run)

    def open_shard(self) -> None:
        """Show the run of the selected shard, or its training on the Train page."""
        if (row := self.view.current) is not None:
            self._on_shard_opened(row)

    def open_log(self) -> None:
        """Open the log of the selected shard, or the submission's log if the shard has none."""
        row = self.view.current
        if row is not None and row.log is not None:
            self._on_log_wanted(row)
        elif self.shown_overview is not None and self.shown_overview.log is not None:
            self._context.spawn(self._edit(self.shown_overview.log, ""), "Opening the log")

    async def _run_confirmed(self, words: str, job: Job, folder: Path) -> None:
        """Run a job that executes the submission's commands; if they are unconfirmed, ask the user first."""
        seen = await asyncio.to_thread(unconfirmed, folder)
        if seen is None:
            self._run(words, job)
        elif folder == self.folder:
            ask_to_confirm(seen, partial(self._run, words, job), self._views.window())

    def _run(self, words: str, job: Job) -> None:
        self._jobs.run(words, job)
        self.changed.emit()

    def _on_log_wanted(self, row: ShardRow) -> None:
        if row.log is not None:
            self._context.spawn(self._edit(row.log, row.problem), "Opening the log")

    async def _edit(self, log: Path, problem: str) -> None:
        """Open a log in the editor at its last line and show ``problem`` there."""
        from gym_gui.ui.editor.checks import at_place

        lines = (await asyncio.to_thread(read_file, log, limit=_MOST_BYTES)).count(b"\n")
        self._context.edit(at_place(FilePosition(str(log), max(lines, 1)), problem))

    def _on_shard_opened(self, row: ShardRow) -> None:
        if self.shown_overview is not None:
            self._context.spawn(self._open_run_of(self.shown_overview, row), "Opening a shard")

    async def _open_run_of(self, seen: Overview, row: ShardRow) -> None:
        run = await asyncio.to_thread(run_of, seen.submission, row.number)
        if run is None:
            words = f"{row.called[0].upper()}{row.called[1:]} is not on this machine yet"
            self._context.notify(f"{words}: its run is copied here when the shard ends", "info")
        elif seen.submission.trainings is not None:
            self._context.go("train", run=seen.submission.trainings.part(row.number).run_id)
        else:
            self._show_run(run)

    # -- state of the submission --------------------------------------------------------

    def _on_job_ended(self) -> None:
        if self.shown:
            self.reader.read_now()
            self.changed.emit()

    def _on_looked(self, seen: object) -> None:
        assert isinstance(seen, Overview)
        self.view.show_overview(seen)
        self.changed.emit()

    def _on_refused(self, why: str) -> None:
        self.view.show_message("The submission cannot be read", why)
        self.changed.emit()


class _Can:
    """Callable that returns whether a button is visible and enabled."""

    def __init__(self, controller: SubmissionController, button: QAbstractButton) -> None:
        self._controller, self._button = controller, button

    def __call__(self) -> bool:
        return self._controller.shown and not self._button.isHidden() and self._button.isEnabled()
