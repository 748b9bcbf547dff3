"""Stores the results of a shard or a training from another machine in the submission or the run folder."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.shards import Shard
from gym_gui.services.runs.recorder import read_header
from gym_gui.services.shards.shard_set import read_parts
from gym_gui.services.submissions.collect_trainings import move_training
from gym_gui.services.submissions.submission_errors import (
    HostFailedError,
    HostUnreachableError,
    raise_if_full,
)
from gym_gui.services.submissions.submission_record import Submission

_COMING: Final = ".coming-"
_NAME: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")


async def receive(submission: Submission, number: int, bring: Callable[[Path], Awaitable[None]]) -> None:
    """Fetch the results of a part (a shard or a training) from another machine, and store them here.

    Args:
        submission: The submission.
        number: Number of the part.
        bring: Copies the results into a new folder of the given path, or creates no folder if nothing is
            left to copy.

    Raises:
        HostAwayError: The host of the results cannot be reached.
        HostFailedError: The results are missing, incomplete (yet), or of another part.
        HereError: There is no space for them here.
    """
    incoming = submission.folder / "incoming" / str(number)
    shutil.rmtree(incoming, ignore_errors=True)
    try:
        incoming.parent.mkdir(exist_ok=True)
        await bring(incoming)
        await asyncio.to_thread(move_part, incoming, submission, number)
    except (HostUnreachableError, HostFailedError, OSError) as error:
        raise_if_full(error, incoming.parent)
        raise
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def move_part(source: Path, submission: Submission, number: int) -> None:
    """Move fetched results of a part to the submission, or for a training to its run folder.

    Args:
        source: Folder with the results.
        submission: The submission.
        number: Number of the part.

    Raises:
        HostFailedError: The results are missing, incomplete (yet), or of another part.
        HereError: There is no space for them here.
    """
    if submission.trainings is not None:
        submission.training_folder(number)
        move_training(source, submission.trainings.part(number))
    else:
        move_run_folders(source, submission.shards, Shard(number, submission.of))


def move_run_folders(source: Path, shards: Path, expected: Shard) -> None:
    """Move run folders of a shard to the collected ones, replacing those that were collected before.

    Results from elsewhere are treated as data. They are accepted only if they are complete and of the
    expected shard, under the name of their run, and never replace another shard.

    Args:
        source: Folder that contains the run folders.
        shards: Folder of the collected shards.
        expected: The expected shard.

    Raises:
        HostFailedError: The run folder is missing, incomplete (yet), or of another shard.
        HereError: There is no space for it here.
    """
    try:
        found = [file.parent for file in sorted(source.glob("*/run.json"))]
        if not found and _was_taken(shards, expected):
            return
        if not found:
            raise HostFailedError(f"there is no run folder in {source}")
        whole = [run for run in found if _is_whole(run, expected, run.name)]
        if not whole:
            raise HostFailedError(f"the run folder of {expected.words} is incomplete")
        shards.mkdir(exist_ok=True)
        for run in whole:
            _take(run, shards, expected)
    except OSError as error:
        raise_if_full(error, shards)
        raise HostFailedError(f"{expected.words} cannot be stored: {error.strerror or error}") from error


def _is_whole(run: Path, expected: Shard, name: str) -> bool:
    """Return whether a run folder can be read to its end by its digests. Its other files may be missing.

    Raises:
        HostFailedError: The run folder is not that of the expected shard.
    """
    try:
        header = read_header(run)
    except MosaicError:
        return False
    if _NAME.fullmatch(name) is None or run.is_symlink() or header.get("run_id") != name:
        raise HostFailedError(f"results of {expected.words} are not in a folder named by their run id")
    if Shard.of_run(header) != expected:
        raise HostFailedError(f"results of {expected.words} are those of another shard")
    try:
        read_parts([run])
    except MosaicError:
        return False
    return True


def _was_taken(shards: Path, expected: Shard) -> bool:
    """Finish the rename of a shard that a killed process left, and return whether the shard is collected."""
    for file in shards.parent.glob(f"{_COMING}*/run.json"):
        if _is_whole(file.parent, expected, file.parent.name.removeprefix(_COMING)):
            shards.mkdir(exist_ok=True)
            file.parent.rename(shards / file.parent.name.removeprefix(_COMING))
    return any(Shard.of_run(read_header(file.parent)) == expected for file in shards.glob("*/run.json"))


def _take(run: Path, shards: Path, expected: Shard) -> None:
    target = shards / run.name
    if target.exists():
        if Shard.of_run(read_header(target)) != expected:
            raise HostFailedError(f"results of {expected.words} have the run id of another shard")
        shutil.rmtree(target)
    # The folder may come from another disk, so it gets its final name after it is complete.
    coming = shards.parent / f"{_COMING}{run.name}"
    shutil.rmtree(coming, ignore_errors=True)
    shutil.move(run, coming)
    coming.rename(target)
