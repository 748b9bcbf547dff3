"""``mosaic runs stop``: ends what is being played of a submission, whether a process follows it or none."""

from __future__ import annotations

from pathlib import Path

from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.running.executor_commands import Elsewhere, coordinate, reopened
from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.follower import end_following, follower_of
from gym_gui.services.submissions.lease_book import LeaseBook
from gym_gui.services.submissions.shard_progress import progress_of
from gym_gui.services.submissions.submission_record import SENT, is_submission, open_submission


def stop_submission(folder: Path, *, as_json: bool) -> int:
    """Have what is being played of a submission end, and wait for that.

    Args:
        folder: The submission's.
        as_json: For programs.

    Returns:
        Exit status: 1 where something may go on, as its place was away.

    Raises:
        UsageError: It is none, or is followed from another machine.
    """
    if not is_submission(folder):
        raise UsageError(
            f"{folder} is no submission", fix="Give the folder that mosaic run --executor has named"
        )
    if (follower := follower_of(folder)) is not None:
        end_following(folder, follower)
    submission = open_submission(folder)
    if submission.numbers(SENT) and not submission.run:
        with reopened(Elsewhere(None, None, None, folder), submission.command) as submission:
            coordinate(submission, lambda _: None, LeaseBook.open(folder), to_end=True)
    progress, left = progress_of(submission), len(submission.numbers(SENT))
    about = {"shards": progress.shards, "of": progress.of, "done": progress.done}
    if as_json:
        write_json({"run": submission.run or None, **about, "may_go_on": left})
    elif submission.run:
        write_line(f"It has ended:  {submission.run}")
    else:
        write_line(f"{progress.shards} of {progress.of} {submission.parts} are here; {progress.done:,} done.")
        if left:
            write_line(f"{left} may go on where they are: their places did not answer.")
        write_line(f"Resume it:  mosaic {submission.command} --resume {submission.folder}")
    return WORK_FAILED if left else DONE
