"""``mosaic tournament``: a pool of policies, everybody against everybody, as one run."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gym_gui.analysis.reader import open_run
from gym_gui.cli.errors import DONE
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.play import conclude, finished, perform, say_finished
from gym_gui.cli.progress import run_progress
from gym_gui.controllers.contest import Contest
from gym_gui.controllers.operator_execution import OperatorProgress
from gym_gui.controllers.script_execution import OnProgress, RunResult
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run
from gym_gui.core.pool import assignments_of
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
    folder = find_run(resume) if resume is not None else None
    before = open_run(folder) if folder is not None else None
    source = file or folder
    assert source is not None
    tournament = _with_concurrency(load_tournament(source), concurrency)
    contest = Contest.of(tournament, before=before)
    for player in tournament.policies.values():
        for each in assignments_of(player):
            resolve_secrets(each)
    if dry_run:
        return _say_plan(contest, as_json)
    workers = processes or tournament.execution.processes or usable_cores()
    with run_progress(as_json=as_json) as show:
        logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
        result, played = _play(contest, out, folder, workers, _as_one(show), hosts)
    if not played and not as_json:
        return say_finished(result, as_json)
    return conclude(result, as_json, "mosaic tournament --resume")


def _with_concurrency(tournament: Tournament, concurrency: int | None) -> Tournament:
    if concurrency is None:
        return tournament
    return replace(tournament, execution=replace(tournament.execution, concurrency=concurrency))


def _play(
    contest: Contest,
    out: Path | None,
    folder: Path | None,
    workers: int,
    show: OnProgress,
    hosts: HostAhead,
) -> tuple[RunResult, bool]:
    """Play round after round into one folder; also whether there was anything to play."""
    about = {"machine": machine(), "commit": commit(Path(__file__).parent)}
    played = False
    while True:
        header = {**about, **contest.header}
        result = finished(folder, contest.totals) if folder is not None else None
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
                tried=contest.tried,
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


def _say_plan(contest: Contest, as_json: bool) -> int:
    experiment = contest.experiment()
    games = experiment.execution.num_episodes
    if as_json:
        write_json({"experiment": experiment.to_record(), **contest.header})
        return DONE
    task = contest.tournament.operator.task
    if contest.is_cross_play:
        stay = "" if contest.seatings > 1 else ", in which policies stay"
        write_line(f"{task}, cross-play; seats: {', '.join(contest.sides)}{stay}")
    else:
        sides = ", ".join(f"{side} ({', '.join(slots)})" for side, slots in contest.sides.items())
        write_line(f"{task}; sides: {sides}")
    for pairing in contest.pairings.values():
        write_line(f"  {contest.title(pairing)}")
    if contest.tournament.schedule.kind == "swiss":
        write_line(
            f"Round {len(contest.rounds)} of {contest.tournament.rounds}; later ones go by the results."
        )
    count = len(contest.pairings)
    write_line(f"{count} pairings, {games:,} games each: {count * games:,} games. Nothing was played.")
    return DONE
