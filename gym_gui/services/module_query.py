"""Asks a module of a worker something, in a process of its own: one JSON object in, one line out.

It runs with the worker's interpreter and python path, as the worker itself will. What is
asked, a key among it, goes through stdin alone.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import Any, Final, cast

import orjson

from gym_gui.core.errors import MosaicError
from gym_gui.processes.outcome import ChildStatus
from gym_gui.processes.run_child import FinishedChild, run_child
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
    done = await run_child(
        str(worker.launch.python or sys.executable),
        *("-m", module),
        name=f"the process that {worker.display_name} is asked in",
        environment=worker_environment(worker),
        text=orjson.dumps(question) + b"\n",
        within_s=patience_s,
        most_bytes=_MOST,
    )
    if done.outcome.status is ChildStatus.TIMED_OUT:
        raise NoAnswerError(f"{worker.display_name} did not answer within {patience_s:g} s", fix="Try again")
    return _answer(worker, done)


def _answer(worker: WorkerTypeDefinition, done: FinishedChild) -> dict[str, Any]:
    for line in reversed(done.output.splitlines()):
        with contextlib.suppress(orjson.JSONDecodeError):
            value = orjson.loads(line)
            if isinstance(value, dict):
                return cast("dict[str, Any]", value)
    raise NoAnswerError(
        f"{worker.display_name} gave no answer: {done.outcome.last_line or 'it said nothing'}"
    )
