"""Records live play in a run folder of the same format as an experiment's.

The number of episodes is not known at the start, and most watched play finishes no episode. So the folder is
created with the first episode that ends by itself, or with the first paid call. If all episodes were cut off
earlier, no folder is created.
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
from gym_gui.core.experiment.spending import NOTHING, Amount, Takeover
from gym_gui.services.runs.budget_ledger import NAME as LEDGER
from gym_gui.services.runs.recorder import COMPLETED, FAILED, STOPPED, Recorder
from gym_gui.services.runs.run_files import Appender
from gym_gui.services.versions import made_here
from mosaic_worker.failures import described

_log = logging.getLogger(__name__)

_Job = Callable[[], None]


class LiveRun:
    """Run folder of operators that play side by side while people watch.

    Another thread writes the rows, one after the other, so that a slow disk does not delay the episodes. All
    methods are called from the event loop.

    Args:
        out: Folder for the new run folder.
        operators: The operators; their ids name the folders.
        seed: Environment seed of episode 0.
        header: Further fields for ``run.json``.
        compress: Whether the rows are compressed when the run has ended.
        changed: Called when :attr:`folder`, :attr:`saved` or :attr:`problem` has changed.

    Attributes:
        folder: The run folder, or ``None`` as long as there is none.
        saved: Number of episodes written.
        problem: Why the run can no longer be written, or ``""``.
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
        # Live play keeps the configured seats; only a script knows how often to swap them.
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
        self._episode_budget.begin_live(self._keep_ledger)
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
        """Name of the run folder; ``""`` as long as no folder exists."""
        return self.folder.name if self.folder is not None else ""

    @property
    def operators(self) -> Sequence[OperatorConfig]:
        """Configurations of the operators that play."""
        return self._operators

    def describe(self, config: OperatorConfig, taking: Takeover | None = None) -> None:
        """Replace an operator's configuration: its display name, or its players after a rebinding.

        Args:
            config: The new configuration.
            taking: The change of a slot's player in the middle of an episode, or ``None``.
        """
        fixed = replace(config, seats="fixed")
        same = config.operator_id
        self._operators = [fixed if o.operator_id == same else o for o in self._operators]
        if same in self._players and self._players[same].resolved.config != fixed:
            self._players[same] = _playing(fixed)
            self._episode_budget.add_operator(self._players[same], taking)

    def offer(self, config: OperatorConfig, slot: str, plan: EpisodePlan) -> Amount | None:
        """Return how much a new player of a slot may spend in the rest of a running episode.

        Args:
            config: The operator's configuration with the new player.
            slot: The slot whose player changes.
            plan: The episode.

        Returns:
            The amount, or ``None`` if no budget limits the player. Nothing is reserved before
            :meth:`describe` is called.

        Raises:
            UsageError: The new player's budget is used up.
        """
        playing = _playing(replace(config, seats="fixed"))
        offered = self._episode_budget.allowance_for(playing, slot, plan.index)
        if offered is None:
            raise UsageError(
                f"the budget of slot {config.operator_id}/{slot} is used up in this run",
                fix="Raise the budget in the slot's settings, or begin a new run",
            )
        return None if offered == NOTHING else offered

    def introduce(self, operator_id: str, ready: SessionReady) -> None:
        """Record an operator's players, the names of its actions, and the versions of packages in use."""
        self._introduced.add(operator_id, ready)
        if operator_id in self._players:
            self._episode_budget.record_announcing_slots(self._players[operator_id], ready.announcing)

    def admit(self, config: OperatorConfig) -> bool:
        """Add an operator, or replace its configuration, as long as the run has recorded nothing.

        Returns:
            Whether the operator was added; if not, it needs another run.
        """
        if not self._blank:
            return False
        known = [o for o in self._operators if o.operator_id != config.operator_id]
        if len(known) == len(self._operators):
            self._operators.append(replace(config, seats="fixed"))
            self._players[config.operator_id] = _playing(self._operators[-1])
            self._episode_budget.add_operator(self._players[config.operator_id])
        self.describe(config)
        self._counts.setdefault(config.operator_id, 0)
        return True

    def withdraw(self, operator_id: str) -> None:
        """Remove an operator from the run if the run has recorded nothing."""
        if self._blank:
            self._operators = [o for o in self._operators if o.operator_id != operator_id]
            self._counts.pop(operator_id, None)

    @property
    def _blank(self) -> bool:
        """Whether the run has recorded nothing yet but can still record."""
        return not (self.folder or self._jobs or self._held or self._closed or self.problem)

    def next_index(self, operator_id: str) -> int:
        """Return the index of an operator's next episode in this run.

        Raises:
            UsageError: The run does not have this operator, so its episodes could not be recorded.
        """
        if operator_id not in self._counts:
            raise UsageError(
                f"{operator_id} is no operator of this run, so the run cannot record its episodes"
            )
        return self._taken.get(operator_id, 0)

    def begin(self, operator_id: str, plan: EpisodePlan) -> EpisodePlan | None:
        """Reserve an episode's allowances (tokens and money) and return the episode's plan with them.

        Returns:
            The plan, or ``None`` if the episode may not begin; :meth:`budget_message` says why.
        """
        if operator_id in self._cannot_go_on:
            return None
        return self._episode_budget.reserve(self._players[operator_id], plan)

    def budget_message(self, operator_id: str, plan: EpisodePlan) -> str:
        """Return why an operator's next episode may not begin, as a sentence.

        If the reason is a server that was down, this call clears the reason, so that the next attempt asks
        the server again.
        """
        sentence = self._cannot_go_on.pop(operator_id, "")
        sentence = sentence or self._episode_budget.budget_message(self._players[operator_id], plan)
        return f"{sentence[0].upper()}{sentence[1:]}"

    def lost(self, operator_id: str, index: int, *, begun: bool) -> None:
        """Charge the possible cost of an episode whose session has died before reporting its end."""
        self._episode_budget.charge_lost(self._players[operator_id], index, begun=begun)

    def episode(self, operator_id: str, plan: EpisodePlan, episode: EpisodeFinished) -> None:
        """Write a finished episode into the run folder.

        Args:
            operator_id: Operator that played the episode.
            plan: Plan of the episode, with index and seed.
            episode: Result of the episode.
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
            self._episode_budget.charge_too_small(run, episode.index)
        elif episode.status is EpisodeStatus.ABORTED:  # its live session reports later costs
            self._episode_budget.charge_lost(run, episode.index, begun=False)
        else:
            self._episode_budget.charge_finished(run, episode.index)

    def call(self, operator_id: str, line: bytes) -> None:
        """Write a paid model call at once, so that its cost is recorded even after a crash."""
        self._episode_budget.charge_call(self._players[operator_id], line)
        if not self._closed and not self.problem:
            self._enqueue(partial(self._write_call, operator_id, line))

    def announced(self, operator_id: str, index: int, slot: str, most: Amount) -> bool:
        """Record a paid request that a slot is about to send; return whether the slot may send it."""
        return self._episode_budget.record_request(self._players[operator_id], index, slot, most)

    async def close(self) -> None:
        """End the run: write all episodes and the final totals to disk."""
        if not self._closed:
            self._episode_budget.close()
            self._closed = True
            self._held.clear()
            await self._written()  # separately from the final writes, which may fail
            self._enqueue(self._finish)
        await self._written()

    async def _written(self) -> None:
        """Wait until all queued writes are on disk or have failed."""
        if self._writer is not None:
            await asyncio.wait([self._writer])

    # -- the writing thread ----------------------------------------------------------

    def _keep_ledger(self, line: bytes) -> None:
        """Queue a line of the budget ledger; until the run folder exists, the line waits."""
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
        """Execute all queued writes in a thread, until the queue is empty."""
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
        """Return the fields of ``run.json`` about the experiment and its players, as far as known."""
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
        status = COMPLETED if self._completed else STOPPED  # a run without completed episodes
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
        """Return the played episodes as an experiment that could be run again."""
        episodes = max(self._seeds, default=0) + 1
        seeds = [self._seeds.get(i, self._seed + i) for i in range(episodes)]
        return Experiment(self._operators, ExecutionConfig(episodes, seeds, record=self._record))


def _playing(config: OperatorConfig) -> OperatorExecution:
    """Return an unchecked operator's execution, which the budgets need.

    The operator's session process checks it.
    """
    return OperatorExecution(unchecked_operator(config), 0, deque())


def _run_all(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job()
