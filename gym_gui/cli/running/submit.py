"""Implements ``--executor`` of ``mosaic run`` and ``mosaic tournament``: plays and merges shards."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis.records.reader import open_run
from gym_gui.cli.errors import print_message
from gym_gui.cli.progress import run_progress
from gym_gui.cli.running.executor_commands import (
    ExecutorOptions,
    begun,
    clear,
    coordinate,
    detach,
    detach_resumed,
    new_folder,
    print_missing,
    reopened,
)
from gym_gui.cli.running.play_run import conclude
from gym_gui.cli.running.run import asked_experiment, with_budgets
from gym_gui.cli.running.submission_plan import print_hosts
from gym_gui.cli.running.submission_progress import shown_by
from gym_gui.cli.running.tournament import checked_tournament_run, plan_part, with_concurrency
from gym_gui.controllers.engine.resolved_operator import needs_of
from gym_gui.controllers.runs.budget_message import budget_message
from gym_gui.controllers.runs.cost_accounts import budgets_of
from gym_gui.controllers.runs.experiment_run import finished
from gym_gui.controllers.runs.matrix_check import resolve_all
from gym_gui.controllers.runs.script_execution import RunResult
from gym_gui.controllers.runs.shard_plan import has_budgets, plan_shard
from gym_gui.controllers.runs.shard_rounds import Batches, shards_for
from gym_gui.core.config import Experiment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.matrix_expansion import without
from gym_gui.core.experiment.shards import MOST_SHARDS, Shard, schedule_of
from gym_gui.core.experiment.spending import Amount, Amounts
from gym_gui.core.experiment.tournament import Tournament
from gym_gui.core.paths import runs_dir
from gym_gui.core.run_labels import LabelsError, change_labels, read_labels
from gym_gui.core.trusted.subjects import RequiredSubject
from gym_gui.host.prestart import CommandHosts
from gym_gui.services.experiment_file import load_experiment, load_tournament
from gym_gui.services.runs.recorder import STOPPED
from gym_gui.services.shards.run_merge import merge_shards
from gym_gui.services.shards.shard_budgets import ledger_sums_of
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.bundle import write_bundle
from gym_gui.services.submissions.coordinator import Coordinator
from gym_gui.services.submissions.executors import Profile, load_profile
from gym_gui.services.submissions.own_submissions import remember_submission
from gym_gui.services.submissions.shell import EXPERIMENT
from gym_gui.services.submissions.submission_record import FAILED, Submission

_SHARDS_PER_HOST: Final = 4
"""Number of shards per host or job; with four, a slow host delays the others by a quarter of its work."""
_MERGED: Final = "merged"
_INTERIM: Final = "looked-at"
"""Folder for the interim run, merged from the shards so far to decide whether to play another batch."""


@dataclass(frozen=True)
class _Request:
    """Experiment or tournament that a command line submits.

    Attributes:
        what: The experiment or tournament.
        command: Name of the command: ``run`` or ``tournament``.
        total: Number of episodes.
        needs: Code and programs that the user has allowed.
        seatings: Number of seatings by operator; empty for a tournament.
        budgets: Budgets by account.
        most_shards: Largest number of shards.
    """

    what: Experiment | Tournament
    command: str
    total: int
    needs: Sequence[RequiredSubject]
    seatings: Mapping[str, int]
    budgets: Amounts = field(default_factory=dict[str, Amount])
    most_shards: int = MOST_SHARDS


def submit_experiment(
    file: Path | None,
    where: ExecutorOptions,
    *,
    out: Path | None,
    episodes: int | None,
    concurrency: int | None,
    budgets: Mapping[str, float | None],
    as_json: bool,
) -> int:
    """Play an experiment on the hosts of an executor and print the result.

    Args:
        file: The experiment file.
        where: The executor and its profile, or the submission to resume.
        out: Folder for the run folder.
        episodes: Number of episodes, in place of the file's.
        concurrency: Number of concurrent episodes per process.
        budgets: Budgets of the whole experiment, by their key in ``execution``.
        as_json: Whether to print JSON.

    Returns:
        Exit status.

    Raises:
        UsageError: The user can fix the problem.
    """
    if where.resume is not None:
        if any(budget is not None for budget in budgets.values()):
            raise UsageError(
                "a submission cannot be resumed with other budgets",
                fix="Leave them out; the merged run can be resumed with other budgets",
            )
        return _resume(where, file, "run", as_json)
    profile = load_profile(where.executor or "", where.profile)
    with CommandHosts(wanted=False) as hosts:
        experiment = asked_experiment(
            file, None, None, episodes, concurrency, looked_at=False, places_of=hosts.places
        )
        experiment = with_budgets(experiment, budgets)
        resolved, problems = resolve_all(experiment, seats_of=hosts.seats, secrets=False)
    if problems:
        experiment = without(experiment, problems)
    plan_shard(experiment, resolved, Shard(1, 1), coordinated=True)  # raises an error if it cannot be divided
    seatings = {each.config.operator_id: len(each.seatings) for each in resolved}
    scheduled = schedule_of(experiment.execution, seatings)
    games, seeds = sum(each.episodes for each in scheduled), max(each.seeds for each in scheduled)
    request = _Request(experiment, "run", games, _needs(experiment), seatings)
    if has_budgets(experiment):
        request = replace(request, budgets=budgets_of(experiment, resolved), most_shards=seeds)
    return _submit(request, where, profile, out, as_json)


def submit_tournament(
    file: Path | None,
    where: ExecutorOptions,
    *,
    out: Path | None,
    concurrency: int | None,
    as_json: bool,
) -> int:
    """Play a tournament on the hosts of an executor and print the result.

    Args:
        file: Tournament file; ``None`` when a submission is resumed.
        where: The executor and its profile, or the submission to resume.
        out: Folder for the run folder.
        concurrency: Number of concurrent episodes per process.
        as_json: Whether to print JSON.

    Returns:
        Exit status.
    """
    if where.resume is not None:
        return _resume(where, file, "tournament", as_json)
    profile = load_profile(where.executor or "", where.profile)
    if file is None:
        raise UsageError(
            "a tournament file is needed", fix="For example: mosaic tournament FILE.yaml --executor ssh"
        )
    tournament = with_concurrency(load_tournament(file), concurrency)
    with CommandHosts(wanted=False) as hosts:
        tournament_run = checked_tournament_run(tournament, hosts)
    plan_part(tournament_run, Shard(1, 1), None)
    games = sum(tournament_run.totals.values())
    request = _Request(tournament, "tournament", games, _needs(tournament_run.experiment()), {})
    return _submit(request, where, profile, out, as_json)


def _needs(experiment: Experiment) -> list[RequiredSubject]:
    return [need for operator in experiment.operators for need in needs_of(operator)]


def _submit(
    request: _Request, where: ExecutorOptions, profile: Profile, out: Path | None, as_json: bool
) -> int:
    of = where.shards or min(request.total, request.most_shards, _SHARDS_PER_HOST * profile.places)
    decided = (
        request.what
        if isinstance(request.what, Experiment) and request.what.execution.until != "all"
        else None
    )
    if decided is not None:
        of = shards_for(decided.execution, request.seatings, of)
    if request.budgets and of > (most := _SHARDS_PER_HOST * profile.places):
        # A job that plays several shards in one process has only one lease of the budget.
        of = most
        if where.shards:
            print_message(
                f"cut into {of} shards: with budgets, at most {_SHARDS_PER_HOST} for each host or job"
            )
    if of > MOST_SHARDS:
        raise UsageError(f"--shards {of}: at most {MOST_SHARDS:,} are possible", fix="Give fewer")
    out = (out or runs_dir()).absolute()
    folder = new_folder(out)
    submission = Submission(
        folder, where.executor or "", profile.to_record(), request.command, of, request.total, out
    )
    submission.began_at, submission.at_once = _now(), min(of, profile.places)
    submission.needs = tuple(dict.fromkeys(need.subject for need in request.needs))
    if decided is not None:
        submission.seatings, submission.due = request.seatings, Batches(decided, request.seatings, of).first()
    if where.dry_run:
        return print_hosts(
            submission, lambda bundle: write_bundle(bundle, request.what, request.needs), as_json=as_json
        )
    write_bundle(folder / "bundle", request.what, request.needs)
    if request.budgets:
        BudgetLeases(folder, request.budgets, submission.at_once).save()
    remember_submission(submission)
    if where.detach:
        submission.save()
        return detach(submission, as_json=as_json)
    with begun(submission):
        return _follow(submission, as_json)


def _resume(where: ExecutorOptions, file: Path | None, command: str, as_json: bool) -> int:
    if file is not None or where.shards is not None:
        raise UsageError(
            "a submission cannot be resumed with another experiment or number of shards",
            fix=f"Give --resume {where.resume} alone",
        )
    if where.detach:
        return detach_resumed(where, command, as_json=as_json)
    with reopened(where, command) as submission:
        return _follow(submission, as_json)


def _follow(submission: Submission, as_json: bool) -> int:
    """Play a submission, collect its shards and merge them into one run; return the exit status."""
    coordinator: Coordinator | None = None
    if submission.run:
        print_message("nothing is left to play")
    else:
        coordinator = _play(submission, as_json)
        if (status := _missing(submission, coordinator)) is not None:
            return status
        _merge(submission)
    clear(submission, coordinator)
    return conclude(_finish(submission), as_json)


def _play(submission: Submission, as_json: bool) -> Coordinator:
    """Play a submission; if the experiment runs until its comparisons are decided, play batch after batch."""
    leases = BudgetLeases.open(submission.folder)
    with run_progress(as_json=as_json) as show:
        while True:
            shown = shown_by(show, submission.total)
            coordinator = coordinate(submission, shown, leases)
            if submission.due is None or coordinator.is_stopped or submission.numbers(FAILED):
                return coordinator
            if not _add_batch(submission, submission.due):
                return coordinator


def _add_batch(submission: Submission, due: list[int]) -> bool:
    """Add the next batch if comparisons are still undecided, and return whether one was added.

    If none is needed, the interim run becomes the merged run.
    """
    if _merged_aside(submission) is not None:
        return False
    experiment = load_experiment(submission.bundle / EXPERIMENT, allow_code=False)
    batches = Batches(experiment, submission.seatings, submission.of)
    place = submission.folder / _INTERIM
    shutil.rmtree(place, ignore_errors=True)  # left by a killed process; merging again gives the same
    run = merge_shards(
        [submission.shards], place, planned=batches.planned(due), times=_times(submission)
    ).folder
    more = asyncio.run(batches.take_interim_looks(run))
    if not more:
        place.rename(submission.folder / _MERGED)
        return False
    submission.due = [*due, *more]
    submission.save()
    return True


def _times(submission: Submission) -> tuple[str, str]:
    """Return start and end of the submission by the local clock, because the hosts' clocks may be wrong."""
    now = _now()
    return min(submission.began_at or now, now), now


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _merged_aside(submission: Submission) -> Path | None:
    """Return the folder of the merged run, before it moves to its final folder; ``None`` if there is none."""
    return next((file.parent for file in (submission.folder / _MERGED).glob("*/run.json")), None)


