"""Long work in a process of its own: the window neither waits for it nor carries its memory.

What runs there is one of our own modules. It reports progress as JSON lines on stderr, and
writes its result to stdout. Cancelling the task ends it with all it started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.record_fields import mapping
from gym_gui.core.trust import handed_on
from gym_gui.processes.child import ManagedChild, lines_of
from gym_gui.processes.run_child import run_child
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
            SubprocessJobError: It is none.
        """
        try:
            return orjson.loads(self.output)
        except orjson.JSONDecodeError:
            raise SubprocessJobError(self.complaint or "the process said nothing that can be read") from None


async def run_subprocess_job(
    module: str,
    *arguments: str,
    on_progress: OnProgress | None = None,
    named: Sequence[str] = (),
    folder: Path | None = None,
) -> Finished:
    """Run ``python -m module arguments`` to its end.

    Args:
        module: One of ours.
        arguments: Its command line.
        on_progress: Called in the event loop.
        named: Variables that it gets as well, of those that are kept from others.
        folder: Where it runs.

    Raises:
        UsageError: It ended with status 2, in its own words.
        SubprocessJobError: It was killed, or ended with another status than 0, 1 or 2.
    """
    more = {name: os.environ[name] for name in named if name in os.environ}
    environment = handed_on(engine_environment() | more) | {"COLUMNS": "1000", "NO_COLOR": "1"}

    async def listen(child: ManagedChild) -> None:
        async for line in lines_of(child.stderr):
            progress = _progress_of(line)
            if progress is None:
                child.keep(_sentence_of(line))
            elif on_progress is not None:
                on_progress(progress)

    command = (sys.executable, "-P", "-m", module, *arguments)
    name = f"the process for {module}"
    done = await run_child(*command, name=name, environment=environment, listen=listen, folder=folder)
    outcome = done.outcome
    complaint = outcome.last_line
    if outcome.code == USAGE:
        raise UsageError(complaint or f"{module} refused")
    if outcome.code not in (0, 1):
        raise SubprocessJobError(complaint or f"{name} {outcome.words}")
    return Finished(outcome.code, done.output, complaint)


def _sentence_of(line: str) -> str:
    """A line as a person reads it: what is an event to programs says what is wrong, then what to do."""
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return line.removeprefix("mosaic: ")
    row = mapping(event) or {}
    said = [str(row[key]) for key in ("message", "fix") if row.get(key)]
    return ". ".join(part.rstrip(".") for part in said) or line


def _progress_of(line: str) -> Any:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value.get("progress") if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
