"""Runs a child process to its end, with input on stdin and output on stdout."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from gym_gui.processes.child import ManagedChild
from gym_gui.processes.outcome import ChildOutcome, ChildStatus

_P = ParamSpec("_P")
_T = TypeVar("_T")
MOST_BYTES: Final = 256 << 20
"""Default limit of a child's output in bytes. A child that writes more is killed."""


@dataclass(frozen=True)
class FinishedChild:
    """Result of a program that has ended.

    Attributes:
        outcome: How the program ended.
        output: Output of the program on stdout.
    """

    outcome: ChildOutcome
    output: bytes


async def run_child(
    *command: str,
    name: str,
    environment: Mapping[str, str],
    text: bytes = b"",
    within_s: float | None = None,
    grace_s: float = 0.0,
    most_bytes: int = MOST_BYTES,
    tied: bool = True,
    listen: Callable[[ManagedChild], Coroutine[Any, Any, None]] | None = None,
    folder: Path | None = None,
) -> FinishedChild:
    """Run a program to its end. Canceling the call ends the program and all processes that it started.

    Args:
        command: Program and arguments.
        name: Name of the program in messages.
        environment: All environment variables of the program.
        text: Input on stdin.
        within_s: Longest time in seconds; ``None`` for no limit.
        grace_s: Seconds to end after a request, if the program must be ended.
        most_bytes: Limit of the output in bytes; a program that writes more is killed.
        tied: As for :meth:`ManagedChild.start`.
        listen: As for :meth:`ManagedChild.start`, except that this function reads stdout.
        folder: Working directory of the program.

    Raises:
        ChildStartError: The program cannot be started.
    """
    child = await ManagedChild.start(
        *command,
        name=name,
        environment=environment,
        tied=tied,
        listen=listen,
        stdin=PIPE if text else DEVNULL,
        stdout=PIPE,
        folder=folder,
    )
    output = b""
    try:
        async with asyncio.timeout(within_s):
            output = await _exchange(child, text, most_bytes)
    except TimeoutError:
        await child.end(grace_s, f"did not end within {within_s:g} s", ChildStatus.TIMED_OUT)
    finally:
        outcome = await child.end(grace_s)
    return FinishedChild(outcome, output)


async def _exchange(child: ManagedChild, text: bytes, most_bytes: int) -> bytes:
    writing = asyncio.ensure_future(_write(child, text))
    output = bytearray()
    try:
        assert child.stdout is not None
        while data := await child.stdout.read(1 << 16):
            output += data
            if len(output) > most_bytes:
                child.kill(f"wrote more than {most_bytes} bytes")
                break
        await child.finished()
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    return bytes(output)


async def _write(child: ManagedChild, text: bytes) -> None:
    if child.stdin is not None:
        with contextlib.suppress(ConnectionError):
            child.stdin.write(text)
            await child.stdin.drain()
        child.stdin.close()


def _blocking(run: Callable[_P, Coroutine[Any, Any, _T]]) -> Callable[_P, _T]:
    def wait(*args: _P.args, **options: _P.kwargs) -> _T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(run(*args, **options))
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(run(*args, **options))).result()

    return wait


run_child_sync = _blocking(run_child)
"""Blocking form of :func:`run_child`. It uses another thread if an event loop runs in the current one."""
