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
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gym_gui.analysis.distributions import MIN_INTERVAL
from gym_gui.analysis.reader import open_run
from gym_gui.cli.errors import DONE, INTERRUPTED, WORK_FAILED, tell
from gym_gui.cli.progress import run_progress
from gym_gui.controllers.matrix_check import resolve_all, tried_of
from gym_gui.controllers.model_slots import DRY_RUN, dry, replayed, slots_with
from gym_gui.controllers.resolved_operator import ResolvedOperator, vouch
from gym_gui.controllers.script_execution import OnProgress, OperatorScriptExecutionManager, RunResult
from gym_gui.core.config import Experiment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import UsageError
from gym_gui.core.matrix_table import missing_in_words
from gym_gui.core.paths import runs_dir
from gym_gui.host.ahead import HostAhead
from gym_gui.processes.cores import usable_cores
from gym_gui.services.recorder import COMPLETED, FAILED, REPLAY, STOPPED
from gym_gui.services.versions import commit, machine

if TYPE_CHECKING:
    from gym_gui.cli.parts import PartPlayer
    from gym_gui.controllers.kept_sessions import KeptSessions
    from gym_gui.controllers.shard_plan import ShardPlan
    from gym_gui.core.shards import Shard
    from gym_gui.services.lease_files import LeaseFiles


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
        resume: A run folder to go on with.
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
    staffed = replayed(experiment, open_run(replay)) if replay is not None else experiment
    played = set(open_run(resume).operators) if resume is not None else set[str]()
    resolved_operators, problems = resolve_all(dry(staffed) if models else staffed, played)
    for operator in staffed.operators if models else ():
        if operator.operator_id not in problems:
            vouch(operator)  # dry() has left the keys out, and with them the servers they would be sent to
    if problems:
        from gym_gui.core.matrix_expansion import without

        experiment = without(experiment, problems)
    only, part = _chosen_episodes(resume) if resume is not None else None, None
    if shard is not None:
        part = _part(experiment, resolved_operators, shard, resume)
        only = part.only if only is None else only
    workers = processes or experiment.execution.processes or usable_cores()
    if dry_run:
        from gym_gui.cli.dry_run import say_notes, say_plan
        from gym_gui.cli.looking_ahead import look_ahead

        playing = [o for o in staffed.operators if o.operator_id not in problems]
        ahead = look_ahead(Experiment(playing, staffed.execution), workers, models=models)
        found = hosts.run(ahead)
        say_notes(found.notes)
        say_plan(experiment, resolved_operators, workers, found.slots, part, as_json=as_json)
        return DONE
    table = _Table(experiment, resolved_operators, workers, header_of(replay), as_json, hosts)
    return table.play(out, resume, part, only)


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
    from gym_gui.cli.parts import PartPlayer

    resolved_operators, problems = resolve_all(experiment)
    if problems:
        from gym_gui.core.matrix_expansion import without

        experiment = without(experiment, problems)
    workers = processes or experiment.execution.processes or usable_cores()
    table = _Table(experiment, resolved_operators, workers, header_of(), as_json, hosts)
    return PartPlayer(experiment, resolved_operators, table.play_part, hosts, keep=keep)


@dataclass(frozen=True)
class _Table:
    """An experiment that can be played: its operators checked, and how."""

    experiment: Experiment
    resolved_operators: Sequence[ResolvedOperator]
    workers: int
    header: Mapping[str, Any]
    as_json: bool
    hosts: HostAhead

    def play_part(
        self, part: ShardPlan, out: Path | None, begun: Path | None, kept: KeptSessions | None
    ) -> int:
        """Play a part, or what is left of it; returns the exit status."""
        return self.play(out, begun, part, part.only, kept)

    def play(
        self,
        out: Path | None,
        resume: Path | None,
        part: ShardPlan | None,
        only: Mapping[str, Collection[int]] | None,
        kept: KeptSessions | None = None,
    ) -> int:
        """Play it, and say how it came out; returns the exit status."""
        experiment, as_json = self.experiment, self.as_json
        shard = None if part is None else part.shard
        totals: dict[str, int] = {}
        for resolved in self.resolved_operators:
            name = resolved.config.operator_id
            experiment.execution.check_seeds(len(resolved.seatings))
            totals[name] = experiment.execution.num_episodes if only is None else len(only.get(name, ()))
        shorter = experiment.execution.until == "decided"
        if resume is not None and (done := finished(resume, totals, shorter=shorter)) is not None:
            return say_finished(done, as_json, shard)
        with run_progress(as_json=as_json) as show, concluding(totals if shard is None else None):
            # Inside, so that a warning goes above the bars and not through them.
            logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
            self._warn()
            result = perform(
                experiment,
                self.resolved_operators,
                out,
                self.workers,
                {**self.header, **(part.header if part is not None else {})},
                hosts=self.hosts,
                resume=resume,
                show=show,
                tried=None if experiment.matrix is None else tried_of(self.resolved_operators),
                only=only,
                kept=kept,
                leased=None if part is None else _leased(),
            )
        return conclude(result, as_json, shard=shard)

    def _warn(self) -> None:
        log = logging.getLogger(__name__)
        for line in missing_in_words(self.experiment.matrix.rows) if self.experiment.matrix else ():
            log.warning("Not played: %s.", line)
        for resolved in self.resolved_operators:
            for note in resolved.notes:
                log.warning("Note: %s (operator %s).", note, resolved.config.operator_id)


