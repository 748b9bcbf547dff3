"""The file that is open in script mode, or the run that it resumes: reads it and reports errors."""

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
from gym_gui.core.errors import MosaicError, Place, UsageError
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
    "{name} is a program, not plain data. To read it, it is run in a separate process without your keys, "
    "for at most ten seconds. {network} It can read and write your files all the same: "
    "run only what you trust."
)
_REACHES: Final = {True: "It has no network.", False: "This system cannot keep it off the network."}
"""Part of the consent question, by whether the process that runs the file has no network."""
_SOURCE_LETTERS: Final = 1 << 16

OPENED: Final = "operators/script"
"""Settings key of the file that is shown or the run that is resumed; empty in manual mode."""
BEGUN: Final = "operators/script_run"
"""Settings key of the last run of that file that was begun, until the run is finished."""


class ScriptFile(QObject):
    """Shows what the file will do on the card; an error links to its line and offers a fix.

    Args:
        context: The window's services.
        catalog: Describes environments.
        card: Card that shows the file.
        work: Reads the file in the background and shows messages about it.
        is_running: Returns whether a run is playing; no other file is opened until it ends.
        parent: Qt owner.

    Attributes:
        recent: Files that were opened before.
        path: The file, or the folder of the run; ``None`` before a file is opened.
        resumed: The run that is resumed; ``None`` if a file is open.
        plan: What the file or the run will do; ``None`` until it has been read.
    """

    taken = pyqtSignal()
    """Emitted when another file or run is shown."""
    ready = pyqtSignal()
    """Emitted when the file or run is to be played at once."""

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
        self._cut_off: RunEntry | None = None

    @property
    def name(self) -> str:
        """File name, or title of the resumed run."""
        if self.resumed is not None:
            return self.resumed.full_title
        return self.path.name if self.path is not None else ""

    def open(self, path: Path) -> None:
        """Open and read a file; while another file runs, show a warning instead."""
        if self._may_open(path.name):
            self._cut_off = None
            self._context.layout.remove(BEGUN)  # A run of the file shown before.
            self._take(path)

    def resume(self, run: RunEntry, *, begin: bool = True) -> None:
        """Resume a run that was stopped or cut off; while another file runs, show a warning instead.

        Args:
            run: The run.
            begin: Whether to begin as soon as the run is known to be playable.
        """
        if self._may_open(run.full_title):
            self._cut_off = None if begin else run
            self._take(run.path, run)

    def bring_back(self, path: Path) -> None:
        """Show the last file or run again, and offer to resume its run that was cut off."""
        self._context.spawn(self._bring_back(path), "Looking for a run that was cut off")

    async def _bring_back(self, path: Path) -> None:
        begun = str(self._context.layout.value(BEGUN, "") or "")
        run = await asyncio.to_thread(RunLibrary(Path(begun).parent).one, Path(begun)) if begun else None
        left = run if run is not None and run.can_go_on else None
        if self.path is not None:
            return  # The user has opened a file since.
        if path.is_file():
            self._cut_off = left
            self._take(path)
        elif left is not None and left.path == path:
            self.resume(left, begin=False)

    def _may_open(self, name: str) -> bool:
        if running := self._is_running():
            words = f"{self.name} is running. Stop it before you open {name}."
            self._work.say(InlineMessage("warning", words, closable=True))
        return not running

    def _take(self, path: Path, resumed: RunEntry | None = None) -> None:
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
        work.say(None)
        card.show_source("")
        card.say("Reading…")
        try:
            if self.resumed is not None:
                plan = await plan_run(path, self._catalog)
            elif not allow_code and await asyncio.to_thread(needs_code, path):
                card.say("It has not been read yet. This is what it says:")
                card.show_source(await asyncio.to_thread(_head_of, path))
                closed = await asyncio.to_thread(network_is_closed)
                asked = CONSENT.format(name=path.name, network=_REACHES[closed])
                work.say(InlineMessage("warning", asked, ("Run it to read it", self._on_agreed)))
                return
            else:
                plan = await plan_file(path, self._catalog, card.say, allow_code=allow_code)
        except NotAllowedError as error:
            card.say("It names code or programs that have not been allowed.")
            ask = partial(self._context.ask_trust, error, self._on_again)
            work.say(InlineMessage("warning", error.message, ("Look and allow…", ask)))
            ask()
            return
        except MosaicError as error:
            card.say("It cannot be run as it is.")
            message = InlineMessage("error", error.sentence, self._way_out(str(error)))
            message.lead_to(self._link_of(path, error))
            work.say(message)
            own = error.place is None or Path(error.place.file) == path.absolute()
            self._tell_editor(path, [problem_of(error)] if own else ())
            return
        self._tell_editor(path, _problems_of(plan))
        self._take_plan(plan)

    def _take_plan(self, plan: ScriptPlan) -> None:
        self.plan = plan
        self._card.show_plan(plan, self._link_of_operator)
        if not plan.playable:
            missing = next((o.error for o in plan.operators if missing_in(o.error)), "")
            who = "operators" if plan.tournament_run is None else "policies"
            words = (
                f"Some {who} cannot play. What they lack can be installed; then the file is read anew."
                if missing
                else f"Some {who} cannot play any more. What was played stays as it is."
                if self.resumed is not None
                else f"Some {who} cannot play. Correct the file, then read it again."
            )
            self._work.say(InlineMessage("error", words, self._way_out(missing)))
        elif self._cut_off is not None:
            self._offer_to_go_on(self._cut_off, "episodes" if plan.tournament_run is None else "games")
        elif plan.run is not None or plan.experiment.execution.auto_run:
            self.ready.emit()
        elif plan.tournament_run is None and (words := memory_warning(plan)):
            share = "Share processes", partial(self._share_processes, plan)
            self._work.say(InlineMessage("warning", words, share, closable=True))

    def _share_processes(self, plan: ScriptPlan) -> None:
        """Let slots of one team share a process in the next run; the file is not changed."""
        from gym_gui.controllers.sessions.worker_memory import with_shared_processes

        self.plan = replace(plan, experiment=with_shared_processes(plan.experiment))
        self._card.say(words_of(self.plan))
        self._work.say(None)

    def _offer_to_go_on(self, run: RunEntry, what: str) -> None:
        """Offer to resume a run of this file that was left unfinished."""
        words = f"An unfinished run has played {episodes_in_words(run)} {what}."
        if self.resumed is not None:
            self._work.say(InlineMessage("info", f"{words} Resume plays the rest."))
        else:
            action = "Resume it", partial(self.resume, run)
            self._work.say(InlineMessage("info", words, action, closable=True))

    # -- errors ------------------------------------------------------------------------

    @property
    def folders(self) -> list[Path]:
        """Folders that may hold the files that it names: its own folder and those of its operators."""
        operators = self.plan.operators if self.plan is not None else ()
        return [*self._beside, *(folder for each in operators for folder in folders_of(each.config))]

    @property
    def _beside(self) -> list[Path]:
        return [] if self.path is None else [self.path.absolute().parent]

    @property
    def _again(self) -> Action:
        return "Read it again", self._on_again

    def _link_of(self, path: Path, error: MosaicError) -> Action | None:
        place = error.place or place_in(str(error), self._beside) or Place(str(path.absolute()))
        own = Path(place.file) == path.absolute()
        return link_of(self._context, str(error), place=place, experiment=own, again=self._again)

    def _link_of_operator(self, operator: OperatorPlan) -> Action | None:
        config, sentence = operator.config, operator.error
        elsewhere = place_in(sentence, [*self._beside, *folders_of(config)])
        place, own = elsewhere or operator.place, elsewhere is None
        return link_of(self._context, sentence, config, place=place, experiment=own, again=self._again)

    def _tell_editor(self, path: Path, problems: Sequence[Problem]) -> None:
        """Send the file's problems to the editor, which shows each at its line."""
        self._context.file_told.emit(str(path.absolute()), problems)

    def edit(self) -> None:
        """Open the experiment file in the editor."""
        if self.path is not None:
            problems = [] if self.plan is None else _problems_of(self.plan)
            request = at_place(Place(str(self.path)), experiment=True, again=self._again)
            self._context.edit(replace(request, problems=problems, title="Experiment"))

    def _way_out(self, sentence: str) -> Action:
        """Return an action that installs what is missing, or if nothing is, one that reads the file again."""
        return install_action(self._context, sentence, self._card, self._on_installed) or self._again

    def _on_installed(self) -> None:
        self._catalog.renew()
        self._on_again()

    def _on_agreed(self) -> None:
        if self.path is not None and self._may_open(self.name):
            self._work.start(self._read(self.path, allow_code=True), "Reading the experiment")

    def _on_again(self) -> None:
        if self.path is not None and self._may_open(self.name):
            self._take(self.path, self.resumed)


