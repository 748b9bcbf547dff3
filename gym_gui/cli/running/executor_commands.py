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

from gym_gui.cli.errors import DONE, INTERRUPTED, WORK_FAILED, print_message
from gym_gui.cli.library.confirm_submission import confirm_in_terminal
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.clock import new_ulid
from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.coordinator import Coordinator
from gym_gui.services.submissions.executors import backends_of, load_profile
from gym_gui.services.submissions.follower import begin_following, following
from gym_gui.services.submissions.own_submissions import unconfirmed, verified_submission
from gym_gui.services.submissions.shard_progress import OnShardProgress
from gym_gui.services.submissions.submission_record import FAILED, Submission, is_submission, open_submission

_NAMED: Final = 5
"""Largest number of failed parts that are reported one by one."""


@dataclass(frozen=True)
class ExecutorOptions:
    """Options of a command line that run work by an executor.

    Attributes:
        executor: Name of the executor, such as ``ssh``; ``None`` to resume a submission.
        profile: File that describes the executor's hosts or jobs.
        shards: Number of shards; ``None`` for the default.
        resume: Folder of a submission to resume.
        dry_run: Whether to only check the hosts and print what would be sent.
        detach: Whether a separate process follows the submission, so that the command returns.
    """

    executor: str | None
    profile: Path | None
    shards: int | None
    resume: Path | None
    dry_run: bool = False
    detach: bool = False


def new_folder(out: Path) -> Path:
    """Return the path of a new submission's folder, below the folder that will contain its run."""
    return (out / "submissions" / new_ulid()).absolute()


@contextmanager
def begun(submission: Submission) -> Generator[None]:
    """Save a submission, lock it for this process, and print how to watch it.

    Args:
        submission: The submission; its folder already contains the files to send.
    """
    with following(submission.folder):
        submission.save()
        folder = submission.folder
        print_message(
            f"submission {folder}; watch its progress from any terminal: mosaic runs watch {folder}"
        )
        yield


@contextmanager
def reopened(where: ExecutorOptions, command: str) -> Generator[Submission]:
    """Open the submission that the user resumes; a new profile replaces its hosts.

    Args:
        where: The submission's folder, and the profile.
        command: Name of the command that resumes the submission: ``run``, ``tournament`` or ``train``.

    Raises:
        UsageError: The folder is no submission, the submission is of another command, another process follows
            it, or ``--dry-run`` was given.
        NotConfirmedError: The submission is of another user or machine, and the user has not confirmed it.
    """
    assert where.resume is not None
    if where.dry_run:
        raise UsageError(
            "--dry-run cannot be combined with --resume SUBMISSION",
            fix=f"Watch its progress: mosaic runs watch {where.resume}",
        )
    if not is_submission(where.resume):
        raise UsageError("--executor and --resume cannot be combined", fix="Give one of them")
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
    """Start a separate process that follows a submission, and print the submission's folder.

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
    write_line(f"\nWatch it:  mosaic runs watch {submission.folder}")
    write_line(f"Stop it:   mosaic runs stop {submission.folder}")
    return DONE


def detach_resumed(where: ExecutorOptions, command: str, *, as_json: bool) -> int:
    """Resume a submission in a separate process, see :func:`detach`; raises errors of :func:`reopened`."""
    with reopened(where, command) as submission:
        submission.save()  # the profile may have changed
    return detach(submission, as_json=as_json)


def print_missing(
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
        what: Predicate of the sentence on each failed part, such as ``has failed``.
        rest: Returns the last sentence, given the number of failed parts without a sentence of their own.
        kept: Text that says which results a stopped submission keeps and where.

    Returns:
        Exit status; ``None`` if no part is missing.
    """
    again = f"mosaic {submission.command} --resume {submission.folder}"
    failed = submission.numbers(FAILED)
    for number in failed[:_NAMED]:
        print_message(f"{submission.called(number)} {what}: {submission.states[number].problem}")
    if failed:
        print_message(f"{rest(max(0, len(failed) - _NAMED))}: {again}")
        return WORK_FAILED
    if coordinator.is_stopped:
        print_message(f"stopped; {kept}; resume with: {again}")
        return INTERRUPTED
    return None


def coordinate(
    submission: Submission,
    on_standing: OnShardProgress,
    leases: BudgetLeases | None = None,
    *,
    to_end: bool = False,
) -> Coordinator:
    """Play a submission in this process. Ctrl-C or ``SIGTERM`` stops it after its current episodes.

    Args:
        submission: The submission.
        on_standing: Receives the progress.
        leases: Shares of budgets that all shards have in common; ``None`` without such budgets.
        to_end: Whether to begin no further shards and wait for those in progress.

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
    """Remove a submission's files from its hosts; a host that cannot be reached is tried at the next call.

    Args:
        submission: A submission whose parts have all been collected.
        coordinator: The coordinator that played the submission; ``None`` if an earlier process did.
    """
    if not submission.cleared:
        coordinator = coordinator or Coordinator(submission, backends_of(submission), lambda _: None)
        submission.cleared = asyncio.run(coordinator.clear())
        submission.save()


async def _until_stopped(coordinator: Coordinator) -> None:
    loop = asyncio.get_running_loop()
    playing = asyncio.ensure_future(coordinator.run())

    def on_signal() -> None:
        if coordinator.is_stopped:
            playing.cancel()
        else:
            print_message(
                "stopping: finished episodes are kept; to not wait for the hosts, press Ctrl-C again"
            )
            coordinator.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    try:
        await asyncio.wait([playing])
        if not playing.cancelled():
            await playing
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
