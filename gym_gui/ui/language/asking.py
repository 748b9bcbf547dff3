"""Asks a module of a worker something, in a process of its own: one JSON object in, one line out.

It runs with the worker's interpreter and python path, as the worker itself will. What is
asked, a key among it, goes through stdin alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import orjson
from ulid import ULID

import mosaic_worker.launch
from gym_gui.core.clean_up import finish_despite_cancel
from gym_gui.core.errors import MosaicError, WorkerLaunchError
from gym_gui.processes.child import Child, end, spawn
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.environment import worker_environment

PATIENCE_S: Final = 90.0
"""A model that is being loaded may take so long to say its first word."""
_MOST: Final = 8 << 20


class NoAnswerError(MosaicError):
    """The module did not answer; the message says why, and holds nothing of what was asked."""


async def ask(
    worker: WorkerTypeDefinition, module: str, question: Mapping[str, Any], *, patience_s: float = PATIENCE_S
) -> dict[str, Any]:
    """Ask; cancelling ends the process.

    Args:
        worker: Whose environment it runs in.
        module: Run with ``python -m``.
        question: Sent as JSON.
        patience_s: Longest time.

    Returns:
        The object of its last line.

    Raises:
        WorkerLaunchError: It could not be started.
        NoAnswerError: It ended without an answer, or took too long.
    """
    tag = str(ULID())
    python = str(worker.launch.python or sys.executable)
    # It ends with us, whatever becomes of us.
    tie = [sys.executable, "-S", "-E", str(Path(mosaic_worker.launch.__file__)), str(os.getpid())]
    try:
        child = await spawn(
            *tie,
            *(python, "-m", module),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=worker_environment(worker, tag),
            start_new_session=True,
        )
    except OSError as error:
        raise WorkerLaunchError(f"{worker.display_name} could not be asked: {error}") from error
    try:
        said, complaint = await asyncio.wait_for(_exchange(child, orjson.dumps(question)), patience_s)
    except TimeoutError:
        raise NoAnswerError(
            f"{worker.display_name} did not answer within {patience_s:g} s", fix="Try again"
        ) from None
    finally:
        await finish_despite_cancel(end(child, tag))
    return _answer(worker, said, complaint)


async def _exchange(child: Child, question: bytes) -> tuple[bytes, bytes]:
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    with contextlib.suppress(ConnectionError):
        child.stdin.write(question + b"\n")
        await child.stdin.drain()
    child.stdin.close()
    said, complaint = await asyncio.gather(child.stdout.read(_MOST), child.stderr.read(_MOST))
    await asyncio.wait({child.exited})
    return said, complaint


def _answer(worker: WorkerTypeDefinition, said: bytes, complaint: bytes) -> dict[str, Any]:
    for line in reversed(said.splitlines()):
        with contextlib.suppress(orjson.JSONDecodeError):
            value = orjson.loads(line)
            if isinstance(value, dict):
                return cast("dict[str, Any]", value)
    words = complaint.decode(errors="replace").strip().splitlines()
    raise NoAnswerError(
        f"{worker.display_name} gave no answer: {words[-1].strip() if words else 'it said nothing'}"
    )
