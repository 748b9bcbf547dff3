"""Implements ``mosaic runs stop``: stops a submission and everything that plays for it."""

from __future__ import annotations

from pathlib import Path

from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.running.executor_commands import ExecutorOptions, coordinate, reopened
from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.follower import end_following, follower_of
from gym_gui.services.submissions.shard_progress import progress_of
from gym_gui.services.submissions.submission_record import SENT, is_submission, open_submission


def stop_submission(folder: Path, *, as_json: bool) -> int:
    """Stop everything that is played for a submission, wait for its end, and print the result.

    Args:
        folder: Folder of the submission.
        as_json: Whether to print JSON.

    Returns:
        Exit status: 1 if a host did not answer, so that its shards may continue.

    Raises:
        UsageError: The folder is not a submission, or a process on another machine follows it.
    """
    if not is_submission(folder):
        raise UsageError(
            f"{folder} is no submission", fix="Pass the folder that mosaic run --executor printed"
        )
    if (follower := follower_of(folder)) is not None:
        end_following(folder, follower)
    submission = open_submission(folder)
    if submission.numbers(SENT) and not submission.run:
        with reopened(ExecutorOptions(None, None, None, folder), submission.command) as submission:
            coordinate(submission, lambda _: None, BudgetLeases.open(folder), to_end=True)
    progress, left = progress_of(submission), len(submission.numbers(SENT))
    about = {"shards": progress.shards, "of": progress.of, "done": progress.done}
    if as_json:
        write_json({"run": submission.run or None, **about, "may_go_on": left})
    elif submission.run:
        write_line(f"Ended already, run:  {submission.run}")
    else:
        write_line(
            f"{progress.shards} of {progress.of} {submission.parts} collected; {progress.done:,} done."
        )
        if left:
            write_line(f"{left} may continue, because their hosts did not answer.")
        write_line(f"Resume it:  mosaic {submission.command} --resume {submission.folder}")
    return WORK_FAILED if left else DONE
