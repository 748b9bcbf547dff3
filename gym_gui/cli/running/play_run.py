"""The work of ``mosaic run``: check, play, conclude."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import threading
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from gym_gui.analysis.records.reader import open_run
from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.cli.errors import DONE, INTERRUPTED, WORK_FAILED, tell
from gym_gui.cli.progress import run_progress
from gym_gui.cli.running.experiment_parts import PartPlayer, leased_here, planner_of
from gym_gui.controllers.engine.resolved_operator import vouch
from gym_gui.controllers.runs.experiment_run import ExperimentRun, PlannedExperiment, Rounds
from gym_gui.controllers.runs.model_slots import DRY_RUN, dry, replayed, slots_with
from gym_gui.controllers.runs.operator_execution import OperatorProgress, RunResult
from gym_gui.controllers.runs.reusable_sessions import KeptSessions
from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.controllers.runs.shard_plan import ShardPlan, check_same
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.matrix_table import missing_in_words
from gym_gui.core.experiment.shards import Shard
from gym_gui.host.prestart import HostAhead
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
    hosts: HostAhead,
) -> int:
    """Check an experiment against what is there, play it, and say how it came out.

    Args:
        experiment: What is played, and what ``run.json`` will say.
        out: Folder for the run folder.
        processes: Session processes.
        resume: A run folder to resume.
        replay: A run whose recorded calls stand in for the models.
        shard: The part of it that is played; of ``resume``, the part that it is.
        dry_run: Play nothing that counts: say what would be done and what it would cost.
        as_json: For programs.
        hosts: Where it is played.

    Returns:
        Exit status.

    Raises:
        UsageError: Something the person can fix; nothing was played.
    """
    models = dry_run and replay is None and any(slots_with(o, DRY_RUN) for o in experiment.operators)
    players = replayed(experiment, open_run(replay)) if replay is not None else experiment
    played = set(open_run(resume).operators) if resume is not None else set[str]()
    planned = PlannedExperiment.of(
        experiment, played, seats_of=hosts.seats, players=dry(players) if models else players
    )
    for operator in planned.planned.operators if models else ():
        vouch(operator)  # dry() has left the keys out, and with them the servers they would be sent to
    only = _chosen_episodes(resume) if resume is not None else None
    part = None if shard is None else _part(planned, shard, resume)
    workers = processes or experiment.execution.processes or usable_cores()
    if dry_run:
        from gym_gui.cli.running.dry_run import say_notes, say_plan
        from gym_gui.cli.running.dry_run_checks import look_ahead

        left = {operator.operator_id for operator in planned.planned.operators}
        playing = [operator for operator in players.operators if operator.operator_id in left]
        found = hosts.run(look_ahead(Experiment(playing, players.execution), workers, models=models))
        say_notes(found.notes)
        say_plan(planned.planned, planned.operators, workers, found.model_slots, part, as_json=as_json)
        return DONE
    # The experiment stays what it was: only where replies came from is another, also after --resume.
    header = {} if replay is None else {REPLAY: str(replay.absolute())}
    return CheckedRun(planned, workers, as_json, hosts, header).play(out, resume, part, only=only)


def part_player(
    experiment: Experiment, *, processes: int | None, as_json: bool, hosts: HostAhead, keep: bool
) -> PartPlayer:
    """Check an experiment against what is there, once for all of its parts that are played here.

    Args:
        experiment: It.
        processes: Session processes.
        as_json: For programs.
        hosts: Where it is played.
        keep: Whether several are played, which share what is started.

    Raises:
        UsageError: Something the person can fix; nothing was played.
    """
    planned = PlannedExperiment.of(experiment, seats_of=hosts.seats)
    workers = processes or experiment.execution.processes or usable_cores()
    checked = CheckedRun(planned, workers, as_json, hosts)
    return PartPlayer(planned.planned, planned.operators, checked.play_part, hosts, keep=keep)


@dataclass(frozen=True)
class CheckedRun:
    """An experiment or a tournament that can be played: its operators checked, and how.

    Attributes:
        rounds: It.
        workers: Session processes.
        as_json: For programs.
        hosts: Where it is played.
        header: More for ``run.json``.
        again: The command that resumes it.
        as_one: Whether one line shows the progress of all operators.
    """

    rounds: Rounds
    workers: int
    as_json: bool
    hosts: HostAhead
    header: Mapping[str, Any] = field(default_factory=dict[str, Any])
    again: str = "mosaic run --resume"
    as_one: bool = False

    def play_part(
        self, part: ShardPlan, out: Path | None, begun: Path | None, kept: KeptSessions | None
    ) -> int:
        """Play a part, or what is left of it; returns the exit status."""
        return self.play(out, begun, part, kept=kept)

    def play(
        self,
        out: Path | None,
        resume: Path | None,
        part: ShardPlan | None,
        *,
        only: Mapping[str, Collection[int]] | None = None,
        kept: KeptSessions | None = None,
    ) -> int:
        """Play it, and say how it came out; returns the exit status."""
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
            with concluding(run.totals if shard is None else None):
                # Inside, so that a warning goes above the bars and not through them.
                logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
                self._warn()
                result = self.hosts.run(until_signal(run))
        return say_ended(result, self.as_json, run, self.again, shard)

    def _warn(self) -> None:
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
    """One line for all pairings of a tournament."""

    def shown(states: Sequence[OperatorProgress]) -> None:
        done, total, failed, live, steps = (sum(getattr(s, name) for s in states) for name in _COUNTS)
        show([OperatorProgress("tournament", "Tournament", done, total, failed, live, steps)])

    return shown


_COUNTS = ("done", "total", "failed", "live", "steps")


@contextmanager
def concluding(totals: Mapping[str, int] | None) -> Generator[None]:
    """Import what concludes a run in a thread, while its sessions start and play.

    Args:
        totals: Episodes by operator; ``None``: nothing is concluded.
    """
    if totals is None:
        yield
        return
    names = ["gym_gui.analysis.reporting", "gym_gui.analysis.compute.summary_builder"]
    if max(totals.values(), default=0) >= MIN_INTERVAL:
        names.append("scipy.special")  # for intervals

    def work() -> None:
        for name in names:
            import_module(name)

    thread = threading.Thread(target=work, name="imports")
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _chosen_episodes(resume: Path) -> Mapping[str, Collection[int]] | None:
    """The episodes that a resumed run plays, by operator; ``None``: all."""
    from gym_gui.controllers.reexecution.verification import (
        chosen_episodes,  # the engine, which plays elsewhere
    )

    return chosen_episodes(open_run(resume))


def _part(planned: PlannedExperiment, shard: Shard, resume: Path | None) -> ShardPlan:
    part = planner_of(planned.planned, planned.operators).plan(shard)
    if resume is not None:
        check_same(part, open_run(resume))
    return part


async def until_signal(run: ExperimentRun) -> RunResult:
    """Play to the end; Ctrl-C ends it early and keeps what is done."""
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


def say_ended(
    result: RunResult,
    as_json: bool,
    run: ExperimentRun,
    again: str = "mosaic run --resume",
    shard: Shard | None = None,
) -> int:
    """Say how a run came out, or that nothing was left to play; returns the exit status."""
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
        result: How the run ended.
        as_json: Print one JSON object.
        again: The command that resumes the run.
        shard: The part of an experiment that the run is. No report is printed for it: one part alone does
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
        tell(result.problem)
    if result.status == STOPPED and result.folder.is_dir():
        tell(f"stopped; go on with: {again} {result.folder}")
    if result.problem:
        return WORK_FAILED
    if result.status == STOPPED:
        return INTERRUPTED
    return WORK_FAILED if result.failed else DONE


def _record(result: RunResult, shard: Shard | None) -> dict[str, Any]:
    """The result of a run, for programs: how it ended, its verdicts, and the path of its report."""
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
        with suppress(UsageError):  # the record is returned without a report
            record["report"] = str(write_report(summary, run.path, [run]))
    return record
