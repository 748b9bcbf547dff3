"""Implements ``mosaic tournament``: plays the pairings of a pool of policies as one run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.cli.errors import DONE
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.running.dry_run import print_load_notes
from gym_gui.cli.running.experiment_parts import ExperimentShardPlayer, asked_parts
from gym_gui.cli.running.play_run import CheckedRun
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.shard_plan import ShardPlan, check_same, plan_shard
from gym_gui.controllers.runs.tournament_run import TournamentRun
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.shards import Shard
from gym_gui.core.experiment.tournament import Tournament
from gym_gui.core.experiment.tournament_pool import assignments_of
from gym_gui.core.paths import find_run
from gym_gui.host.prestart import CommandHosts
from gym_gui.processes.cores import usable_cores
from gym_gui.services.experiment_file import load_tournament, resolve_secrets


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
    hosts: CommandHosts,
) -> int:
    """Play a tournament, or the missing games of an existing run folder.

    Args:
        file: Tournament file; ``None`` for the tournament of ``resume``.
        out: Folder for the run folder.
        concurrency: Number of concurrent episodes per process.
        processes: Number of session processes.
        resume: A run folder to resume.
        shard: Shards to play, as ``3/64`` or ``1-16/64``; ``None`` for the whole tournament.
        dry_run: Whether to play nothing and only print the pairings.
        as_json: Whether to print JSON.
        hosts: Opens the session processes and reads the environments' slots.

    Returns:
        Exit status.

    Raises:
        UsageError: The user can fix the problem; nothing was played.
    """
    if file is None and resume is None:
        raise UsageError(
            "a tournament file or --resume is needed", fix="For example: mosaic tournament FILE.yaml"
        )
    parts = asked_parts(shard, resume)
    if parts is not None and file is None:
        raise UsageError(
            "a tournament file is needed", fix=f"For example: mosaic tournament FILE.yaml --shard {shard}"
        )
    if parts is not None and file is not None and not dry_run:
        player = tournament_parts(
            file,
            concurrency=concurrency,
            processes=processes,
            as_json=as_json,
            hosts=hosts,
            keep=len(parts.shards) > 1,
        )
        return parts.play(player, out, f"mosaic tournament {file}")
    folder = find_run(resume) if resume is not None and parts is None else None
    before = open_run(folder) if folder is not None else None
    tournament_run = _tournament_run(file or folder, concurrency, before, hosts)
    part = None if parts is None else parts.only
    plan = plan_part(tournament_run, part if before is None else Shard.of_run(before.record.extra), before)
    if dry_run:
        from gym_gui.cli.running.dry_run_checks import check_dry_run

        workers = _workers(tournament_run, processes)
        print_load_notes(hosts.run(check_dry_run(tournament_run.experiment(), workers, models=False)).notes)
        return _print_plan(tournament_run, plan, as_json)
    return _checked(tournament_run, processes, as_json, hosts).play(out, folder, plan)


def tournament_parts(
    file: Path,
    *,
    concurrency: int | None,
    processes: int | None,
    as_json: bool,
    hosts: CommandHosts,
    keep: bool,
) -> ExperimentShardPlayer:
    """Read and check a tournament once, and return an object that plays its shards one after the other.

    Args:
        file: Tournament file.
        concurrency: Number of concurrent episodes per process.
        processes: Number of session processes.
        as_json: Whether to print JSON.
        hosts: Opens the session processes and reads the environments' slots.
        keep: Whether several shards are played, which share sessions.

    Raises:
        UsageError: The user can fix the problem; nothing was played.
    """
    tournament_run = _tournament_run(file, concurrency, None, hosts)
    check_has_parts(tournament_run)
    checked = _checked(tournament_run, processes, as_json, hosts)
    return ExperimentShardPlayer(
        tournament_run.experiment(), tournament_run.resolved(), checked.play_part, hosts, keep=keep
    )


def _tournament_run(
    source: Path | None, concurrency: int | None, before: Run | None, hosts: CommandHosts
) -> TournamentRun:
    assert source is not None
    tournament = with_concurrency(load_tournament(source), concurrency)
    tournament_run = checked_tournament_run(tournament, hosts, before)
    for player in tournament.policies.values():
        for each in assignments_of(player):
            resolve_secrets(each)
    return tournament_run


def checked_tournament_run(
    tournament: Tournament, hosts: CommandHosts, before: Run | None = None
) -> TournamentRun:
    """Return a tournament checked against its environment, which is created in another process.

    Raises:
        UsageError: The tournament cannot be played, see :meth:`TournamentRun.of`.
    """
    check = partial(resolve_operator, seats_of=hosts.seats)
    return TournamentRun.of(tournament, before=before, seats_of=hosts.seats, check=check)


def _workers(tournament_run: TournamentRun, processes: int | None) -> int:
    return processes or tournament_run.tournament.execution.processes or usable_cores()


def check_has_parts(tournament_run: TournamentRun) -> None:
    """Raise an error if a tournament cannot be divided into shards, because later pairings depend on results.

    Raises:
        UsageError: The tournament is a Swiss tournament.
    """
    if tournament_run.tournament.schedule.kind == "swiss":
        raise UsageError(
            "a Swiss tournament pairs each round by the results of earlier rounds, which no shard has",
            fix="Use schedule: round_robin or a list of pairings, or leave --shard out",
        )


def plan_part(tournament_run: TournamentRun, shard: Shard | None, before: Run | None) -> ShardPlan | None:
    """Return the plan of a shard of a tournament; ``None`` for the whole tournament.

    Raises:
        UsageError: The tournament cannot be divided, or ``before`` is a different shard.
    """
    if shard is None:
        return None
    check_has_parts(tournament_run)
    plan = plan_shard(tournament_run.experiment(), tournament_run.resolved(), shard)
    if before is not None:
        check_same(plan, before)
    return plan


def with_concurrency(tournament: Tournament, concurrency: int | None) -> Tournament:
    if concurrency is None:
        return tournament
    return replace(tournament, execution=replace(tournament.execution, concurrency=concurrency))


def _checked(
    tournament_run: TournamentRun, processes: int | None, as_json: bool, hosts: CommandHosts
) -> CheckedRun:
    again = "mosaic tournament --resume"
    return CheckedRun(
        tournament_run, _workers(tournament_run, processes), as_json, hosts, again=again, as_one=True
    )


def _print_plan(tournament_run: TournamentRun, plan: ShardPlan | None, as_json: bool) -> int:
    experiment = tournament_run.experiment()
    games = experiment.execution.num_episodes
    if as_json:
        part = {} if plan is None else plan.header
        write_json({"experiment": experiment.to_record(), **tournament_run.header, **part})
        return DONE
    task = tournament_run.tournament.operator.task
    if tournament_run.is_cross_play:
        stay = "" if tournament_run.seatings > 1 else ", fixed for each policy"
        write_line(f"{task}, cross-play; seats: {', '.join(tournament_run.sides)}{stay}")
    else:
        sides = ", ".join(f"{side} ({', '.join(slots)})" for side, slots in tournament_run.sides.items())
        write_line(f"{task}; sides: {sides}")
    if plan is not None:
        games = sum(map(len, plan.only.values()))
        for key, of in plan.only.items():
            write_line(f"  {tournament_run.title(tournament_run.pairings[key])}: games {of[0]} to {of[-1]}")
        write_line(f"{plan.shard.words.capitalize()}: {games:,} games. Nothing was played.")
        return DONE
    for pairing in tournament_run.pairings.values():
        write_line(f"  {tournament_run.title(pairing)}")
    if tournament_run.tournament.schedule.kind == "swiss":
        rounds = f"Round {len(tournament_run.rounds)} of {tournament_run.tournament.rounds}"
        write_line(f"{rounds}; later rounds depend on the results.")
    count = len(tournament_run.pairings)
    write_line(f"{count} pairings, {games:,} games each: {count * games:,} games. Nothing was played.")
    return DONE
