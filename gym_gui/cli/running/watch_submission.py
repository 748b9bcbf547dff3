"""Implements ``mosaic runs watch``: shows the progress of a submission from its record."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis.words import wording
from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.progress import run_progress, train_progress
from gym_gui.cli.running.submission_progress import shown_by, shown_trainings, title_of
from gym_gui.core.errors import UsageError
from gym_gui.services.run_lock import is_being_written
from gym_gui.services.submissions.shard_progress import OnShardProgress, progress_of
from gym_gui.services.submissions.submission_record import (
    COLLECTED,
    STOPPED,
    ShardState,
    Submission,
    is_submission,
    open_submission,
)

_EVERY_S: Final = 1.0


def watch_submission(folder: Path, *, as_json: bool) -> int:
    """Show the progress of a submission until it is merged or no coordinator process follows it.

    Args:
        folder: Folder of the submission.
        as_json: Whether to print JSON.

    Returns:
        Exit status: 0 if the submission has been merged, 1 if the user has to resume it.

    Raises:
        UsageError: The folder is not a submission, or its record cannot be read.
    """
    if not is_submission(folder):
        raise UsageError(
            f"{folder} is no submission", fix="Pass the folder that mosaic run --executor printed"
        )
    submission = open_submission(folder)
    if submission.trainings is not None:
        return _watch_trainings(folder, as_json)
    with run_progress(as_json=as_json) as show:
        submission = _follow(folder, shown_by(show, submission.total))
    return _print_result(submission, as_json)


def _follow(folder: Path, tell: OnShardProgress) -> Submission:
    while True:
        # Check the lock before reading: the following process writes everything before it releases the lock.
        followed = is_being_written(folder)
        submission = open_submission(folder)
        tell(progress_of(submission))
        if submission.run or not followed:
            return submission
        time.sleep(_EVERY_S)


def _watch_trainings(folder: Path, as_json: bool) -> int:
    """Show the progress of a submission of trainings, print their states, and return the exit status."""
    begun = open_submission(folder)
    with train_progress(title_of(begun), as_json=as_json) as show:
        submission = _follow(folder, shown_trainings(show, lambda: open_submission(folder)))
    assert submission.trainings is not None
    rows = [_row(submission, number) for number in range(1, submission.of + 1)]
    here = sum(row["state"] in (COLLECTED, STOPPED) for row in rows)
    if as_json:
        write_json({"out": submission.run or None, "trainings": rows})
        return DONE if submission.run else WORK_FAILED
    for row in rows:
        last_return = (
            "" if row["mean_return"] is None else f", last return {wording.number(row['mean_return'])}"
        )
        where = f" on {row['place']}" if row["place"] else ""
        why = f": {row['problem']}" if row["problem"] else ""
        write_line(f"Seed {row['seed']}: {row['state']}{where}, {row['steps']:,} steps{last_return}{why}")
    if submission.run:
        write_line(f"Folder:  {submission.run}")
        return DONE
    write_line(f"{here} of {submission.of} trainings are collected; no process follows the others.")
    write_line(f"Resume it:  mosaic train --resume {submission.folder}")
    return WORK_FAILED


def _row(submission: Submission, number: int) -> dict[str, Any]:
    assert submission.trainings is not None
    state = submission.states.get(number) or ShardState()
    return {
        "seed": submission.trainings.part(number).seed,
        "state": state.status,
        "place": state.host,
        "steps": state.done,
        "mean_return": state.score,
        "problem": state.problem,
    }


def _print_result(submission: Submission, as_json: bool) -> int:
    progress = progress_of(submission)
    again = f"mosaic {submission.command} --resume {submission.folder}"
    if as_json:
        about = {"shards": progress.shards, "of": progress.of, "episodes": progress.done}
        write_json({"run": submission.run or None, **about, "failed": progress.failed})
    elif submission.run:
        write_line(f"Run:  {submission.run}")
    else:
        write_line(f"{progress.shards} of {progress.of} shards are collected; no process follows the others.")
        write_line(f"Resume it:  {again}")
    return DONE if submission.run else WORK_FAILED
