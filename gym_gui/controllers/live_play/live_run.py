"""The run folder of play that is watched: the same as a script's, made as the play goes.

How many episodes there will be is not known when it begins, and most play that is only
looked at finishes none. So the folder is made with the first episode that ends by itself
(or the first paid call); what was cut off before that leaves no folder behind.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.resolved_operator import unchecked_operator
from gym_gui.controllers.engine.session_events import EpisodeFinished
from gym_gui.controllers.engine.session_interface import SessionReady
from gym_gui.controllers.runs.episode_budget import EpisodeBudget
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.controllers.runs.run_participants import RunParticipants
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.execution import EpisodePlan, ExecutionConfig, RecordConfig
from gym_gui.core.experiment.spending import NOTHING, Amount, Taking
from gym_gui.services.runs.budget_ledger import NAME as LEDGER
from gym_gui.services.runs.recorder import COMPLETED, FAILED, STOPPED, Recorder
from gym_gui.services.runs.run_files import Appender
from gym_gui.services.versions import made_here
from mosaic_worker.failures import described

_log = logging.getLogger(__name__)

_Job = Callable[[], None]


class LiveRun:
    """Records what operators play side by side while the user watches.

    Another thread writes the rows, one after the other, so that a slow disk does not hold up
    the episodes. All methods are called from the event loop.

    Args:
        out: Folder for the new run folder.
        operators: The operators; their ids name the folders.
        seed: Environment seed of episode 0.
        header: More for ``run.json``.
        compress: Whether its rows are compressed when it has ended.
        changed: Called when :attr:`folder`, :attr:`saved` or :attr:`problem` has changed.

    Attributes:
        folder: The run folder, or ``None`` as long as there is none.
        saved: Episodes written.
        problem: Why nothing can be written any more, or ``""``.
    """

    def __init__(
        self,
        out: Path,
        operators: Sequence[OperatorConfig],
        seed: int,
        *,
        header: Mapping[str, Any] | None = None,
        compress: bool = False,
        changed: Callable[[], None] | None = None,
    ) -> None:
        self._out, self._seed, self._header = out, seed, dict(header or {})
        # Live play sits as configured; only a script knows how often seats are to be swapped.
        self._operators = [replace(operator, seats="fixed") for operator in operators]
        self._record = RecordConfig(compress=compress)
        self._changed = changed
        self._recorder: Recorder | None = None
        self._introduced = RunParticipants()
        self._seeds: dict[int, int] = {}
        self._counts: dict[str, int] = {operator.operator_id: 0 for operator in operators}
        self._taken: dict[str, int] = {}
        self._players = {operator.operator_id: _playing(operator) for operator in self._operators}
        self._episode_budget = EpisodeBudget(
            Experiment(self._operators, ExecutionConfig()), list(self._players.values())
        )
        self._episode_budget.watch(self._keep_ledger)
        self._ledger_lines: list[bytes] = []
        self._ledger_file: Appender | None = None
        self._held: list[_Job] = []
        self._jobs: list[_Job] = []
        self._writer: asyncio.Task[None] | None = None
        self._closed = False
        self.folder: Path | None = None
        self.saved = self._failures = self._completed = 0
        self.problem = ""
        self._cannot_go_on: dict[str, str] = {}

    @property
    def run_id(self) -> str:
        """Name of the folder; ``""`` as long as there is none."""
        return self.folder.name if self.folder is not None else ""

    @property
    def operators(self) -> Sequence[OperatorConfig]:
        """Who plays."""
        return self._operators

    def describe(self, config: OperatorConfig, taking: Taking | None = None) -> None:
        """An operator goes by another configuration: its name, or who plays since a rebinding.

        Args:
            config: It.
            taking: Where a slot has changed hands in the midst of an episode.
        """
        fixed = replace(config, seats="fixed")
        same = config.operator_id
        self._operators = [fixed if o.operator_id == same else o for o in self._operators]
        if same in self._players and self._players[same].resolved.config != fixed:
            self._players[same] = _playing(fixed)
            self._episode_budget.seat(self._players[same], taking)

    def offer(self, config: OperatorConfig, slot: str, plan: EpisodePlan) -> Amount | None:
        """What a new player of a slot may spend in the rest of an episode that is being played.

        Args:
            config: The operator as it would be, with the new player.
            slot: The slot whose player changes.
            plan: The episode.

        Returns:
            ``None`` where no budget limits it. Nothing is put aside before :meth:`describe` is called.

        Raises:
            UsageError: The new player's budget is used up.
        """
        playing = _playing(replace(config, seats="fixed"))
        offered = self._episode_budget.offer(playing, slot, plan.index)
        if offered is None:
            raise UsageError(
                f"the budget of slot {config.operator_id}/{slot} is used up in this run",
                fix="Give it more in its settings, or begin anew",
            )
        return None if offered == NOTHING else offered

    def introduce(self, operator_id: str, ready: SessionReady) -> None:
        """Note who plays for an operator, the words of its actions, and the versions of all that acts."""
        self._introduced.add(operator_id, ready)
        if operator_id in self._players:
            self._episode_budget.introduce(self._players[operator_id], ready.announcing)

    def admit(self, config: OperatorConfig) -> bool:
        """One more operator plays, or one as another, as long as nothing has been played.

        Returns:
            Whether that is so; otherwise they need a run of their own.
        """
        if not self._blank:
            return False
        known = [o for o in self._operators if o.operator_id != config.operator_id]
        if len(known) == len(self._operators):
            self._operators.append(replace(config, seats="fixed"))
            self._players[config.operator_id] = _playing(self._operators[-1])
            self._episode_budget.seat(self._players[config.operator_id])
        self.describe(config)
        self._counts.setdefault(config.operator_id, 0)
        return True

    def withdraw(self, operator_id: str) -> None:
        """An operator has left; where nothing was played, the run knows nothing of it."""
        if self._blank:
            self._operators = [o for o in self._operators if o.operator_id != operator_id]
            self._counts.pop(operator_id, None)

    @property
    def _blank(self) -> bool:
        """Whether nothing has been played yet that is kept, and something still can be."""
        return not (self.folder or self._jobs or self._held or self._closed or self.problem)

    def next_index(self, operator_id: str) -> int:
        """The first index after all episodes of an operator that this run holds.

        Raises:
            UsageError: The operator is none of this run's: what it plays could not be recorded.
        """
        if operator_id not in self._counts:
            raise UsageError(f"{operator_id} is no operator of this run, so it cannot be recorded in it")
        return self._taken.get(operator_id, 0)

    def begin(self, operator_id: str, plan: EpisodePlan) -> EpisodePlan | None:
        """An episode as it may be played, with what it may spend put aside.

        Returns:
            ``None``: a budget does not carry it; :meth:`shortage` says which.
        """
        if operator_id in self._cannot_go_on:
            return None
        return self._episode_budget.admit(self._players[operator_id], plan)

    def budget_message(self, operator_id: str, plan: EpisodePlan) -> str:
        """Why an episode may not begin, in a sentence; a server that was down is asked anew the next time."""
        sentence = self._cannot_go_on.pop(operator_id, "")
        sentence = sentence or self._episode_budget.budget_message(self._players[operator_id], plan)
        return f"{sentence[0].upper()}{sentence[1:]}"

    def lost(self, operator_id: str, index: int, *, begun: bool) -> None:
        """An episode's session is gone, so that its end stays unknown; count what it may have cost."""
        self._episode_budget.lost(self._players[operator_id], index, begun=begun)

    def episode(self, operator_id: str, plan: EpisodePlan, episode: EpisodeFinished) -> None:
        """Write an episode.

        Args:
            operator_id: Who played it.
            plan: Its index and seed.
            episode: How it ended.
        """
        self._settle(operator_id, episode)
        if episode.cannot_go_on:
            self._cannot_go_on[operator_id] = episode.cannot_go_on
        if self._closed or self.problem or episode.unplayed:
            return
        aborted = episode.status is EpisodeStatus.ABORTED
        if aborted and not episode.steps:
            return  # nothing was played
        self._seeds[plan.index] = plan.seed
        self._taken[operator_id] = max(self.next_index(operator_id), plan.index + 1)
        job = partial(self._write, operator_id, episode)
        if aborted and self.folder is None and not self._jobs:
            self._held.append(job)
            return
        held, self._held = self._held, []
        self._enqueue(*held, job)

    def _settle(self, operator_id: str, episode: EpisodeFinished) -> None:
        run = self._players[operator_id]
        if episode.unplayed:
            self._episode_budget.short(run, episode.index)
        elif episode.status is EpisodeStatus.ABORTED:  # its session lives, and tells what is still paid for
            self._episode_budget.lost(run, episode.index, begun=False)
        else:
            self._episode_budget.over(run, episode.index)

    def call(self, operator_id: str, line: bytes) -> None:
        """Write a paid call, at once: what has cost money is never lost."""
        self._episode_budget.call(self._players[operator_id], line)
        if not self._closed and not self.problem:
            self._enqueue(partial(self._write_call, operator_id, line))

    def announced(self, operator_id: str, index: int, slot: str, most: Amount) -> bool:
        """A slot is about to make a paid request; returns whether it may."""
        return self._episode_budget.announced(self._players[operator_id], index, slot, most)

    async def close(self) -> None:
        """End the run: everything on the disk, its figures final."""
        if not self._closed:
            self._episode_budget.close()
            self._closed = True
            self._held.clear()
            await self._written()  # apart from what is still to be written: that may fail
            self._enqueue(self._finish)
        await self._written()

    async def _written(self) -> None:
        """Wait until everything is on the disk, or cannot be."""
        if self._writer is not None:
            await asyncio.wait([self._writer])

    # -- the writing thread ----------------------------------------------------------

    def _keep_ledger(self, line: bytes) -> None:
        """A line of the budgets' ledger; as long as there is no folder it waits for one."""
        self._ledger_lines.append(line)
        if self.folder is not None and not self._closed and not self.problem:
            self._enqueue()

    def _enqueue(self, *jobs: _Job) -> None:
        lines, self._ledger_lines = b"".join(self._ledger_lines), []
        if lines and not self._closed:
            self._jobs.append(partial(self._write_ledger, lines))
        self._jobs.extend(jobs)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._drain(), name="Recording the run")

    async def _drain(self) -> None:
        """Hand the jobs to a thread, as many at a time as have come together."""
        while self._jobs:
            batch = list(self._jobs)
            try:
                await asyncio.to_thread(_run_all, batch)
            except MosaicError as exc:
                self.problem = str(exc)
                _log.warning("the run is not recorded any more: %s", exc)
            except Exception as exc:
                self.problem = f"The run is not recorded any more: {described(exc)}"
                raise
            finally:
                del self._jobs[: len(batch)]
                if self._recorder is not None:
                    self.folder = self._recorder.folder
                if self._changed is not None:
                    self._changed()

    def _open(self) -> Recorder:
        if self._recorder is None:
            about = {**self._about(), **made_here(), "watched": True}
            self._recorder = Recorder.create(self._out, list(self._counts), {**about, **self._header})
        return self._recorder

    def _about(self) -> dict[str, Any]:
        """What ``run.json`` says of who plays, as far as it is known."""
        return {"experiment": self._experiment().to_record(), **self._introduced.record()}

    def _write(self, operator_id: str, episode: EpisodeFinished) -> None:
        self._open().episode(operator_id, episode.steps, episode.line)
        self._counts[operator_id] += 1
        self.saved += 1
        self._failures += episode.status is EpisodeStatus.FAILED
        self._completed += episode.status is EpisodeStatus.COMPLETED

    def _write_call(self, operator_id: str, line: bytes) -> None:
        self._open().call(operator_id, line)

    def _write_ledger(self, lines: bytes) -> None:
        folder = self._open().folder
        if self._ledger_file is None:
            self._ledger_file = Appender(folder / LEDGER, folder)
        self._ledger_file.append(lines)

    def _finish(self) -> None:
        if self._recorder is None:
            return
        if self._ledger_file is not None:
            self._ledger_file.close()
        status = COMPLETED if self._completed else STOPPED  # whose episodes were all aborted
        if self._failures or self.problem:
            status = FAILED
        self._recorder.close(
            status,
            **self._about(),
            episodes=dict(self._counts),
            problem=self.problem or None,
        )
        if self._record.compress:
            from gym_gui.services.runs.run_packing import compress_ended  # few runs are compressed

            compress_ended(self._recorder.folder)

    def _experiment(self) -> Experiment:
        """What was played, as an experiment that could be run again."""
        episodes = max(self._seeds, default=0) + 1
        seeds = [self._seeds.get(i, self._seed + i) for i in range(episodes)]
        return Experiment(self._operators, ExecutionConfig(episodes, seeds, record=self._record))


def _playing(config: OperatorConfig) -> OperatorExecution:
    """An operator as budgets see it: its environment is made, and it is checked, in its own process."""
    return OperatorExecution(unchecked_operator(config), 0, deque())


def _run_all(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job()
