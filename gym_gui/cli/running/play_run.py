"""Implements ``mosaic run`` for an experiment that has been read: checks it, plays it, prints the result."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from gym_gui.analysis.records.reader import open_run
from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.cli.errors import DONE, INTERRUPTED, WORK_FAILED, print_message
from gym_gui.cli.progress import run_progress
from gym_gui.cli.running.experiment_parts import ExperimentShardPlayer, leased_here, planner_of
from gym_gui.controllers.engine.resolved_operator import checked_permissions
from gym_gui.controllers.runs.experiment_run import ExperimentRun, PlannedExperiment, Rounds
from gym_gui.controllers.runs.model_slots import DRY_RUN, dry, replayed, slots_with
from gym_gui.controllers.runs.operator_execution import OperatorProgress, RunResult
from gym_gui.controllers.runs.reusable_sessions import ReusableSessions
from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.controllers.runs.shard_plan import ShardPlan, check_same
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.matrix_table import missing_in_words
from gym_gui.core.experiment.shards import Shard
from gym_gui.host.prestart import CommandHosts
from gym_gui.processes.cores import usable_cores
from gym_gui.services.runs.recorder import REPLAY, STOPPED


def play(
    experiment: Experiment,
    *,
    out: Path | None,
    processes: int | None,
    resume: Path | None,
    replay: Path | None,
    shard: Shard | None = None,
    dry_run: bool,
    as_json: bool,
    hosts: CommandHosts,
) -> int:
    """Check an experiment against installed workers and environments, play it, and print the result.

    Args:
        experiment: The experiment, as ``run.json`` will record it.
        out: Folder for the run folder.
        processes: Number of session processes; by default that of the experiment, else one per core.
        resume: A run folder to resume.
        replay: A run whose recorded calls replace the models.
        shard: Shard to play, or the shard of ``resume``; ``None`` for the whole experiment.
        dry_run: Whether to only print the plan and its estimated cost.
        as_json: Whether to print JSON.
        hosts: Opens the session processes and reads the environments' slots.

    Returns:
        Exit status.

    Raises:
        UsageError: The user can fix the problem; nothing was played.
    """
    models = dry_run and replay is None and any(slots_with(o, DRY_RUN) for o in experiment.operators)
    players = replayed(experiment, open_run(replay)) if replay is not None else experiment
    played = set(open_run(resume).operators) if resume is not None else set[str]()
    planned = PlannedExperiment.of(
        experiment, played, seats_of=hosts.seats, players=dry(players) if models else players
    )
    for operator in planned.planned.operators if models else ():
        # dry() leaves out API keys, so check here which servers would receive them.
        checked_permissions(operator)
    only = _chosen_episodes(resume) if resume is not None else None
    part = None if shard is None else _part(planned, shard, resume)
    workers = processes or experiment.execution.processes or usable_cores()
    if dry_run:
        from gym_gui.cli.running.dry_run import print_load_notes, print_plan
        from gym_gui.cli.running.dry_run_checks import check_dry_run

        left = {operator.operator_id for operator in planned.planned.operators}
        playing = [operator for operator in players.operators if operator.operator_id in left]
        found = hosts.run(check_dry_run(Experiment(playing, players.execution), workers, models=models))
        print_load_notes(found.notes)
        print_plan(planned.planned, planned.operators, workers, found.model_slots, part, as_json=as_json)
        return DONE
    # The experiment stays unchanged: only the source of the replies differs, also after --resume.
    header = {} if replay is None else {REPLAY: str(replay.absolute())}
    return CheckedRun(planned, workers, as_json, hosts, header).play(out, resume, part, only=only)


def part_player(
    experiment: Experiment, *, processes: int | None, as_json: bool, hosts: CommandHosts, keep: bool
) -> ExperimentShardPlayer:
    """Check an experiment once, and return an object that plays its shards one after the other.

    Args:
        experiment: The experiment.
        processes: Number of session processes.
        as_json: Whether to print JSON.
        hosts: Opens the session processes and reads the environments' slots.
        keep: Whether several shards are played, which share sessions.

    Raises:
        UsageError: The user can fix the problem; nothing was played.
    """
    planned = PlannedExperiment.of(experiment, seats_of=hosts.seats)
    workers = processes or experiment.execution.processes or usable_cores()
    checked = CheckedRun(planned, workers, as_json, hosts)
    return ExperimentShardPlayer(planned.planned, planned.operators, checked.play_part, hosts, keep=keep)


@dataclass(frozen=True)
class CheckedRun:
    """A checked experiment or tournament with all that is needed to play it.

    Attributes:
        rounds: The experiment or tournament with its checked operators.
        workers: Number of session processes.
        as_json: Whether to print JSON.
        hosts: Opens the session processes and reads the environments' slots.
        header: Further entries for ``run.json``.
        again: Command line that resumes the run, without the run folder.
        as_one: Whether one line shows the progress of all operators together.
    """

    rounds: Rounds
    workers: int
    as_json: bool
    hosts: CommandHosts
    header: Mapping[str, Any] = field(default_factory=dict[str, Any])
    again: str = "mosaic run --resume"
    as_one: bool = False

    def play_part(
        self, part: ShardPlan, out: Path | None, begun: Path | None, kept: ReusableSessions | None
    ) -> int:
        """Play a shard, or its remaining episodes; return the exit status."""
        return self.play(out, begun, part, kept=kept)

    def play(
        self,
        out: Path | None,
        resume: Path | None,
        part: ShardPlan | None,
        *,
        only: Mapping[str, Collection[int]] | None = None,
        kept: ReusableSessions | None = None,
    ) -> int:
        """Play everything or one shard, print the result, and return the exit status.

        Args:
            out: Folder for the run folder.
            resume: A run folder to resume.
            part: Shard to play; ``None`` for everything.
            only: Indices of the episodes to play, by operator; ``None`` for all.
            kept: Sessions of earlier shards.
        """
        shard = None if part is None else part.shard
        with run_progress(as_json=self.as_json) as show:
            run = ExperimentRun(
                self.rounds,
                self.hosts.open_session,
                out,
                processes=self.workers,
                resume=resume,
                header=self.header,
                part=part,
                only=only,
                kept=kept,
                leased=None if part is None else leased_here(),
                on_progress=_as_one(show) if self.as_one else show,
            )
            # Inside the context, so that a warning appears above the progress bars.
            logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
            self._print_notes()
            result = self.hosts.run(self._play(run, reported=shard is None))
        return print_run_result(result, self.as_json, run, self.again, shard)

    async def _play(self, run: ExperimentRun, *, reported: bool) -> RunResult:
        """Play a run, and import the modules for its report while the first session starts."""
        importing = asyncio.create_task(self._import_report(run.totals)) if reported else None
        try:
            return await until_signal(run)
        finally:
            if importing is not None:
                importing.cancel()  # a thread that imports is waited for at the end of the event loop
                await asyncio.wait({importing})

    async def _import_report(self, totals: Mapping[str, int]) -> None:
        # Not earlier: the thread would take the interpreter from the work on which the session waits.
        await self.hosts.host_taken()
        names = ["gym_gui.analysis.reporting", "gym_gui.analysis.compute.summary_builder"]
        if max(totals.values(), default=0) >= MIN_INTERVAL:
            names.append("scipy.special")  # for intervals
        for name in names:
            await asyncio.to_thread(import_module, name)

    def _print_notes(self) -> None:
        log = logging.getLogger(__name__)
        matrix = self.rounds.experiment().matrix
        for line in missing_in_words(matrix.rows) if matrix else ():
            log.warning("Not played: %s.", line)
        noted: dict[str, list[str]] = {}
        for resolved in self.rounds.resolved():
            for note in resolved.notes:
                noted.setdefault(note, []).append(resolved.config.operator_id)
        for note, (first, *others) in noted.items():
            more = f" and {len(others)} more" if others else ""
            log.warning("Note: %s (operator %s%s).", note, first, more)


def _as_one(show: OnProgress) -> OnProgress:
    """Return a progress function that shows all pairings of a tournament as one line."""

    def shown(states: Sequence[OperatorProgress]) -> None:
        done, total, failed, live, steps = (sum(getattr(s, name) for s in states) for name in _COUNTS)
        show([OperatorProgress("tournament", "Tournament", done, total, failed, live, steps)])

    return shown


_COUNTS = ("done", "total", "failed", "live", "steps")


def _chosen_episodes(resume: Path) -> Mapping[str, Collection[int]] | None:
    """Return the indices of episodes that a resumed run plays, by operator; ``None`` for all."""
    from gym_gui.controllers.reexecution.verification import (
        chosen_episodes,  # imports the engine
    )

    return chosen_episodes(open_run(resume))


def _part(planned: PlannedExperiment, shard: Shard, resume: Path | None) -> ShardPlan:
    part = planner_of(planned.planned, planned.operators).plan(shard)
    if resume is not None:
        check_same(part, open_run(resume))
    return part


async def until_signal(run: ExperimentRun) -> RunResult:
    """Play a run and return its result; SIGINT (Ctrl-C) or SIGTERM stops it and keeps finished episodes."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        loop.add_signal_handler(number, run.stop)
    try:
        return await run.run()
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def print_run_result(
    result: RunResult,
    as_json: bool,
    run: ExperimentRun,
    again: str = "mosaic run --resume",
    shard: Shard | None = None,
) -> int:
    """Print the result of a run, or that no episode was left to play; return the exit status."""
    if run.played or as_json:
        return conclude(result, as_json, again, shard)
    failed = f", {result.failed} of them failed" if result.failed else ""
    sys.stdout.write(
        f"Nothing is left to play: all {result.episodes} episodes are done{failed}.\n"
        f"See: mosaic report {result.folder}\n"
    )
    return WORK_FAILED if result.failed else DONE


