"""Starts, resumes and coordinates submissions for all commands with ``--executor``."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ulid import ULID

from gym_gui.cli.errors import DONE, INTERRUPTED, WORK_FAILED, tell
from gym_gui.cli.library.confirm_submission import confirm_in_terminal
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.coordinator import Coordinator
from gym_gui.services.submissions.executors import backends_of, load_profile
from gym_gui.services.submissions.follower import begin_following, following
from gym_gui.services.submissions.lease_book import LeaseBook
from gym_gui.services.submissions.own_submissions import unconfirmed, verified_submission
from gym_gui.services.submissions.shard_progress import OnShardProgress
from gym_gui.services.submissions.submission_record import FAILED, Submission, is_submission, open_submission

_NAMED: Final = 5
"""Largest number of failed parts that are named individually."""


@dataclass(frozen=True)
class Elsewhere:
    """Places where something is to be played, from the command line.

    Attributes:
        executor: Name of the executor, e.g. ``ssh``.
        profile: File that describes the places.
        shards: Number of shards; ``None`` for the default.
        resume: Folder of a submission to resume.
        dry_run: Whether to play nothing, and only check the places and print what would be sent.
        detach: Whether a separate process follows the submission, so that the command returns.
    """

    executor: str | None
    profile: Path | None
    shards: int | None
    resume: Path | None
    dry_run: bool = False
    detach: bool = False


def new_folder(out: Path) -> Path:
    """Return a folder for a new submission, in the folder that will contain its run."""
    return (out / "submissions" / str(ULID())).absolute()


@contextmanager
def begun(submission: Submission) -> Generator[None]:
    """Save a submission, follow it alone, and print how to watch it.

    Args:
        submission: The submission; its folder already contains what is sent.
    """
    with following(submission.folder):
        submission.save()
        folder = submission.folder
        tell(f"submission {folder}; how far it is, from any terminal: mosaic runs watch {folder}")
        yield


@contextmanager
def reopened(where: Elsewhere, command: str) -> Generator[Submission]:
    """Open the submission that the user resumes, at other places if the user names a profile.

    Args:
        where: The submission's folder, and the profile.
        command: The command that resumes it.

    Raises:
        UsageError: The folder is no submission, the submission is of another command, another process follows
            it, or ``--dry-run`` was given.
        NotConfirmedError: It was not handed in from here, and the user has not confirmed it.
    """
    assert where.resume is not None
    if where.dry_run:
        raise UsageError(
            "--dry-run does not go with --resume SUBMISSION",
            fix=f"How far it is: mosaic runs watch {where.resume}",
        )
    if not is_submission(where.resume):
        raise UsageError("--executor begins a submission, and --resume continues one", fix="Give one of them")
    with following(where.resume):  # reads everything that another process has written until now
        submission = open_submission(where.resume)
        if submission.command != command:
            raise UsageError(
                f"{where.resume} was submitted by mosaic {submission.command}, not mosaic {command}",
                fix=f"Run: mosaic {submission.command} --resume {where.resume}",
            )
        profile = None
        if where.profile is not None:
            profile = load_profile(submission.executor, where.profile).to_record()
        if (seen := unconfirmed(where.resume, profile)) is not None:
            confirm_in_terminal(seen)
        yield verified_submission(submission, profile)


def detach(submission: Submission, *, as_json: bool) -> int:
    """Start a separate process that follows a submission, print where the submission is, and return.

    Args:
        submission: The saved submission.
        as_json: Whether to print JSON.

    Returns:
        Exit status.
    """
    begin_following(submission)
    if as_json:
        write_json({"submission": str(submission.folder)})
        return DONE
    write_line(f"Submission:  {submission.folder}")
    write_line(f"\nHow far it is:  mosaic runs watch {submission.folder}")
    write_line(f"Stop it:        mosaic runs stop {submission.folder}")
    return DONE


def detach_resumed(where: Elsewhere, command: str, *, as_json: bool) -> int:
    """Resume a submission in a separate process as in :func:`detach`; raises as :func:`reopened`."""
    with reopened(where, command) as submission:
        submission.save()  # the places may have changed
    return detach(submission, as_json=as_json)


def say_missing(
    submission: Submission,
    coordinator: Coordinator,
    what: str,
    rest: Callable[[int], str],
    kept: str,
) -> int | None:
    """Print which parts of a submission are missing and which command resumes the submission.

    Args:
        submission: The submission.
        coordinator: The coordinator that played the submission.
        what: Text about each failed part, e.g. ``has failed``.
        rest: Returns the sentence on the other parts, given the number of failed parts that were not named.
        kept: Text that says what a stopped submission keeps and where.

    Returns:
        Exit status; ``None`` if no part is missing.
    """
    again = f"mosaic {submission.command} --resume {submission.folder}"
    failed = submission.numbers(FAILED)
    for number in failed[:_NAMED]:
        tell(f"{submission.called(number)} {what}: {submission.states[number].problem}")
    if failed:
        tell(f"{rest(max(0, len(failed) - _NAMED))}: {again}")
        return WORK_FAILED
    if coordinator.is_stopped:
        tell(f"stopped; {kept}; go on with: {again}")
        return INTERRUPTED
    return None


def coordinate(
    submission: Submission,
    on_standing: OnShardProgress,
    leases: LeaseBook | None = None,
    *,
    to_end: bool = False,
) -> Coordinator:
    """Play a submission; Ctrl-C or ``SIGTERM`` stops it after its current work, a second one at once.

    Args:
        submission: The submission.
        on_standing: Receives the progress.
        leases: Shares of the budgets, if budgets hold for all shards together.
        to_end: Whether to finish only what is being played and begin nothing.

    Returns:
        The coordinator that played the submission.
    """
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    coordinator = Coordinator(submission, backends_of(submission), on_standing, leases=leases)
    if to_end:
        coordinator.stop()
    asyncio.run(_until_stopped(coordinator))
    return coordinator


def clear(submission: Submission, coordinator: Coordinator | None) -> None:
    """Remove files of a submission from its places; the next call removes those not reachable now.

    Args:
        submission: A submission whose parts are all here, according to its record.
        coordinator: The coordinator that played it; ``None`` if an earlier process did.
    """
    if not submission.cleared:
        coordinator = coordinator or Coordinator(submission, backends_of(submission), lambda _: None)
        submission.cleared = asyncio.run(coordinator.clear())
        submission.save()


async def _until_stopped(coordinator: Coordinator) -> None:
    loop = asyncio.get_running_loop()
    playing = asyncio.ensure_future(coordinator.run())

    def end() -> None:
        if coordinator.is_stopped:
            playing.cancel()
        else:
            tell("what is being played is asked to end, and keeps what is done; again: do not wait for that")
            coordinator.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    try:
        await asyncio.wait([playing])
        if not playing.cancelled():
            await playing
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