def _problems_of(plan: ScriptPlan) -> list[Problem]:
    """Return why operators cannot play, each reason with its line in the file."""
    wrong = ((each.place, each.error) for each in plan.operators if each.error)
    return [Problem(p.line, error, column=p.column) for p, error in wrong if p is not None]


def _head_of(path: Path) -> str:
    """Return the beginning of a file, long enough for the user to judge it."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_SOURCE_LETTERS)


async def plan_file(
    path: Path, catalog: CatalogCache, say: Callable[[str], object], *, allow_code: bool
) -> ScriptPlan:
    """Read an experiment or tournament file and return what it will play.

    Args:
        path: The file.
        catalog: Describes environments.
        say: Called with a sentence on what is being done.
        allow_code: Whether a program may be run in order to read the file.

    Raises:
        NotAllowedError: The file names code or programs that the user has not allowed; none was run.
        UsageError: One line that says what is wrong, in which place, and what to do.
    """
    if await asyncio.to_thread(is_tournament, path):
        say("Looking at its environment and its policies…")
        return await plan_tournament(path, catalog)
    experiment = await read_experiment(path, catalog, allow_code=allow_code)
    say("Looking at its environments…")
    return await plan_experiment(experiment, catalog)


async def plan_run(run: Path, catalog: CatalogCache) -> ScriptPlan:
    """Read the record of a run that was stopped or cut off, and return what it will play.

    Args:
        run: The run folder.
        catalog: Describes environments.

    Raises:
        NotAllowedError: The run names code or programs that the user has not allowed; none was run.
        UsageError: The run cannot be resumed here.
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
    """Return, by operator, the number of finished episodes and how many of them failed."""
    found: dict[str, tuple[int, int]] = {}
    for operator_id, operator in run.operators.items():
        ended = [episode.status for episode in operator.episodes() if not episode.is_open]
        found[operator_id] = len(ended), ended.count(EpisodeStatus.FAILED)
    return found