def conclude(
    result: RunResult, as_json: bool, again: str = "mosaic run --resume", shard: Shard | None = None
) -> int:
    """Print the result of a run.

    Args:
        result: Status, folder and number of episodes of the run.
        as_json: Whether to print one JSON object.
        again: Command line that resumes the run, without the run folder.
        shard: Shard that was played; ``None`` for a whole run. A shard alone gets no report, because it does
            not decide which operator is better.

    Returns:
        Exit status.
    """
    if as_json:
        sys.stdout.write(json.dumps(_record(result, shard)) + "\n")
    elif shard is not None:
        failed = f", {result.failed} of them failed" if result.failed else ""
        sys.stdout.write(f"Shard: {shard.number} of {shard.of}, {result.episodes} episodes{failed}\n")
    elif result.episodes and result.folder.is_dir():
        from gym_gui.analysis import report

        report([result.folder])
    if not as_json:
        sys.stdout.write(f"Run:  {result.folder}\n")
    if result.problem:
        print_message(result.problem)
    if result.status == STOPPED and result.folder.is_dir():
        print_message(f"stopped; resume with: {again} {result.folder}")
    if result.problem:
        return WORK_FAILED
    if result.status == STOPPED:
        return INTERRUPTED
    return WORK_FAILED if result.failed else DONE


def _record(result: RunResult, shard: Shard | None) -> dict[str, Any]:
    """Return the result of a run for JSON: its status, its verdicts, and the path of its report."""
    record: dict[str, Any] = {
        "run": str(result.folder),
        "status": result.status,
        "episodes": result.episodes,
        "failed": result.failed,
        "verdicts": [],
        "report": None,
        "problem": result.problem or None,
    }
    if shard is not None:
        record["shard"] = str(shard)
    elif result.episodes and result.folder.is_dir():
        from gym_gui.analysis import summarize, write_report

        run = open_run(result.folder)
        summary = summarize([run])
        record["verdicts"] = [str(verdict) for verdict in summary.verdicts]
        with suppress(UsageError):  # the result is printed even if no report can be written
            record["report"] = str(write_report(summary, run.path, [run]))
    return record
