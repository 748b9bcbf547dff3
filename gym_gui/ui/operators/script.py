"""Script mode: an experiment from a file, looked at first, then run while its progress is watched."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFileDialog, QWidget

from gym_gui.controllers.engine.session_events import FrameDrawn
from gym_gui.controllers.setup.installing import missing_in
from gym_gui.controllers.setup.play_setup import asks_models
from gym_gui.core.errors import MosaicError, Place
from gym_gui.core.live import LiveView
from gym_gui.core.trusted.trust import NotAllowedError
from gym_gui.services.runs.run_library import RunEntry, RunLibrary
from gym_gui.services.source_places import folders_of, place_in
from gym_gui.ui import theme
from gym_gui.ui.editor.checks import at_place, problem_of
from gym_gui.ui.editor.file_request import Problem
from gym_gui.ui.editor.line_links import link_of
from gym_gui.ui.environments.install_dialog import install_action
from gym_gui.ui.live.watch_pane import WatchPane
from gym_gui.ui.numbers import count
from gym_gui.ui.operators.comparison_file import keep_run
from gym_gui.ui.operators.recent_files import RecentFiles
from gym_gui.ui.operators.script_card import ScriptCard
from gym_gui.ui.operators.script_executor import ExecutorChoice, submit
from gym_gui.ui.operators.script_job import (
    OperatorPlan,
    ScriptJob,
    ScriptPlan,
    is_program,
    what_it_reaches,
)
from gym_gui.ui.operators.script_rows import OperatorRow
from gym_gui.ui.operators.script_source import plan_file, plan_run
from gym_gui.ui.operators.script_standings import ScriptStandings
from gym_gui.ui.operators.script_start import ScriptStart
from gym_gui.ui.operators.script_words import words_of
from gym_gui.ui.renderers import slot_players
from gym_gui.ui.results.library_model import episodes_in_words
from gym_gui.ui.widgets import InlineMessage, PageBar, PrimaryButton, QuietButton
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.message_panels import Action, replace_message

if TYPE_CHECKING:
    from gym_gui.analysis.findings.summary import OperatorSummary
    from gym_gui.controllers.setup.knowledge import Knowledge
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.results.live_results import LiveResults

FILTER = "Experiments and tournaments (*.py *.yaml *.yml *.json);;All files (*)"
CONSENT = (
    "{name} is a program, not plain data. To read it, it is run in a separate process without your keys, "
    "for at most ten seconds. {network} It can read and write your files all the same: "
    "run only what you trust."
)

_SOURCE_LETTERS = 1 << 16

OPENED: Final = "operators/script"
"""The file that is shown, or the run that is gone on with; empty while operators are played by hand."""
_BEGUN: Final = "operators/script_run"
"""The run of it that was begun last, as long as it is not finished."""


class ScriptExperimentWidget(QWidget):
    """One file at a time: chosen, understood, run, stopped, gone on with.

    Args:
        context: The window's services.
        knowledge: Looks at environments.
        bar: Where its actions stand.
        parent: Qt owner.
    """

    def __init__(
        self, context: AppContext, knowledge: Knowledge, bar: PageBar, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("script-experiment")
        self._context, self._knowledge = context, knowledge
        self._path: Path | None = None
        self._resumed: RunEntry | None = None
        self._cut_off: RunEntry | None = None
        self._plan: ScriptPlan | None = None
        self._job: ScriptJob | None = None
        self._work: asyncio.Task[None] | None = None
        self._message: InlineMessage | None = None
        self._stopping = self._submitting = False
        self._watched = ""
        self._build()
        self._build_actions(bar)
        self._show()

    # -- how it is made --------------------------------------------------------------

    def _build(self) -> None:
        column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        self._column = column
        self._recent = RecentFiles(self._context.layout)
        self.empty = ScriptStart(self._recent, self.choose_file, self)
        self.empty.chosen.connect(self.open)
        self.empty.failed.connect(self._on_not_written)
        self.card = ScriptCard(self)
        self.card.watch_toggled.connect(self._on_watch_toggled)
        self._standings = ScriptStandings(self._context, self.card, self)
        self._standings.operator_chosen.connect(self._on_pairing_chosen)
        self._standings.failure_chosen.connect(self._on_results)
        column.addWidget(self.empty, 1)
        column.addWidget(self.card, 1)

    def _build_actions(self, bar: PageBar) -> None:
        self._open_button = QuietButton(
            "Open…",
            icon_name="open",
            name="script-open",
            tooltip="Open an experiment or tournament file (Ctrl+O)",
            on_click=self.choose_file,
        )
        self._results_button = QuietButton(
            "Results",
            icon_name="results",
            name="script-results",
            tooltip="Compare the operators of this run",
            on_click=self._on_results,
        )
        self._run_button = PrimaryButton(
            "Run", icon_name="run", name="script-run", tooltip="Play all episodes", on_click=self.toggle
        )
        self._edit_button = QuietButton(
            "Edit",
            icon_name="file",
            name="script-edit",
            tooltip="Open the file in the editor",
            on_click=self.edit,
        )
        self.where = ExecutorChoice(self._context, self)
        self.where.executor_changed.connect(self._show_actions)
        self._actions = (
            self._edit_button,
            self._open_button,
            self._results_button,
            self.where,
            self._run_button,
        )
        for button in self._actions:
            bar.add_action(button)
        self._shown = True

    def set_shown(self, shown: bool) -> None:
        """Whether script mode is what the page shows: its actions come and go with it."""
        self._shown = shown
        if shown:
            self.where.look()
        self._show_actions()

    # -- the file --------------------------------------------------------------------

    @property
    def plan(self) -> ScriptPlan | None:
        """What the open file will do."""
        return self._plan

    @property
    def job(self) -> ScriptJob | None:
        """The run, once there is one."""
        return self._job

    @property
    def asks_models(self) -> bool:
        """Whether a run is on in which language models are asked."""
        if self._job is None or not self._job.running or self._plan is None:
            return False
        return any(asks_models(operator.config) for operator in self._plan.operators)

    @property
    def rows(self) -> Mapping[str, OperatorRow]:
        """The operators' rows."""
        return dict(self.card.rows)

    @property
    def standings(self) -> LiveResults | None:
        """How a tournament stands, once it has begun."""
        return self._standings.view

    @property
    def message(self) -> InlineMessage | None:
        """What is said above the card."""
        return self._message

    @property
    def busy(self) -> bool:
        """Whether it reads or runs, until what came of it is shown."""
        return self._work is not None

    def choose_file(self) -> None:
        """Ask for a file."""
        dialog = QFileDialog(self.window(), "Open an experiment or a tournament")
        dialog.setObjectName("script-dialog")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(FILTER)
        if self._path is not None:
            dialog.setDirectory(str(self._path.parent))
        dialog.fileSelected.connect(self._on_file)
        dialog.open()

    def open(self, path: Path) -> None:
        """Look at a file; while another one runs, say so."""
        if self._may_open(path.name):
            self._cut_off = None
            self._context.layout.remove(_BEGUN)  # a run of what was shown before
            self._take(path)

    def resume(self, run: RunEntry, *, begin: bool = True) -> None:
        """Play what is left of a run that was stopped or cut off; while another one runs, say so.

        Args:
            run: It.
            begin: Whether it is begun as soon as it is seen that it can be played.
        """
        if self._may_open(run.full_title):
            self._cut_off = None if begin else run
            self._take(run.path, run)

    def bring_back(self, path: Path) -> None:
        """Show again what was shown, and offer to go on with a run of it that was cut off."""
        self._context.spawn(self._bring_back(path), "Looking for a run that was cut off")

    async def _bring_back(self, path: Path) -> None:
        begun = str(self._context.layout.value(_BEGUN, "") or "")
        run = await asyncio.to_thread(RunLibrary(Path(begun).parent).one, Path(begun)) if begun else None
        left = run if run is not None and run.can_go_on else None
        if self._path is not None:
            return  # somebody was faster
        if path.is_file():
            self._cut_off = left
            self._take(path)
        elif left is not None and left.path == path:
            self.resume(left, begin=False)

    def _may_open(self, name: str) -> bool:
        running = self._job is not None and self._job.running
        if running:
            words = f"{self._name} is running. Stop it before you open {name}."
            self._show_message(InlineMessage("warning", words, closable=True))
        return not running

    def _take(self, path: Path, resumed: RunEntry | None = None) -> None:
        self._path, self._resumed, self._plan, self._job = path, resumed, None, None
        if resumed is not None or path.is_file():
            self._context.layout.setValue(OPENED, str(path.absolute()))
            if resumed is None:
                self._recent.add(path.absolute())
        self.watch("")
        self._standings.drop()
        self.card.clear()
        self._start(self._read_script(path, allow_code=False), "Reading the experiment")

    def _on_file(self, path: str) -> None:
        self.open(Path(path))

    def _on_not_written(self, sentence: str) -> None:
        self._context.notify(sentence, "error")

    @property
    def _name(self) -> str:
        if self._resumed is not None:
            return self._resumed.full_title
        return self._path.name if self._path is not None else ""

    async def _read_script(self, path: Path, *, allow_code: bool) -> None:
        self._show_message(None)
        self.card.show_source("")
        self.card.say("Reading…")
        try:
            if self._resumed is not None:
                plan = await plan_run(path, self._knowledge)
            elif not allow_code and await is_program(path):
                self.card.say("It has not been read yet. This is what it says:")
                self.card.show_source(await asyncio.to_thread(_head_of, path))
                asked = CONSENT.format(name=path.name, network=await what_it_reaches())
                self._show_message(InlineMessage("warning", asked, ("Run it to read it", self._on_agreed)))
                return
            else:
                plan = await plan_file(path, self._knowledge, self.card.say, allow_code=allow_code)
        except NotAllowedError as error:
            self.card.say("It names code or programs that have not been allowed.")
            self._show_message(
                InlineMessage("warning", error.message, ("Look and allow…", partial(self._ask_trust, error)))
            )
            self._ask_trust(error)
            return
        except MosaicError as error:
            self.card.say("It cannot be run as it is.")
            message = InlineMessage("error", error.sentence, self._way_out(str(error)))
            message.lead_to(self._link_of(error))
            self._show_message(message)
            self._tell_editor(path, [problem_of(error)] if self._is_of(path, error) else ())
            return
        self._tell_editor(path, [Problem(p.line, o.error, column=p.column) for o, p in _places(plan)])
        self._take_plan(plan)

    def _link_of(self, error: MosaicError) -> Action | None:
        assert self._path is not None
        place = error.place or place_in(str(error), self._folders) or Place(str(self._path.absolute()))
        own = Path(place.file) == self._path.absolute()
        return link_of(self._context, str(error), place=place, experiment=own, again=self._again)

    @property
    def _again(self) -> Action:
        return "Read it again", self._on_again

    @property
    def _folders(self) -> list[Path]:
        return [] if self._path is None else [self._path.absolute().parent]

    @property
    def _all_folders(self) -> list[Path]:
        operators = self._plan.operators if self._plan is not None else ()
        return [*self._folders, *(folder for each in operators for folder in folders_of(each.config))]

    @staticmethod
    def _is_of(path: Path, error: MosaicError) -> bool:
        return error.place is None or Path(error.place.file) == path.absolute()

    def _tell_editor(self, path: Path, problems: Sequence[Problem]) -> None:
        """Where the file is open, what is wrong with it stands at its line."""
        self._context.file_told.emit(str(path.absolute()), problems)

    def edit(self) -> None:
        """Open the experiment file in the editor."""
        if self._path is None:
            return
        said = [] if self._plan is None else _places(self._plan)
        request = at_place(Place(str(self._path)), experiment=True, again=self._again)
        problems = [Problem(place.line, operator.error, column=place.column) for operator, place in said]
        self._context.edit(replace(request, problems=problems, title="Experiment"))

    def _link_of_operator(self, operator: OperatorPlan) -> Action | None:
        config, sentence = operator.config, operator.error
        elsewhere = place_in(sentence, [*self._folders, *folders_of(config)])
        place, own = elsewhere or operator.place, elsewhere is None
        return link_of(self._context, sentence, config, place=place, experiment=own, again=self._again)

    def _ask_trust(self, error: NotAllowedError) -> None:
        self._context.ask_trust(error, self._on_again)

    def _on_agreed(self) -> None:
        if self._path is not None and not self.busy:
            self._start(self._read_script(self._path, allow_code=True), "Reading the experiment")

    def _way_out(self, sentence: str) -> Action:
        """What is missing is installed; whatever else is wrong, the file is to be read again."""
        return install_action(self._context, sentence, self, self._on_installed) or (
            "Read it again",
            self._on_again,
        )

    def _on_installed(self) -> None:
        self._knowledge.renew()
        self._on_again()

    def _on_again(self) -> None:
        if self._path is not None and not self.busy and self._may_open(self._name):
            self._take(self._path, self._resumed)

    def _take_plan(self, plan: ScriptPlan) -> None:
        self._plan = plan
        self.card.show_plan(plan, self._link_of_operator)
        if not plan.playable:
            missing = next((o.error for o in plan.operators if missing_in(o.error)), "")
            who = "operators" if plan.contest is None else "policies"
            words = (
                f"Some {who} cannot play. What they lack can be installed; then the file is read anew."
                if missing
                else f"Some {who} cannot play any more. What was played stays as it is."
                if self._resumed is not None
                else f"Some {who} cannot play. Correct the file, then read it again."
            )
            self._show_message(InlineMessage("error", words, self._way_out(missing)))
        elif self._cut_off is not None:
            self._offer_to_go_on(self._cut_off)
        elif plan.run is not None or plan.experiment.execution.auto_run:
            self._begin()

    def _offer_to_go_on(self, run: RunEntry) -> None:
        """A run of what is shown was left unfinished the last time."""
        what = "episodes" if self._plan is None or self._plan.contest is None else "games"
        words = f"A run was left at {episodes_in_words(run)} {what}."
        if self._resumed is not None:
            self._show_message(InlineMessage("info", f"{words} Resume plays the rest."))
        else:
            self._show_message(
                InlineMessage("info", words, ("Resume it", partial(self.resume, run)), closable=True)
            )

    # -- the run ---------------------------------------------------------------------

    def toggle(self) -> None:
        """Run, stop, or go on."""
        if self._submitting:
            self._stop_work()
        elif self._job is not None and self._job.running:
            self.stop()
        elif self.where.executor and not self.busy and not self._resumable:
            self._submit()
        elif not self.busy:
            self._begin()

    def _submit(self) -> None:
        if self._path is not None and self._plan is not None and self._plan.playable:
            self._show_message(None)
            self._submitting = True
            self._spawn(self._send(self._path), "Sending the experiment")

    async def _send(self, path: Path) -> None:
        """Have it played in shards, and show them."""
        self.card.say("Checking, cutting and sending it…")
        try:
            tournament = self._plan is not None and self._plan.contest is not None
            out = self._context.store.runs_dir()
            folder = await submit(path, self.where, out, tournament=tournament)
        except MosaicError as error:
            message = InlineMessage("error", error.sentence, ("Try again", self._submit))
            message.lead_to(link_of(self._context, str(error), folders=self._all_folders, place=error.place))
            self._show_message(message)
            return
        finally:
            self._submitting = False
            if self._plan is not None:
                self.card.say(words_of(self._plan))
        shown = ("See how far it is", partial(self._context.go, "results", run=folder))
        self._show_message(InlineMessage("ok", "It is played in shards, also without the window.", shown))
        self._context.go("results", run=folder)

    def stop(self) -> None:
        """End early; what is done is kept."""
        if self._job is not None:
            self._stopping = True
            self._job.stop()
            self._show()

    def _begin(self) -> None:
        if self._plan is None or not self._plan.playable:
            return
        if self._job is None or self._finished:
            self._job = ScriptJob(
                self._plan,
                self._context.store,
                compress=self._context.settings.values.compress_runs,
                parent=self,
            )
            self._job.progressed.connect(self.card.show_standings)
            self._job.began.connect(self._on_began)
            self._standings.take(self._plan, self._job)
        self._look()
        self._stopping = False
        self._show_message(None)
        self._job.begin()
        self._spawn(self._run(self._job), "Running the experiment")

    def _on_began(self) -> None:
        if self._job is not None and self._job.folder is not None:
            self._context.layout.setValue(_BEGUN, str(self._job.folder))
        self._show_actions()

    @property
    def _resumable(self) -> bool:
        """Whether Run goes on with what was stopped or cut off."""
        if self._job is not None:
            return self._job.result is not None and self._job.result.status == "stopped"
        return self._plan is not None and self._plan.run is not None

    @property
    def _finished(self) -> bool:
        result = self._job.result if self._job is not None else None
        return result is not None and result.status != "stopped"

    async def _run(self, job: ScriptJob) -> None:
        self.card.say("Starting sessions…")
        self._standings.show()
        try:
            result = await job.run()
        except MosaicError as error:
            message = InlineMessage("error", error.sentence, ("Run again", self._begin))
            message.lead_to(link_of(self._context, str(error), folders=self._all_folders, place=error.place))
            self._show_message(message)
            return
        self._standings.ended(result)
        if self._finished:
            self._context.layout.remove(_BEGUN)
        await self._keep_run(result.folder)
        what = "episode" if job.contest is None else "game"
        if result.problem:
            message = InlineMessage("error", result.problem)
            message.lead_to(link_of(self._context, result.problem, folders=self._all_folders))
            self._show_message(message)
        elif result.status == "stopped":
            done = count(result.episodes, what)
            self._show_message(
                InlineMessage("info", f"Stopped after {done}. Resume goes on where it stands.")
            )
        elif result.failed:
            failed = count(result.failed, what)
            self._show_message(
                InlineMessage("warning", f"Done, but {failed} failed.", ("See why", self._on_results))
            )
        else:
            done = count(result.episodes, what)
            self._show_message(InlineMessage("ok", f"Done: {done}.", ("Open results", self._on_results)))

    async def _keep_run(self, folder: Path | None) -> None:
        if folder is None or self._path is None:
            return
        try:
            await keep_run(folder, self._path)
        except MosaicError as error:
            self._context.notify(error.sentence, "warning")

    @property
    def _folder(self) -> Path | None:
        """The run that is played, was played, or is gone on with."""
        if self._job is not None and self._job.folder is not None:
            return self._job.folder
        return self._plan.run if self._plan is not None else None

    def _on_results(self) -> None:
        if (run := self._folder) is not None:
            self._context.go("results", run=run)

    def _on_pairing_chosen(self, pairing: OperatorSummary) -> None:
        """Look at it while it plays; what has been played is in Results."""
        if self._job is not None and self._job.running:
            self.watch(pairing.operator_id)
        else:
            self._on_results()

    # -- watching --------------------------------------------------------------------

    def watch(self, operator_id: str) -> None:
        """Show what an operator plays, as soon as and as long as it does; ``""``: nobody's any more."""
        self._watched = operator_id
        if not operator_id or self._plan is None:
            if self.card.pane is not None:
                self._context.own_windows.put_away(self.card.pane.berth)
            self.card.show_pane(None)
            self._look()
            return
        pane = self.card.pane
        if pane is None:
            pane = WatchPane(self._context.theme)
            pane.closed.connect(self._on_pane_closed)
        self.card.show_pane(pane, operator_id)
        config = self.card.rows[operator_id].plan.config
        running = self._job is not None and self._job.running
        why = "Others are playing; its turn comes." if running else "Run plays its episodes."
        pane.begin(config.display_name, slot_players(config), "Nothing to see yet", why)
        self._context.own_windows.look_after(pane.berth, "operators.watched")
        self._look()

    def _look(self) -> None:
        if self._job is not None:
            self._job.watch(self._watched, self._on_seen if self._watched else None)

    def _on_seen(self, event: object) -> None:
        pane = self.card.pane
        if pane is not None and isinstance(event, LiveView):
            pane.show_view(event)
        elif pane is not None and isinstance(event, FrameDrawn):
            pane.show_frame(event.frame)

    def _on_watch_toggled(self, operator_id: str, wanted: bool) -> None:
        self.watch(operator_id if wanted else "")

    def _on_pane_closed(self) -> None:
        row = self.card.rows.get(self._watched)
        self.watch("")
        if row is not None:
            row.eye.setFocus()

    # -- what is shown ---------------------------------------------------------------

    def _start(self, work: object, what: str) -> None:
        self._stop_work()
        self._spawn(work, what)

    def _spawn(self, work: object, what: str) -> None:
        self._work = self._context.spawn(work, what)  # type: ignore[arg-type]
        self._work.add_done_callback(self._on_work_done)
        self._show()

    def _stop_work(self) -> None:
        work, self._work = self._work, None
        if work is not None:
            work.cancel()

    def _on_work_done(self, task: object) -> None:
        if task is self._work:
            self._work = None
        self._stopping = False
        self._show()

    def _show_message(self, message: InlineMessage | None) -> None:
        self._message = replace_message(self._column, self._message, message)

    def _show(self) -> None:
        self.empty.setVisible(self._path is None)
        self.card.setVisible(self._path is not None)
        self.card.show_path(self._path, self._name)
        self._show_actions()

    def _show_actions(self) -> None:
        job = self._job
        running = job is not None and job.running
        resumable = self._resumable
        if self._submitting:
            self._run_button.set_text("Cancel", "stop")
        elif running:
            self._run_button.set_text("Stopping…" if self._stopping else "Stop", "stop")
        elif resumable:
            self._run_button.set_text("Resume", "run")
        else:
            self._run_button.set_text("Run again" if self._finished else "Run", "run")
        playable = self._plan is not None and self._plan.playable
        if self._plan is not None and self._plan.run is not None:
            playable = playable and resumable
        ready = not self._stopping if running else playable and not self.busy
        self._run_button.setEnabled(ready or self._submitting)
        self.where.setEnabled(not running and not self.busy and not resumable)
        self._open_button.setEnabled(not running)
        self._edit_button.setEnabled(self._path is not None and self._path.is_file())
        self._results_button.setEnabled(self._folder is not None)
        for button in self._actions:
            button.setVisible(self._shown and (button is self._open_button or self._path is not None))

    async def shut_down(self) -> None:
        """End the run; what is done is kept."""
        self._standings.close()
        if self._job is not None:
            self._job.stop()
        if self._work is not None:
            if not (self._job is not None and self._job.running):
                self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)


def _places(plan: ScriptPlan) -> list[tuple[OperatorPlan, Place]]:
    """Operators that cannot play, with the line that says so."""
    return [(each, each.place) for each in plan.operators if each.error and each.place is not None]


def _head_of(path: Path) -> str:
    """The beginning of a file, enough to judge it by."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_SOURCE_LETTERS)
