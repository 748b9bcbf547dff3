"""The file that is open in script mode, or the run that is resumed: reads it and reports errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.installing import missing_in
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import FilePosition, MosaicError, UsageError
from gym_gui.core.experiment.shards import Shard
from gym_gui.core.records import TOURNAMENT
from gym_gui.core.trusted.trust import NotAllowedError
from gym_gui.services.experiment_file import is_tournament, needs_code
from gym_gui.services.experiments.experiment_process import network_is_closed
from gym_gui.services.file_references import folders_of, place_in
from gym_gui.services.runs.run_library import RunEntry, RunLibrary
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.checks import at_place, problem_of
from gym_gui.ui.editor.file_request import Problem
from gym_gui.ui.editor.line_links import link_of
from gym_gui.ui.environments.install_dialog import install_action
from gym_gui.ui.operators.recent_files import RecentFiles
from gym_gui.ui.operators.script_card import ScriptCard
from gym_gui.ui.operators.script_job import (
    OperatorPlan,
    ScriptPlan,
    plan_experiment,
    read_experiment,
)
from gym_gui.ui.operators.script_words import memory_warning, words_of
from gym_gui.ui.operators.script_work import ScriptWork
from gym_gui.ui.operators.tournament_plan import plan_tournament
from gym_gui.ui.results.library_model import episodes_in_words
from gym_gui.ui.widgets import InlineMessage
from gym_gui.ui.widgets.message_panels import Action

CONSENT: Final = (
    "{name} is a program, not plain data. MOSAIC reads it by running "
    "it in a separate process without your API keys, "
    "for at most ten seconds. {network} The program can still read and write your files: "
    "run only what you trust."
)
_REACHES: Final = {True: "The process has no network.", False: "This system cannot block its network access."}
"""Sentence of the consent question, by whether the process that runs the file has no network."""
_SOURCE_LETTERS: Final = 1 << 16

OPENED: Final = "operators/script"
"""Settings key for the path of the open file or resumed run; empty in manual mode."""
BEGUN: Final = "operators/script_run"
"""Settings key for the folder of the last run that was begun; removed when this run is finished."""


class ScriptFile(QObject):
    """Reads an experiment file or a run and shows its plan on the card, with links and fixes for errors.

    Args:
        context: The window's services.
        catalog: Describes environments.
        card: Card that shows the file.
        work: Reads the file in the background and shows messages about it.
        is_running: Returns whether a run is in progress; until it ends, no other file is opened.
        parent: Qt owner.

    Attributes:
        recent: List of the files that were opened last.
        path: The open file or run folder; ``None`` before one is opened.
        resumed: The run that is resumed; ``None`` if a file is open.
        plan: What the file or the run will play; ``None`` until it has been read.
    """

    taken = pyqtSignal()
    """Emitted when another file or run was opened, before it is read."""
    ready = pyqtSignal()
    """Emitted when the opened file or run was read and is to be played at once."""

    def __init__(
        self,
        context: AppContext,
        catalog: CatalogCache,
        card: ScriptCard,
        work: ScriptWork,
        is_running: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._context, self._catalog, self._card, self._work = context, catalog, card, work
        self._is_running = is_running
        self.recent = RecentFiles(context.layout)
        self.path: Path | None = None
        self.resumed: RunEntry | None = None
        self.plan: ScriptPlan | None = None
        self._interrupted: RunEntry | None = None

    @property
    def name(self) -> str:
        """Name of the open file, or title of the resumed run."""
        if self.resumed is not None:
            return self.resumed.full_title
        return self.path.name if self.path is not None else ""

    def open(self, path: Path) -> None:
        """Open and read an experiment file; show a warning instead while a run is in progress."""
        if self._may_open(path.name):
            self._interrupted = None
            self._context.layout.remove(BEGUN)  # This run belongs to the previous file.
            self._open(path)

    def resume(self, run: RunEntry, *, begin: bool = True) -> None:
        """Open a stopped or interrupted run to resume it; show a warning instead while a run is in progress.

        Args:
            run: The run to resume.
            begin: Whether to play as soon as the run was read and can be played.
        """
        if self._may_open(run.full_title):
            self._interrupted = None if begin else run
            self._open(run.path, run)

    def reopen_last(self, path: Path) -> None:
        """Open the file or run of the last session, and offer to resume its interrupted run."""
        self._context.spawn(self._restore(path), "Looking for an interrupted run")

    async def _restore(self, path: Path) -> None:
        begun = str(self._context.layout.value(BEGUN, "") or "")
        run = await asyncio.to_thread(RunLibrary(Path(begun).parent).one, Path(begun)) if begun else None
        left = run if run is not None and run.can_go_on else None
        if self.path is not None:
            return  # The user has opened a file since.
        if path.is_file():
            self._interrupted = left
            self._open(path)
        elif left is not None and left.path == path:
            self.resume(left, begin=False)

    def _may_open(self, name: str) -> bool:
        if running := self._is_running():
            words = f"{self.name} is running. Stop it before you open {name}."
            self._work.show_message(InlineMessage("warning", words, closable=True))
        return not running

    def _open(self, path: Path, resumed: RunEntry | None = None) -> None:
        self.path, self.resumed, self.plan = path, resumed, None
        if resumed is not None or path.is_file():
            self._context.layout.setValue(OPENED, str(path.absolute()))
            if resumed is None:
                self.recent.add(path.absolute())
        self.taken.emit()
        self._card.clear()
        self._work.start(self._read(path, allow_code=False), "Reading the experiment")

    async def _read(self, path: Path, *, allow_code: bool) -> None:
        card, work = self._card, self._work
        work.show_message(None)
        card.show_source("")
        card.show_sentence("Reading…")
        try:
            if self.resumed is not None:
                plan = await plan_run(path, self._catalog)
            elif not allow_code and await asyncio.to_thread(needs_code, path):
                card.show_sentence("The file has not been read yet. Its text:")
                card.show_source(await asyncio.to_thread(_head_of, path))
                closed = await asyncio.to_thread(network_is_closed)
                asked = CONSENT.format(name=path.name, network=_REACHES[closed])
                work.show_message(
                    InlineMessage("warning", asked, ("Run the file to read it", self._on_agreed))
                )
                return
            else:
                plan = await plan_file(path, self._catalog, card.show_sentence, allow_code=allow_code)
        except NotAllowedError as error:
            card.show_sentence("The file needs code or programs that you have not allowed.")
            ask = partial(self._context.ask_trust, error, self._on_again)
            work.show_message(InlineMessage("warning", error.message, ("Review and allow…", ask)))
            ask()
            return
        except MosaicError as error:
            card.show_sentence("The file cannot be run until its error is corrected.")
            message = InlineMessage("error", error.sentence, self._fix_action(str(error)))
            message.lead_to(self._link_of(path, error))
            work.show_message(message)
            own = error.place is None or Path(error.place.file) == path.absolute()
            self._send_to_editor(path, [problem_of(error)] if own else ())
            return
        self._send_to_editor(path, _problems_of(plan))
        self._on_plan(plan)

    def _on_plan(self, plan: ScriptPlan) -> None:
        self.plan = plan
        self._card.show_plan(plan, self._link_of_operator)
        if not plan.playable:
            missing = next((o.error for o in plan.operators if missing_in(o.error)), "")
            who = "operators" if plan.tournament_run is None else "policies"
            words = (
                f"Some {who} cannot play. Install what they need; the file is then read again."
                if missing
                else f"Some {who} cannot play any more. Recorded episodes are kept."
                if self.resumed is not None
                else f"Some {who} cannot play. Correct the file, then read it again."
            )
            self._work.show_message(InlineMessage("error", words, self._fix_action(missing)))
        elif self._interrupted is not None:
            self._offer_to_resume(self._interrupted, "episodes" if plan.tournament_run is None else "games")
        elif plan.run is not None or plan.experiment.execution.auto_run:
            self.ready.emit()
        elif plan.tournament_run is None and (words := memory_warning(plan)):
            share = "Share processes", partial(self._share_processes, plan)
            self._work.show_message(InlineMessage("warning", words, share, closable=True))

    def _share_processes(self, plan: ScriptPlan) -> None:
        """Let slots of one team share a process in the next run; the experiment file is not changed."""
        from gym_gui.controllers.sessions.worker_memory import with_shared_processes

        self.plan = replace(plan, experiment=with_shared_processes(plan.experiment))
        self._card.show_sentence(words_of(self.plan))
        self._work.show_message(None)

    def _offer_to_resume(self, run: RunEntry, what: str) -> None:
        """Offer to resume an unfinished run of the open file.

        Args:
          run: The unfinished run.
          what: The word for its episodes: ``episodes`` or ``games``.
        """
        words = f"An unfinished run has played {episodes_in_words(run)} {what}."
        if self.resumed is not None:
            self._work.show_message(InlineMessage("info", f"{words} Resume plays the rest."))
        else:
            action = "Resume the run", partial(self.resume, run)
            self._work.show_message(InlineMessage("info", words, action, closable=True))

    # -- errors ------------------------------------------------------------------------

    @property
    def folders(self) -> list[Path]:
        """Folders with the files that errors can name: the folder of the open file and those of its
        operators.
        """
        operators = self.plan.operators if self.plan is not None else ()
        return [*self._own_folder, *(folder for each in operators for folder in folders_of(each.config))]

    @property
    def _own_folder(self) -> list[Path]:
        return [] if self.path is None else [self.path.absolute().parent]

    @property
    def _read_again(self) -> Action:
        return "Read the file again", self._on_again

    def _link_of(self, path: Path, error: MosaicError) -> Action | None:
        place = error.place or place_in(str(error), self._own_folder) or FilePosition(str(path.absolute()))
        own = Path(place.file) == path.absolute()
        return link_of(self._context, str(error), place=place, experiment=own, again=self._read_again)

    def _link_of_operator(self, operator: OperatorPlan) -> Action | None:
        config, sentence = operator.config, operator.error
        elsewhere = place_in(sentence, [*self._own_folder, *folders_of(config)])
        place, own = elsewhere or operator.place, elsewhere is None
        return link_of(self._context, sentence, config, place=place, experiment=own, again=self._read_again)

    def _send_to_editor(self, path: Path, problems: Sequence[Problem]) -> None:
        """Send the problems of a file to the editor, which marks each at its line."""
        self._context.file_told.emit(str(path.absolute()), problems)

    def edit(self) -> None:
        """Open the experiment file in the editor."""
        if self.path is not None:
            problems = [] if self.plan is None else _problems_of(self.plan)
            request = at_place(FilePosition(str(self.path)), experiment=True, again=self._read_again)
            self._context.edit(replace(request, problems=problems, title="Experiment"))

    def _fix_action(self, sentence: str) -> Action:
        """Return an action that installs a missing package, or, if none is missing, reads the file again."""
        return install_action(self._context, sentence, self._card, self._on_installed) or self._read_again

    def _on_installed(self) -> None:
        self._catalog.renew()
        self._on_again()

    def _on_agreed(self) -> None:
        if self.path is not None and self._may_open(self.name):
            self._work.start(self._read(self.path, allow_code=True), "Reading the experiment")

    def _on_again(self) -> None:
        if self.path is not None and self._may_open(self.name):
            self._open(self.path, self.resumed)


def _problems_of(plan: ScriptPlan) -> list[Problem]:
    """Return the errors of operators that cannot play, each with its line in the file."""
    wrong = ((each.place, each.error) for each in plan.operators if each.error)
    return [Problem(p.line, error, column=p.column) for p, error in wrong if p is not None]


def _head_of(path: Path) -> str:
    """Return the first letters of a file, for the user to judge whether to run it."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_SOURCE_LETTERS)


