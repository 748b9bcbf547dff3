"""Sends a question to a module of a worker in a separate process: one JSON object in, one line out.

The process has the worker's interpreter and Python path, like the worker itself. The question, which may
contain an API key, is only passed through stdin.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from typing import Any, Final, cast

import orjson

from gym_gui.core.errors import MosaicError
from gym_gui.processes.child import ChildStartError, ManagedChild
from gym_gui.processes.outcome import ChildStatus
from gym_gui.processes.run_child import run_child
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.environment_variables import worker_environment
from gym_gui.workers.own_files import with_files
from gym_gui.workers.settings.settings_schema import Setting
from gym_gui.workers.status import check_installed

PATIENCE_S: Final = 90.0
"""Longest time until an answer, in seconds. A model that is still loading answers late."""
_MOST: Final = 8 << 20


class NoAnswerError(MosaicError):
    """Error for a module that did not answer. The message gives the reason, and no part of the question."""


async def ask(
    worker: WorkerTypeDefinition, module: str, question: Mapping[str, Any], *, patience_s: float = PATIENCE_S
) -> dict[str, Any]:
    """Send one question to a module of a worker in a new process. Cancelling the task ends the process.

    Args:
        worker: Worker whose environment the process uses.
        module: Module to run with ``python -m``.
        question: Object to send as JSON.
        patience_s: Longest time to wait, in seconds.

    Returns:
        The JSON object of the last line that holds one.

    Raises:
        WorkerLaunchError: The process could not be started.
        NoAnswerError: The process ended without an answer, or took too long.
    """
    done = await run_child(
        *_module(worker, module),
        name=_name(worker),
        environment=worker_environment(worker),
        text=orjson.dumps(question) + b"\n",
        within_s=patience_s,
        most_bytes=_MOST,
    )
    if done.outcome.status is ChildStatus.TIMED_OUT:
        raise _too_long(worker, patience_s)
    for line in reversed(done.output.splitlines()):
        if (answer := _object(line)) is not None:
            return answer
    raise await _no_answer(worker, done.outcome.last_line)


class Conversation:
    """Process that answers questions about the file of a setting, with one JSON line per question.

    The first question starts the process. A question after the process has ended starts it again.

    Args:
        worker: Worker whose environment the process uses.
        setting: Setting that names the module or the command to run.
    """

    def __init__(self, worker: WorkerTypeDefinition, setting: Setting) -> None:
        self._worker, self._setting = worker, setting
        self._child: ManagedChild | None = None

    async def ask(self, question: Mapping[str, Any], *, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """Send one question and return its answer. Send one at a time; cancelling the task ends the process.

        Raises:
            NoAnswerError: The process could not be started, ended without an answer, or took too long.
        """
        try:
            async with asyncio.timeout(patience_s):
                answer = await _exchange(await self._running(), orjson.dumps(question) + b"\n")
        except TimeoutError:
            await self.close()
            raise _too_long(self._worker, patience_s) from None
        except ChildStartError as error:
            raise await _no_answer(self._worker, str(error)) from None
        except asyncio.CancelledError:
            await self.close()  # a late answer would be taken for the answer to the next question
            raise
        if answer is None:
            raise await _no_answer(self._worker, await self.close())
        return answer

    async def close(self) -> str:
        """End the process if there is one.

        Returns:
            The last line that the process printed.
        """
        child, self._child = self._child, None
        return (await child.end()).last_line if child is not None else ""

    async def _running(self) -> ManagedChild:
        if self._child is None or not self._child.running:
            await self.close()
            worker, setting = self._worker, self._setting
            command = with_files(setting.command, worker.type_id) or _module(worker, setting.module)
            self._child = await ManagedChild.start(
                *command,
                name=_name(worker),
                environment=worker_environment(worker),
                stdin=PIPE,
                stdout=PIPE,
                folder=worker.folder if setting.command else None,
            )
        return self._child


async def _exchange(child: ManagedChild, line: bytes) -> dict[str, Any] | None:
    """Send a line and return the first JSON object that comes back, or ``None`` if none comes."""
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(ConnectionError):
        child.stdin.write(line)
        await child.stdin.drain()
    received = bytearray()
    while len(received) < _MOST and (data := await child.stdout.read(1 << 16)):
        received += data
        while b"\n" in received:
            first, _, rest = received.partition(b"\n")
            if (answer := _object(first)) is not None:
                return answer
            received = rest
    return None


def _module(worker: WorkerTypeDefinition, module: str) -> tuple[str, ...]:
    return (str(worker.launch.python or sys.executable), "-m", module)


def _name(worker: WorkerTypeDefinition) -> str:
    return f"the query process of {worker.display_name}"


def _object(line: bytes | bytearray) -> dict[str, Any] | None:
    with contextlib.suppress(orjson.JSONDecodeError):
        value = orjson.loads(line)
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
    return None


def _too_long(worker: WorkerTypeDefinition, patience_s: float) -> NoAnswerError:
    return NoAnswerError(f"{worker.display_name} did not answer within {patience_s:g} s", fix="Try again")


async def _no_answer(worker: WorkerTypeDefinition, last: str) -> NoAnswerError:
    """Return the error for a missing answer. If the worker is not installed, the error says so."""
    status = await asyncio.to_thread(check_installed, worker)
    if status.state != "installed" and status.reason:
        fix = f"Run: {status.install}" if status.install else ""
        return NoAnswerError(f"{worker.display_name} gave no answer: {status.reason}", fix=fix)
    return NoAnswerError(f"{worker.display_name} gave no answer: {last or 'it printed nothing'}")
