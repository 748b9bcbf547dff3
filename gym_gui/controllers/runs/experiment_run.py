"""Plays an experiment, or a tournament round by round, into one run folder.

Command line, window, ``evaluate``, ``tournament`` and the estimate of costs all play here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
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
from gym_gui.controllers.runs.reusable_sessions import KeptSessions
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
    """What is played, round after round: a
    :class:`~gym_gui.controllers.runs.tournament_run.TournamentRun` is one."""

    @property
    def header(self) -> Mapping[str, Any]:
        """What ``run.json`` says of it beside the experiment."""
        ...

    def experiment(self) -> Experiment:
        """All that is to be played by now."""
        ...

    def resolved(self) -> Sequence[ResolvedOperator]:
        """The operators of :meth:`experiment`, checked."""
        ...

    def tried(self, among: Collection[str] | None = None) -> Collection[str] | None:
        """Operators whose sessions are started before anything is played; ``None``: all of them."""
        ...

    def next_round(self, run: Run) -> bool:
        """Settle what is played next by what a run has played; false where nothing is."""
        ...


@dataclass(frozen=True)
class PlannedExperiment:
    """An experiment whose operators were checked. It has one round.

    Attributes:
        planned: The experiment.
        operators: Its operators.
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
        """Check an experiment against what is there; rows of a matrix that cannot be played are left out.

        Args:
            experiment: What was asked for, which ``run.json`` says.
            played: Operators that a run has episodes of, which are not left out.
            seats_of: Looks at environments.
            players: The experiment with other players in some slots (recorded replies, say), who play it.

        Raises:
            UsageError: Something the person can fix.
        """
        operators, problems = resolve_all(players or experiment, played, seats_of=seats_of)
        return cls(without(experiment, problems) if problems else experiment, operators)

    @property
    def header(self) -> Mapping[str, Any]:
        """Nothing: the experiment says it all."""
        return {}

    def experiment(self) -> Experiment:
        """The experiment."""
        return self.planned

    def resolved(self) -> Sequence[ResolvedOperator]:
        """Its operators."""
        return self.operators

    def tried(self, among: Collection[str] | None = None) -> Collection[str] | None:
        """Of a large matrix, as many as it takes to see each player on each task."""
        if self.planned.matrix is None:
            return None
        return tried_of([o for o in self.operators if among is None or o.config.operator_id in among])

    def next_round(self, run: Run) -> bool:
        """There is none."""
        return False


class ExperimentRun:
    """A run of an experiment or of a tournament; may be stopped.

    Args:
        rounds: What is played.
        open_session: Makes a session.
        out: Folder for the run folder; the usual one by default.
        processes: Sessions at work at the same time.
        resume: The folder of a run to resume.
        header: More for ``run.json``.
        part: The part of it that is played, where it is one of several.
        only: Episodes that are played, by operator; all of the schedule (of the part) by default.
        kept: Sessions that are handed from one part to the next.
        leased: The files in which a part reads its share of the budgets of all parts.
        compress: Whether rows are compressed when all is played, also where the experiment does not say so.
        on_progress: Told how far it is, a few times a second.
        on_round: Told that a further round is paired, and played now.

    Attributes:
        folder: The run folder, as soon as there is one.
        played: Whether there was anything to play.
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
        kept: KeptSessions | None = None,
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
        """The run folder, as soon as there is one."""
        return self._ended if self._manager is None else self._manager.folder or self._ended

    @property
    def totals(self) -> dict[str, int]:
        """Episodes to play in the rounds so far, by operator."""
        experiment = self._rounds.experiment()
        names = [operator.operator_id for operator in experiment.operators]
        if self._only is not None:
            return {name: len(self._only.get(name, ())) for name in names}
        return dict.fromkeys(names, experiment.execution.num_episodes)

    def progress(self) -> Sequence[OperatorProgress]:
        """Where each operator of the round stands."""
        return () if self._manager is None else self._manager.progress()

    def stop(self) -> None:
        """End early; what is done is kept."""
        self._stopped = True
        if self._manager is not None:
            self._manager.stop()

    def watch(self, operator_id: str, listener: OnSessionEvent | None) -> None:
        """As :meth:`OperatorScriptExecutionManager.watch`, in later rounds too."""
        self._watched = operator_id, listener
        if self._manager is not None:
            self._manager.watch(operator_id, listener)

    async def run(self) -> RunResult:
        """Play to the end, or find that nothing is left to play.

        Raises:
            UsageError: Something the person can fix, found before anything was played.
            MosaicError: A session could not be started.
        """
        about = {**await asyncio.to_thread(made_here), **self._header}
        while True:
            result = await asyncio.to_thread(self._is_done) or await self._play(about)
            self._resume = self._ended = result.folder
            if result.status == STOPPED or result.problem or not await self._pairs_next(result.folder):
                return result
            self._on_round()

    def _is_done(self) -> RunResult | None:
        if self._resume is None:
            return None
        shorter = self._rounds.experiment().execution.until == "decided"
        return finished(self._resume, self.totals, shorter=shorter)

    async def _play(self, about: Mapping[str, Any]) -> RunResult:
        self.played = True
        rounds, part = self._rounds, self._part
        manager = self._manager = OperatorScriptExecutionManager(
            self._experiment(),
            rounds.resolved(),
            self._open_session,
            self._out or runs_dir(),
            processes=self._processes,
            header={**about, **rounds.header, **({} if part is None else part.header)},
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
    """How a run ended that has nothing left to play; ``None`` for any other.

    Args:
        folder: The run.
        totals: Episodes of its schedule, by operator.
        shorter: Whether fewer may have decided it.
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
