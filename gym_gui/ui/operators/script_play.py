"""Runs the open experiment file in the window or submits it to an executor; watches, stops and resumes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PyQt6.QtCore import QObject

from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.controllers.setup.play_setup import asks_models
from gym_gui.core.errors import MosaicError
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.line_links import link_of
from gym_gui.ui.numbers import count
from gym_gui.ui.operators.comparison_file import add_run_to_group
from gym_gui.ui.operators.script_card import ScriptCard
from gym_gui.ui.operators.script_executor import ExecutorChoice, submit
from gym_gui.ui.operators.script_file import BEGUN, ScriptFile
from gym_gui.ui.operators.script_job import ScriptJob, ScriptPlan
from gym_gui.ui.operators.script_standings import ScriptStandings
from gym_gui.ui.operators.script_watch import ScriptWatch
from gym_gui.ui.operators.script_words import words_of
from gym_gui.ui.operators.script_work import ScriptWork
from gym_gui.ui.widgets import InlineMessage
from gym_gui.ui.widgets.message_panels import Action


class ScriptPlay(QObject):
    """Runs the open experiment file and shows how the run ended.

    Args:
        context: The window's services.
        file: The open file.
        card: Card that shows the progress.
        work: Runs the job in the background.
        where: Button that holds the chosen executor.
        parent: Qt owner.

    Attributes:
        job: The last run of the file in this window; ``None`` before the first.
        standings: Shows the standings of a tournament.
        watch: Shows the play of one operator.
        stopping: Whether the user has requested an early end of the run.
        submitting: Whether the file is being submitted to an executor.
    """

    def __init__(
        self,
        context: AppContext,
        file: ScriptFile,
        card: ScriptCard,
        work: ScriptWork,
        where: ExecutorChoice,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._context, self._file, self._card, self._work, self._where = context, file, card, work, where
        self.job: ScriptJob | None = None
        self.stopping = self.submitting = False
        self.standings = ScriptStandings(context, card, self)
        self.standings.operator_chosen.connect(self._on_pairing_chosen)
        self.standings.failure_chosen.connect(self.show_results)
        self.watch = ScriptWatch(context, card, self)
        file.taken.connect(self._on_file_opened)
        file.ready.connect(self.begin)

    # -- state -------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether this window is running the file."""
        return self.job is not None and self.job.running

    @property
    def asks_models(self) -> bool:
        """Whether a run is in progress that sends requests to language models."""
        plan = self._file.plan
        return self.running and plan is not None and any(asks_models(o.config) for o in plan.operators)

    @property
    def resumable(self) -> bool:
        """Whether **Run** resumes a stopped or interrupted run."""
        if self.job is not None:
            return self.job.result is not None and self.job.result.status == "stopped"
        return self._file.plan is not None and self._file.plan.run is not None

    @property
    def finished(self) -> bool:
        """Whether the last run of the file was played to its end."""
        result = self.job.result if self.job is not None else None
        return result is not None and result.status != "stopped"

    @property
    def folder(self) -> Path | None:
        """Folder of the current or last run, or of the run that is to be resumed; ``None`` without a run."""
        if self.job is not None and self.job.folder is not None:
            return self.job.folder
        return self._file.plan.run if self._file.plan is not None else None

    @property
    def _playable(self) -> ScriptPlan | None:
        plan = self._file.plan
        return plan if plan is not None and plan.playable else None

    # -- commands ----------------------------------------------------------------------

    def toggle(self) -> None:
        """Run, stop or resume the file; cancel a submission that is in progress."""
        if self.submitting:
            self._work.cancel()
        elif self.running:
            self.stop()
        elif self._where.executor and not self._work.busy and not self.resumable:
            self._submit()
        elif not self._work.busy:
            self.begin()

    def stop(self) -> None:
        """End the run early and keep the recorded episodes."""
        if self.job is not None:
            self.stopping = True
            self.job.stop()
            self._work.changed.emit()

    def begin(self) -> None:
        """Run the file in this window, from the beginning or from where the run was stopped."""
        if (plan := self._playable) is None:
            return
        if self.job is None or self.finished:
            compress = self._context.settings.values.compress_runs
            self.job = ScriptJob(plan, self._context.store, compress=compress, parent=self)
            self.job.progressed.connect(self._card.show_standings)
            self.job.began.connect(self._on_began)
            self.standings.follow_run(plan, self.job)
        self.watch.follow(self.job)
        self.stopping = False
        self._work.show_message(None)
        self.job.begin()
        self._work.start(self._run(self.job), "Running the experiment")

    def show_results(self) -> None:
        """Show the run on the Results page."""
        if (run := self.folder) is not None:
            self._context.go("results", run=run)

    async def shut_down(self) -> None:
        """Stop the run, keep the recorded episodes and wait until its tasks have ended."""
        self.standings.close()
        if self.job is not None:
            self.job.stop()
        await self._work.ended(cancel=not self.running)

    # -- submission, and the end of a run ----------------------------------------------

    def _submit(self) -> None:
        if self._file.path is not None and (plan := self._playable) is not None:
            self._work.show_message(None)
            self.submitting = True
            tournament = plan.tournament_run is not None
            self._work.start(
                self._submit_file(self._file.path, tournament=tournament), "Sending the experiment"
            )

    async def _submit_file(self, path: Path, *, tournament: bool) -> None:
        """Submit the file to the executor, then show the progress of its shards on the Results page."""
        self._card.show_sentence("Checking the file and sending its shards…")
        try:
            out = self._context.store.runs_dir()
            folder = await submit(path, self._where, out, tournament=tournament)
        except MosaicError as error:
            self._say_error(error, ("Try again", self._submit))
            return
        finally:
            self.submitting = False
            if self._file.plan is not None:
                self._card.show_sentence(words_of(self._file.plan))
        shown = ("Show its progress", partial(self._context.go, "results", run=folder))
        self._work.show_message(
            InlineMessage(
                "ok", "The file was submitted. Its shards are played even if this window closes.", shown
            )
        )
        self._context.go("results", run=folder)

    async def _run(self, job: ScriptJob) -> None:
        self._card.show_sentence("Starting sessions…")
        self.standings.show()
        try:
            result = await job.run()
        except MosaicError as error:
            self._say_error(error, ("Run again", self.begin))
            return
        self.standings.ended(result)
        if self.finished:
            self._context.layout.remove(BEGUN)
        await self._keep_run(result.folder)
        what = "episode" if job.tournament_run is None else "game"
        done, failed = count(result.episodes, what), count(result.failed, what)
        if result.problem:
            message = InlineMessage("error", result.problem)
            message.lead_to(link_of(self._context, result.problem, folders=self._file.folders))
        elif result.status == "stopped":
            message = InlineMessage("info", f"Stopped after {done}. Resume plays the rest.")
        elif result.failed:
            message = InlineMessage("warning", f"Done, but {failed} failed.", ("Show why", self.show_results))
        else:
            message = InlineMessage("ok", f"Done: {done}.", ("Open results", self.show_results))
        self._work.show_message(message)

    def _say_error(self, error: MosaicError, again: Action) -> None:
        message = InlineMessage("error", error.sentence, again)
        message.lead_to(link_of(self._context, str(error), folders=self._file.folders, place=error.place))
        self._work.show_message(message)

    async def _keep_run(self, folder: Path | None) -> None:
        if folder is None or self._file.path is None:
            return
        try:
            await add_run_to_group(folder, self._file.path)
        except MosaicError as error:
            self._context.notify(error.sentence, "warning")

    def _on_began(self) -> None:
        if self.job is not None and self.job.folder is not None:
            self._context.layout.setValue(BEGUN, str(self.job.folder))
        self._work.changed.emit()

    def _on_file_opened(self) -> None:
        self.job = None
        self.watch.follow(None)
        self.watch.watch("")
        self.standings.drop()

    def _on_pairing_chosen(self, pairing: OperatorSummary) -> None:
        """Show the play of a pairing while the tournament runs, otherwise open the results."""
        if self.running:
            self.watch.watch(pairing.operator_id)
        else:
            self.show_results()
