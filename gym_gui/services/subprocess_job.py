"""Long work in a process of its own: the window neither waits for it nor carries its memory.

What runs there is one of our own modules. It reports progress as JSON lines on stderr, and
writes its result to stdout. Cancelling the task ends it with all it started.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from ulid import ULID

from gym_gui.core.clean_up import finish_despite_cancel
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.trust import handed_on
from gym_gui.processes.child import Child, end, read_line, spawn
from gym_gui.processes.tree import tagged
from gym_gui.workers.environment import engine_environment

USAGE = 2
"""Exit status of a command that the person can put right."""

OnProgress = Callable[[Any], None]
"""Told what the process reports: the value of ``progress`` of each of its lines."""


class SubprocessJobError(MosaicError):
    """The process failed for a reason that nobody at the window can put right."""


@dataclass(frozen=True)
class Finished:
    """How the process ended.

    Attributes:
        status: 0 done, 1 the work failed.
        output: What it wrote to stdout.
        complaint: The last line on stderr that is no progress.
    """

    status: int
    output: bytes
    complaint: str

    def json(self) -> Any:
        """The output as JSON.

        Raises:
            ApartError: It is none.
        """
        try:
            return orjson.loads(self.output)
        except orjson.JSONDecodeError:
            raise SubprocessJobError(self.complaint or "the process said nothing that can be read") from None


async def run_subprocess_job(module: str, *arguments: str, on_progress: OnProgress | None = None) -> Finished:
    """Run ``python -m module arguments`` to its end.

    Args:
        module: One of ours.
        arguments: Its command line.
        on_progress: Called in the event loop.

    Raises:
        UsageError: It ended with status 2, in its own words.
        ApartError: It was killed, or ended with another status than 0, 1 or 2.
    """
    tag = str(ULID())
    environment = handed_on(tagged(engine_environment(), tag)) | {"COLUMNS": "1000", "NO_COLOR": "1"}
    child = await spawn(
        sys.executable,
        *("-P", "-m", module, *arguments),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        output, complaint = await asyncio.gather(_all(child), _told(child, on_progress))
        await asyncio.wait({child.exited})
    finally:
        await finish_despite_cancel(end(child, tag))
    status = child.returncode or 0
    if status == USAGE:
        raise UsageError(complaint or f"{module} refused")
    if status not in (0, 1):
        raise SubprocessJobError(complaint or f"the process for {module} ended with status {status}")
    return Finished(status, output, complaint)


async def _all(child: Child) -> bytes:
    assert child.stdout is not None
    return await child.stdout.read()


async def _told(child: Child, on_progress: OnProgress | None) -> str:
    """Hand progress on until the process ends; returns its last other line."""
    assert child.stderr is not None
    last = ""
    while (line := await read_line(child.stderr)) is not None:
        progress = _progress_of(line)
        if progress is None:
            last = line.decode(errors="replace").strip().removeprefix("mosaic: ") or last
        elif on_progress is not None:
            on_progress(progress)
    return last


def _progress_of(line: bytes) -> Any:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value.get("progress") if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
