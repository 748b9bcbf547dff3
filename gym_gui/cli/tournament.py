"""``mosaic tournament``: a pool of policies, everybody against everybody, as one run."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gym_gui.analysis.reader import Run, open_run
from gym_gui.cli.errors import DONE
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.play import conclude, finished, perform, say_finished
from gym_gui.cli.progress import run_progress
from gym_gui.cli.run import asked_shard
from gym_gui.controllers.contest import Contest
from gym_gui.controllers.operator_execution import OperatorProgress
from gym_gui.controllers.script_execution import OnProgress, RunResult
from gym_gui.controllers.shard_plan import ShardPlan, check_same, plan_shard
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run
from gym_gui.core.pool import assignments_of
from gym_gui.core.shards import Shard
from gym_gui.core.tournament import Tournament
from gym_gui.host.ahead import HostAhead
from gym_gui.processes.cores import usable_cores
from gym_gui.services.experiment_file import load_tournament, resolve_secrets
from gym_gui.services.recorder import COMPLETED
from gym_gui.services.versions import commit, machine


def run_tournament(
    file: Path | None,
    *,
    out: Path | None = None,
    concurrency: int | None = None,
    processes: int | None = None,
    resume: Path | None = None,
    shard: str | None = None,
    dry_run: bool = False,
    as_json: bool = False,
    hosts: HostAhead,
) -> int:
    """Play a tournament, or what is new of one in the folder that it has.

    Args:
        file: Tournament file; left out: the tournament of ``resume``.
        out: Folder for the run folder.
        concurrency: Episodes in flight per process.
        processes: Session processes.
        resume: A run folder to go on with.
        shard: Which part of how many, as ``3/64``, where not all of it is played.
        dry_run: Play nothing: say who would meet whom.
        as_json: For programs.
        hosts: Where it is played.

    Returns:
        Exit status.

    Raises:
        UsageError: Something the person can fix; nothing was played.
    """
    if file is None and resume is None:
        raise UsageError(
            "a tournament file or --resume is needed", fix="For example: mosaic tournament FILE.yaml"
        )
    part = asked_shard(shard, resume)
    folder = find_run(resume) if resume is not None else None
    before = open_run(folder) if folder is not None else None
    source = file or folder
    assert source is not None
    tournament = with_concurrency(load_tournament(source), concurrency)
    contest = Contest.of(tournament, before=before)
    for player in tournament.policies.values():
        for each in assignments_of(player):
            resolve_secrets(each)
    plan = plan_part(contest, part if before is None else Shard.of_run(before.record.extra), before)
    if dry_run:
        return _say_plan(contest, plan, as_json)
    workers = processes or tournament.execution.processes or usable_cores()
    with run_progress(as_json=as_json) as show:
        logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
        result, played = _play(contest, plan, out, folder, workers, _as_one(show), hosts)
    shard_played = None if plan is None else plan.shard
    if not played and not as_json:
        return say_finished(result, as_json, shard_played)
    return conclude(result, as_json, "mosaic tournament --resume", shard_played)


def plan_part(contest: Contest, shard: Shard | None, before: Run | None) -> ShardPlan | None:
    """What a part of a tournament plays; ``None``: all of it is played.

    Raises:
        UsageError: Its parts would need each other, or it is not what ``before`` was begun with.
    """
    if shard is None:
        return None
    if contest.tournament.schedule.kind == "swiss":
        raise UsageError(
            "a Swiss tournament pairs each round by the results of those before, which no shard has",
            fix="Use schedule: round_robin, or write who meets; or play it without --shard",
        )
    plan = plan_shard(contest.experiment(), contest.resolved(), shard)
    if before is not None:
        check_same(plan, before)
    return plan


def with_concurrency(tournament: Tournament, concurrency: int | None) -> Tournament:
    if concurrency is None:
        return tournament
    return replace(tournament, execution=replace(tournament.execution, concurrency=concurrency))


def _play(
    contest: Contest,
    plan: ShardPlan | None,
    out: Path | None,
    folder: Path | None,
    workers: int,
    show: OnProgress,
    hosts: HostAhead,
) -> tuple[RunResult, bool]:
    """Play round after round into one folder; also whether there was anything to play."""
    about = {"machine": machine(), "commit": commit(Path(__file__).parent)}
    played = False
    only = None if plan is None else plan.only
    while True:
        header = {**about, **contest.header}
        totals = contest.totals
        if plan is not None:
            totals = plan.totals(list(contest.pairings))
            header = {**header, **plan.header}
        result = finished(folder, totals) if folder is not None else None
        if result is None:
            result = perform(
                contest.experiment(),
                contest.resolved(),
                out,
                workers,
                header,
                hosts=hosts,
                resume=folder,
                show=show,
                tried=contest.tried(only),
                only=only,
            )
            played = True
        folder = result.folder
        if result.status not in (COMPLETED, "failed") or result.problem:
            return result, played
        if not contest.next_round(open_run(folder)):
            return result, played


def _as_one(show: OnProgress) -> OnProgress:
    """One line for all pairings."""

    def shown(states: Sequence[OperatorProgress]) -> None:
        done, total, failed, live, steps = (sum(getattr(s, name) for s in states) for name in _COUNTS)
        show([OperatorProgress("tournament", "Tournament", done, total, failed, live, steps)])

    return shown


_COUNTS = ("done", "total", "failed", "live", "steps")


def _say_plan(contest: Contest, plan: ShardPlan | None, as_json: bool) -> int:
    experiment = contest.experiment()
    games = experiment.execution.num_episodes
    if as_json:
        part = {} if plan is None else plan.header
        write_json({"experiment": experiment.to_record(), **contest.header, **part})
        return DONE
    task = contest.tournament.operator.task
    if contest.is_cross_play:
        stay = "" if contest.seatings > 1 else ", in which policies stay"
        write_line(f"{task}, cross-play; seats: {', '.join(contest.sides)}{stay}")
    else:
        sides = ", ".join(f"{side} ({', '.join(slots)})" for side, slots in contest.sides.items())
        write_line(f"{task}; sides: {sides}")
    if plan is not None:
        games = sum(map(len, plan.only.values()))
        for key, of in plan.only.items():
            write_line(f"  {contest.title(contest.pairings[key])}: games {of[0]} to {of[-1]}")
        write_line(f"{plan.shard.words.capitalize()}: {games:,} games. Nothing was played.")
        return DONE
    for pairing in contest.pairings.values():
        write_line(f"  {contest.title(pairing)}")
    if contest.tournament.schedule.kind == "swiss":
        write_line(
            f"Round {len(contest.rounds)} of {contest.tournament.rounds}; later ones go by the results."
        )
    count = len(contest.pairings)
    write_line(f"{count} pairings, {games:,} games each: {count * games:,} games. Nothing was played.")
    return DONE