async def plan_file(
    path: Path, catalog: CatalogCache, say: Callable[[str], object], *, allow_code: bool
) -> ScriptPlan:
    """Read an experiment or tournament file and return what it will play.

    Args:
        path: The file.
        catalog: Describes environments.
        say: Called with a sentence that names the current step.
        allow_code: Whether a program may be run in order to read the file.

    Raises:
        NotAllowedError: The file names code or programs that the user has not allowed; none was run.
        UsageError: One line that says what is wrong, where in the file, and what to do.
    """
    if await asyncio.to_thread(is_tournament, path):
        say("Reading the environment and the policies…")
        return await plan_tournament(path, catalog)
    experiment = await read_experiment(path, catalog, allow_code=allow_code)
    say("Reading the environments…")
    return await plan_experiment(experiment, catalog)


async def plan_run(run: Path, catalog: CatalogCache) -> ScriptPlan:
    """Read a stopped or interrupted run and return what remains of it to play.

    Args:
        run: The run folder.
        catalog: Describes environments.

    Raises:
        NotAllowedError: The run names code or programs that the user has not allowed; none was run.
        UsageError: The run cannot be resumed in the window.
    """
    from gym_gui.controllers.replays.replay import REPLAY

    opened = await asyncio.to_thread(open_run, run)
    about = opened.record.extra
    if Shard.of_run(about) is not None or REPLAY in about:
        what = "a part of an experiment" if REPLAY not in about else "played from the replies of another run"
        raise UsageError(f"this run is {what}", fix=f"Resume it in a terminal: mosaic run --resume {run}")
    if TOURNAMENT in about:
        plan = await plan_tournament(run, catalog, opened)
    else:
        experiment = await read_experiment(run, catalog, allow_code=False)
        plan = await plan_experiment(experiment, catalog, whole=True)
    return replace(plan, run=run, done=await asyncio.to_thread(_done, opened))


def _done(run: Run) -> dict[str, tuple[int, int]]:
    """Return the numbers of finished and of failed episodes, by operator id."""
    found: dict[str, tuple[int, int]] = {}
    for operator_id, operator in run.operators.items():
        ended = [episode.status for episode in operator.episodes() if not episode.is_open]
        found[operator_id] = len(ended), ended.count(EpisodeStatus.FAILED)
    return found