def _missing(submission: Submission, coordinator: Coordinator) -> int | None:
    """Print which shards are missing and return the exit status; return ``None`` if none is missing."""

    def unmerged(more: int) -> str:
        rest = f" ({more} further shards)" if more else ""
        return f"nothing was merged{rest}; remove the cause, then resume with"

    return print_missing(submission, coordinator, "is missing", unmerged, "finished episodes are kept")


def _merge(submission: Submission) -> None:
    """Merge the shards into one run, unless an earlier process that was killed has already merged them."""
    merged = _merged_aside(submission)
    if merged is None:
        leases, how = BudgetLeases.open(submission.folder), dict[str, Any]()
        if leases is not None:
            parts = [file.parent for file in submission.shards.glob("*/run.json")]
            how["lost"] = leases.uncollected_spending(ledger_sums_of(parts))
            how["short"] = budget_message(leases, leases.budgets, leases.needed) if leases.ended else ""
        place = submission.folder / _MERGED
        merged = merge_shards([submission.shards], place, times=_times(submission), **how).folder
    submission.run = str(submission.out / merged.name)
    submission.save()


def _finish(submission: Submission) -> RunResult:
    """Move the merged run to its final folder and return its result.

    Raises:
        UsageError: The run no longer exists.
    """
    run, aside = Path(submission.run), submission.folder / _MERGED
    if (aside / run.name).is_dir():
        (aside / run.name).rename(run)
        _copy_labels(submission.folder, run)
    for parts in (submission.shards, submission.folder / _INTERIM):
        shutil.rmtree(parts, ignore_errors=True)  # the run contains everything from them
    merged = open_run(run)
    if merged.record.status == STOPPED:  # because a budget was used up
        rows = [
            row for operator in merged.operators.values() for row in operator.episodes() if not row.is_open
        ]
        failed = sum(row.status is EpisodeStatus.FAILED for row in rows)
        return RunResult(run, STOPPED, len(rows), failed, merged.record.problem or "")
    result = finished(run, dict.fromkeys(merged.operators, 0))
    assert result is not None, "a merged run has ended"
    return result


def _copy_labels(submission: Path, run: Path) -> None:
    """Copy the submission's labels (name, tags, notes) to the run."""
    try:
        if given := read_labels(submission).to_data():
            change_labels(run, given)
    except LabelsError as error:
        print_message(str(error))
