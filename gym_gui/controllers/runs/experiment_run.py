"""Plays an experiment, or a tournament round by round, into one run folder.

The command line, the window, ``evaluate``, ``tournament`` and the cost estimate all use this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.controllers.engine.environment_seats import SeatsOf
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_events import OnSessionEvent
from gym_gui.controllers.engine.session_interface import OpenSession
from gym_gui.controllers.runs.matrix_check import resolve_all, tried_of
from gym_gui.controllers.runs.operator_execution import OperatorProgress, RunResult
from gym_gui.controllers.runs.reusable_sessions import ReusableSessions
from gym_gui.controllers.runs.script_execution import OnProgress, OperatorScriptExecutionManager
from gym_gui.controllers.runs.shard_plan import ShardPlan
from gym_gui.core.config import Experiment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.experiment.matrix_expansion import without
from gym_gui.core.paths import runs_dir
from gym_gui.services.runs.recorder import COMPLETED, FAILED, STOPPED
from gym_gui.services.shards.lease_files import LeaseFiles
from gym_gui.services.versions import made_here


class Rounds(Protocol):
    """Decides which episodes a run plays, round after round.

    An experiment has one round, a tournament several.
    """

    @property
    def header(self) -> Mapping[str, Any]:
        """Fields of ``run.json`` in addition to the experiment."""
        ...

    def experiment(self) -> Experiment:
        """Return the experiment with all episodes to be played in the rounds so far."""
        ...

    def resolved(self) -> Sequence[ResolvedOperator]:
        """Return the operators of :meth:`experiment`, checked."""
        ...

    def tried(self, among: Collection[str] | None = None) -> Collection[str] | None:
        """Return the operators whose sessions are started before anything is played; ``None`` for all."""
        ...

    def next_round(self, run: Run) -> bool:
        """Decide the next round from the run's results; return ``False`` if there is none."""
        ...


@dataclass(frozen=True)
class PlannedExperiment:
    """Experiment with checked operators, played in one round.

    Attributes:
        planned: The experiment.
        operators: The operators of the experiment, checked.
    """

    planned: Experiment
    operators: Sequence[ResolvedOperator]

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        played: Collection[str] = (),
        *,
        seats_of: SeatsOf,
        players: Experiment | None = None,
    ) -> PlannedExperiment:
        """Check an experiment, and leave out matrix rows that cannot be played.

        Args:
            experiment: The experiment as requested, which is written into ``run.json``.
            played: Operators with recorded episodes, which cannot be left out.
            seats_of: Reads the slots and teams of environments.
            players: The experiment that is played, if it has other players in some slots (such as recorded
                replies).

        Raises:
            UsageError: An operator cannot play, and cannot be left out.
        """
        operators, problems = resolve_all(players or experiment, played, seats_of=seats_of)
        return cls(without(experiment, problems) if problems else experiment, operators)

    @property
    def header(self) -> Mapping[str, Any]:
        """Empty mapping, since the experiment describes the run completely."""
        return {}

    def experiment(self) -> Experiment:
        """Return the experiment as requested."""
        return self.planned

    def resolved(self) -> Sequence[ResolvedOperator]:
        """Return the operators of the experiment."""
        return self.operators

    def tried(self, among: Collection[str] | None = None) -> Collection[str] | None:
        """Return operators that together cover each player on each task of a large matrix.

        ``None`` for all.
        """
        if self.planned.matrix is None:
            return None
        return tried_of([o for o in self.operators if among is None or o.config.operator_id in among])

    def next_round(self, run: Run) -> bool:
        """Return ``False``: an experiment has only one round."""
        return False


