"""What was played elsewhere is taken to where it belongs here."""

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
from gym_gui.services.shards.shard_parts import read_parts
from gym_gui.services.submissions.collect_trainings import take_training
from gym_gui.services.submissions.submission_errors import HostAwayError, HostFailedError, raise_if_full
from gym_gui.services.submissions.submission_record import Submission

_COMING: Final = ".coming-"
_NAME: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")


async def receive(submission: Submission, number: int, bring: Callable[[Path], Awaitable[None]]) -> None:
    """Have what was played of a part brought here, and take it to where it belongs.

    Args:
        submission: What it is a part of.
        number: Which part.
        bring: Makes a folder of this name with it, or none where nothing is left to be brought.

    Raises:
        HostAwayError: Who has it cannot be reached.
        HostFailedError: It is not there, not whole (yet), or another one.
        HereError: There is no room for it.
    """
    incoming = submission.folder / "incoming" / str(number)
    shutil.rmtree(incoming, ignore_errors=True)
    try:
        incoming.parent.mkdir(exist_ok=True)
        await bring(incoming)
        await asyncio.to_thread(take_part, incoming, submission, number)
    except (HostAwayError, HostFailedError, OSError) as error:
        raise_if_full(error, incoming.parent)
        raise
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def take_part(source: Path, submission: Submission, number: int) -> None:
    """Take what was played of a part to where it belongs.

    Args:
        source: The folder with what it has written.
        submission: What it is a part of.
        number: Which part.

    Raises:
        HostFailedError: It is not there, not whole (yet), or another one.
        HereError: There is no room for it.
    """
    if submission.trainings is not None:
        submission.training_folder(number)
        take_training(source, submission.trainings.part(number))
    else:
        take_in(source, submission.shards, Shard(number, submission.of))


def take_in(source: Path, shards: Path, expected: Shard) -> None:
    """Move run folders to those that have been collected; one that was taken before is replaced.

    What comes from elsewhere is data: it is taken where it is whole and what was asked for, under its run's
    name, and never in place of another shard's.

    Args:
        source: The folder that they are in.
        shards: Where they belong.
        expected: The shard that was asked for.

    Raises:
        HostFailedError: It is not there, not whole (yet), or another one.
        HereError: There is no room for it.
    """
    try:
        found = [file.parent for file in sorted(source.glob("*/run.json"))]
        if not found and _was_taken(shards, expected):
            return
        if not found:
            raise HostFailedError(f"there is no run folder in {source}")
        whole = [run for run in found if _is_whole(run, expected, run.name)]
        if not whole:
            raise HostFailedError(f"the run folder of {expected.words} is not whole")
        shards.mkdir(exist_ok=True)
        for run in whole:
            _take(run, shards, expected)
    except OSError as error:
        raise_if_full(error, shards)
        raise HostFailedError(f"{expected.words} cannot be taken in: {error.strerror or error}") from error


def _is_whole(run: Path, expected: Shard, name: str) -> bool:
    """Whether a run folder can be read to its end, as its digests say; its other files may be on their way.

    Raises:
        HostFailedError: It is something else than what was asked for.
    """
    try:
        header = read_header(run)
    except MosaicError:
        return False
    if _NAME.fullmatch(name) is None or run.is_symlink() or header.get("run_id") != name:
        raise HostFailedError(f"what came as {expected.words} is no run folder of its own name")
    if Shard.of_run(header) != expected:
        raise HostFailedError(f"what came as {expected.words} is another one")
    try:
        read_parts([run])
    except MosaicError:
        return False
    return True


def _was_taken(shards: Path, expected: Shard) -> bool:
    """Whether a process that was killed had taken the part already, or was about to rename it."""
    for file in shards.parent.glob(f"{_COMING}*/run.json"):
        if _is_whole(file.parent, expected, file.parent.name.removeprefix(_COMING)):
            shards.mkdir(exist_ok=True)
            file.parent.rename(shards / file.parent.name.removeprefix(_COMING))
    return any(Shard.of_run(read_header(file.parent)) == expected for file in shards.glob("*/run.json"))


def _take(run: Path, shards: Path, expected: Shard) -> None:
    target = shards / run.name
    if target.exists():
        if Shard.of_run(read_header(target)) != expected:
            raise HostFailedError(f"what came as {expected.words} has the name of another one")
        shutil.rmtree(target)
    # Another disk: the folder appears under its name when it is whole.
    coming = shards.parent / f"{_COMING}{run.name}"
    shutil.rmtree(coming, ignore_errors=True)
    shutil.move(run, coming)
    coming.rename(target)