def _leased() -> LeaseFiles | None:
    from gym_gui.cli.parts import leased_here  # few runs are parts of one

    return leased_here()


@contextmanager
def concluding(totals: Mapping[str, int] | None) -> Generator[None]:
    """Import what concludes a run in a thread, while its sessions start and play.

    Args:
        totals: Episodes by operator; ``None``: nothing is concluded.
    """
    if totals is None:
        yield
        return
    names = ["gym_gui.analysis.reporting", "gym_gui.analysis.summary_builder"]
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
    """Which episodes a run plays that is gone on with; ``None``: all."""
    from gym_gui.controllers.verification import chosen_episodes  # the engine, which plays elsewhere

    return chosen_episodes(open_run(resume))


def _part(
    experiment: Experiment,
    resolved_operators: Sequence[ResolvedOperator],
    shard: Shard,
    resume: Path | None,
) -> ShardPlan:
    from gym_gui.cli.parts import planner_of  # few runs are parts of one
    from gym_gui.controllers.shard_plan import check_same

    part = planner_of(experiment, resolved_operators).plan(shard)
    if resume is not None:
        check_same(part, open_run(resume))
    return part


def perform(
    experiment: Experiment,
    resolved_operators: Sequence[ResolvedOperator],
    out: Path | None,
    processes: int,
    header: Mapping[str, Any],
    *,
    hosts: HostAhead,
    resume: Path | None,
    show: OnProgress,
    tried: Collection[str] | None = None,
    only: Mapping[str, Collection[int]] | None = None,
    kept: KeptSessions | None = None,
    leased: LeaseFiles | None = None,
) -> RunResult:
    """Play an experiment that was checked, over session processes; Ctrl-C ends it and keeps what is done.

    Args:
        experiment: What is played.
        resolved_operators: Its operators.
        out: Folder for the run folder.
        processes: Session processes.
        header: More for ``run.json``.
        hosts: Where it is played.
        resume: A run folder to go on with.
        show: Told how far it is.
        tried: Operators that are tried before anything is played; all of them by default.
        only: Episodes that are played, by operator; all of the schedule by default.
        kept: Sessions that are handed from one part of the experiment to the next.
        leased: Where a shard is told what it may spend of the budgets of all.

    Raises:
        UsageError: Something the person can fix; nothing was played.
    """
    manager = OperatorScriptExecutionManager(
        experiment,
        resolved_operators,
        hosts.open_session,
        out or runs_dir(),
        processes=processes,
        header=header,
        resume=resume,
        on_progress=show,
        tried=tried,
        only=only,
        kept=kept,
        leased=leased,
    )
    return hosts.run(_run(manager))


def header_of(replay: Path | None = None) -> dict[str, Any]:
    """What ``run.json`` says of a run beside the experiment: the machine, the code.

    Args:
        replay: The run whose recorded calls stand in for the models.
    """
    header = {"machine": machine(), "commit": commit(Path(__file__).parent)}
    # The experiment stays what it was: only where replies came from is another, also after --resume.
    return header if replay is None else {**header, REPLAY: str(replay.absolute())}


def finished(folder: Path, totals: dict[str, int], *, shorter: bool = False) -> RunResult | None:
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


def say_finished(result: RunResult, as_json: bool, shard: Shard | None = None) -> int:
    """Say that a run has nothing left to play; returns the exit status."""
    if not as_json:
        failed = f", {result.failed} of them failed" if result.failed else ""
        sys.stdout.write(
            f"Nothing is left to play: all {result.episodes} episodes are done{failed}.\n"
            f"See: mosaic report {result.folder}\n"
        )
        return WORK_FAILED if result.failed else DONE
    return conclude(result, as_json, shard=shard)


async def _run(manager: OperatorScriptExecutionManager) -> RunResult:
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        loop.add_signal_handler(number, manager.stop)
    try:
        return await manager.run()
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def conclude(
    result: RunResult, as_json: bool, again: str = "mosaic run --resume", shard: Shard | None = None
) -> int:
    """Print what came of a run.

    Args:
        result: How it ended.
        as_json: For programs.
        again: What goes on with it.
        shard: The part of an experiment that it is: nobody is better by that alone.

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
    """What came of a run, for programs: how it went, who is better, and where that stands."""
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
        with suppress(UsageError):  # what was played is told, also where nothing more can be written
            record["report"] = str(write_report(summary, run.path, [run]))
    return record