class ExperimentRun:
    """Run of an experiment or a tournament, which can be watched and stopped.

    Args:
        rounds: Decides which episodes are played.
        open_session: Makes a session.
        out: Folder for the run folder; by default the usual one.
        processes: Sessions at work at the same time.
        resume: The folder of a run to resume.
        header: Further fields for ``run.json``.
        part: The shard that is played, if the experiment is cut into shards.
        only: Episodes that are played, by operator; by default all of the schedule (of the shard).
        kept: Idle sessions of an earlier part of the experiment, which this run may use.
        leased: Files that state how much of the common budgets a shard may spend.
        compress: Whether rows are compressed at the end, even if the experiment does not ask for it.
        on_progress: Called with the progress of the operators, a few times a second.
        on_round: Called when a further round is paired and begins.

    Attributes:
        folder: The run folder; ``None`` before it exists.
        played: Whether any episode was left to play.
    """

    def __init__(
        self,
        rounds: Rounds,
        open_session: OpenSession,
        out: Path | None = None,
        *,
        processes: int = 1,
        resume: Path | None = None,
        header: Mapping[str, Any] | None = None,
        part: ShardPlan | None = None,
        only: Mapping[str, Collection[int]] | None = None,
        kept: ReusableSessions | None = None,
        leased: LeaseFiles | None = None,
        compress: bool = False,
        on_progress: OnProgress | None = None,
        on_round: Callable[[], None] = lambda: None,
    ) -> None:
        self._rounds, self._open_session, self._out = rounds, open_session, out
        self._processes, self._header, self._compress = processes, header or {}, compress
        self._part, self._only = part, part.only if only is None and part is not None else only
        self._kept, self._leased = kept, leased
        self._on_progress, self._on_round = on_progress, on_round
        self._manager: OperatorScriptExecutionManager | None = None
        self._watched: tuple[str, OnSessionEvent | None] = ("", None)
        self._stopped = False
        self._resume = resume
        self._ended: Path | None = None
        self.played = False

    @property
    def folder(self) -> Path | None:
        """The run folder; ``None`` before it exists."""
        return self._ended if self._manager is None else self._manager.folder or self._ended

    @property
    def totals(self) -> dict[str, int]:
        """Number of episodes to play in the rounds so far, by operator."""
        experiment = self._rounds.experiment()
        names = [operator.operator_id for operator in experiment.operators]
        if self._only is not None:
            return {name: len(self._only.get(name, ())) for name in names}
        return dict.fromkeys(names, experiment.execution.num_episodes)

    def progress(self) -> Sequence[OperatorProgress]:
        """Return the progress of each operator of the current round."""
        return () if self._manager is None else self._manager.progress()

    def stop(self) -> None:
        """End the run early; finished episodes stay on record."""
        self._stopped = True
        if self._manager is not None:
            self._manager.stop()

    def watch(self, operator_id: str, listener: OnSessionEvent | None) -> None:
        """Send an operator's views and pictures to a listener, in later rounds too."""
        self._watched = operator_id, listener
        if self._manager is not None:
            self._manager.watch(operator_id, listener)

    async def run(self) -> RunResult:
        """Play all rounds to the end; do nothing if no episode is left to play.

        Raises:
            UsageError: The experiment has an error that the user can fix; nothing was played.
            MosaicError: A session could not be started.
        """
        # git takes as long as a session host needs to start.
        made = asyncio.create_task(asyncio.to_thread(made_here))
        while True:
            result = await asyncio.to_thread(self._is_done) or await self._play(made)
            self._resume = self._ended = result.folder
            if result.status == STOPPED or result.problem or not await self._pairs_next(result.folder):
                return result
            self._on_round()

    def _is_done(self) -> RunResult | None:
        if self._resume is None:
            return None
        shorter = self._rounds.experiment().execution.until == "decided"
        return finished(self._resume, self.totals, shorter=shorter)

    async def _play(self, made: Awaitable[Mapping[str, Any]]) -> RunResult:
        self.played = True
        rounds, part = self._rounds, self._part
        manager = self._manager = OperatorScriptExecutionManager(
            self._experiment(),
            rounds.resolved(),
            self._open_session,
            self._out or runs_dir(),
            processes=self._processes,
            made=made,
            header={**self._header, **rounds.header, **({} if part is None else part.header)},
            resume=self._resume,
            on_progress=self._on_progress,
            tried=rounds.tried(self._only),
            only=self._only,
            kept=self._kept,
            leased=self._leased,
        )
        manager.watch(*self._watched)
        if self._stopped:
            manager.stop()
        return await manager.run()

    def _experiment(self) -> Experiment:
        experiment = self._rounds.experiment()
        for resolved in self._rounds.resolved():
            experiment.execution.check_seeds(len(resolved.seatings))
        if not self._compress:
            return experiment
        execution = experiment.execution
        record = replace(execution.record, compress=True)
        return replace(experiment, execution=replace(execution, record=record))

    async def _pairs_next(self, folder: Path) -> bool:
        return await asyncio.to_thread(lambda: self._rounds.next_round(open_run(folder)))


def finished(folder: Path, totals: Mapping[str, int], *, shorter: bool = False) -> RunResult | None:
    """Return the result of a run without episodes left to play; ``None`` for any other run.

    Args:
        folder: The run folder.
        totals: Episodes of the schedule, by operator.
        shorter: Whether the run may have ended with fewer episodes because its comparisons were decided.
    """
    run = open_run(folder)
    if run.record.status not in (COMPLETED, FAILED):
        return None
    episodes = failed = 0
    for operator_id, total in totals.items():
        operator = run.operators.get(operator_id)
        rows = [row.status for row in operator.episodes() if not row.is_open] if operator else []
        wanted = min(total, run.planned.get(operator_id) or total) if shorter else total
        if len(rows) < wanted:
            return None
        episodes, failed = episodes + len(rows), failed + rows.count(EpisodeStatus.FAILED)
    return RunResult(folder, run.record.status, episodes, failed)
