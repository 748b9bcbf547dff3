"""``mosaic runs watch``: how far a submission is, by its record, whoever follows it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.progress import run_progress
from gym_gui.cli.submission_progress import shown_by
from gym_gui.core.errors import UsageError
from gym_gui.services.run_lock import is_being_written
from gym_gui.services.submissions.coordinator import standing_of
from gym_gui.services.submissions.record import Submission, is_submission, open_submission

_EVERY_S: Final = 1.0


def watch_submission(folder: Path, *, as_json: bool) -> int:
    """Show how far a submission is until it has ended, or nobody follows it any more.

    Args:
        folder: The submission's.
        as_json: For programs.

    Returns:
        Exit status: 0 where it has been merged, 1 where somebody has to go on with it.

    Raises:
        UsageError: It is none, or its record cannot be read.
    """
    if not is_submission(folder):
        raise UsageError(
            f"{folder} is no submission", fix="Give the folder that mosaic run --executor has named"
        )
    with run_progress(as_json=as_json) as show:
        while True:
            # Asked first: who follows it has written all when it lets go.
            followed = is_being_written(folder)
            submission = open_submission(folder)
            shown_by(show, submission.total)(standing_of(submission))
            if submission.run or not followed:
                break
            time.sleep(_EVERY_S)
    return _say(submission, as_json)


def _say(submission: Submission, as_json: bool) -> int:
    standing = standing_of(submission)
    again = f"mosaic {submission.command} --resume {submission.folder}"
    if as_json:
        about = {"shards": standing.shards, "of": standing.of, "episodes": standing.done}
        write_json({"run": submission.run or None, **about, "failed": standing.failed})
    elif submission.run:
        write_line(f"Run:  {submission.run}")
    else:
        write_line(f"{standing.shards} of {standing.of} shards are here, and nobody follows the others.")
        write_line(f"Go on with it:  {again}")
    return DONE if submission.run else WORK_FAILED
