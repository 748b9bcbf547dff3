"""Child process for code that has no event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from asyncio.subprocess import DEVNULL
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from gym_gui.processes.child import ManagedChild, lines_of
from gym_gui.processes.outcome import ChildOutcome

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_loops: dict[int, asyncio.AbstractEventLoop] = {}
_lock = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of a thread that never ends, since tied children are killed with their thread."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="kept children", daemon=True).start()
        return loop


def _wait(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


class PersistentChild:
    """Child process that was started with :meth:`start` and is used without an event loop.

    Args:
        child: The started program, whose stderr is logged.
    """

    def __init__(self, child: ManagedChild) -> None:
        self._child = child

    @classmethod
    def start(
        cls,
        *command: str,
        name: str,
        environment: Mapping[str, str],
        pass_fds: Sequence[int] = (),
        stdin: int = DEVNULL,
        stdout: int = DEVNULL,
        tied: bool = False,
    ) -> PersistentChild:
        """Start a program and log its stderr.

        Args:
            command: Program and arguments.
            name: Name of the program in messages.
            environment: All environment variables of the program.
            pass_fds: File descriptors that the program inherits.
            stdin: As for :meth:`ManagedChild.start`.
            stdout: As for :meth:`ManagedChild.start`.
            tied: Whether the kernel ends the program with this process; for programs that do not end by
                themselves then.

        Raises:
            ChildStartError: The program cannot be started.
        """

        async def listen(child: ManagedChild) -> None:
            async for line in lines_of(child.stderr):
                child.remember_line(line)
                _log.info("%s: %s", name, line)

        return cls(
            _wait(
                ManagedChild.start(
                    *command,
                    name=name,
                    environment=environment,
                    tied=tied,
                    listen=listen,
                    stdin=stdin,
                    stdout=stdout,
                    pass_fds=pass_fds,
                )
            )
        )

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._child.pid

    @property
    def running(self) -> bool:
        """Whether the child has not ended yet."""
        return self._child.running

    def end(self, grace_s: float = 0.0, reason: str = "") -> ChildOutcome:
        """End the child and all processes that it started, and return its outcome.

        Args:
            grace_s: Seconds to end after a request; 0 kills the child without a request.
            reason: Reason for the outcome.
        """
        return _wait(self._child.end(grace_s, reason))

    def ended(self, within_s: float) -> ChildOutcome:
        """Wait at most ``within_s`` seconds for the child's end, then kill it; return its outcome."""

        async def wait() -> ChildOutcome:
            await asyncio.wait({self._child.exited}, timeout=within_s)
            return await self._child.end()

        return _wait(wait())
