"""Starting a child process so that its own end is noticed, whatever its children do."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from gym_gui.core.clean_up import finish_despite_cancel
from gym_gui.core.errors import KilledWhileStartingError
from gym_gui.processes.reaper import guard
from gym_gui.processes.tree import kill_tree

_T = TypeVar("_T")
_LINE_LIMIT = 1 << 16


class _Protocol(SubprocessStreamProtocol):
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_LINE_LIMIT, loop=loop)
        self.exited: asyncio.Future[None] = loop.create_future()
        self.wait_closed: asyncio.Future[None] = loop.create_future()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # Told twice where the transport is closed while its last pipe is being lost (Python 3.11).
        if not self.wait_closed.done():
            self.wait_closed.set_result(None)


class Child(Process):
    """A started program.

    Attributes:
        exited: Done when it has ended; ``returncode`` is set by then.
    """

    def __init__(
        self, transport: asyncio.SubprocessTransport, protocol: _Protocol, loop: asyncio.AbstractEventLoop
    ) -> None:
        super().__init__(transport, protocol, loop)
        self.exited = protocol.exited
        self._parted, self._held = protocol.wait_closed, transport

    async def wait_closed(self, within: float = 1.0) -> None:
        """Wait until it has ended and its pipes are closed; close what a stranger still holds."""
        await asyncio.wait({self.exited})
        await asyncio.wait({self._parted}, timeout=within)
        self._held.close()


async def spawn(*command: str, **options: Any) -> Child:
    """Start a program, which will not outlive this one (:mod:`gym_gui.processes.reaper`) if it is tagged.

    ``Process.wait()`` of Python before 3.13 also waits until the process's pipes are closed,
    and children that it forked hold them open when it is killed
    (https://github.com/python/cpython/issues/119710): use ``exited``.

    Cancelled meanwhile, it ends what it has started: asyncio would leave pipes open.

    Args:
        command: Program and arguments.
        options: As for :func:`asyncio.create_subprocess_exec`; ``env`` must be among them.

    Raises:
        OSError: It cannot be started.
    """
    guard(options["env"])
    loop = asyncio.get_running_loop()
    started: list[Child] = []

    async def start() -> None:
        transport, protocol = await loop.subprocess_exec(lambda: _Protocol(loop), *command, **options)
        started.append(Child(transport, protocol, loop))

    try:
        await finish_despite_cancel(start())
    except asyncio.CancelledError:
        for child in started:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await finish_despite_cancel(child.wait_closed())
        raise
    return started[0]


async def end(child: Child, tag: str) -> None:
    """Kill a child that has not ended, with everything it has started, and let go of its pipes.

    Args:
        child: It.
        tag: Of the tree that it was started with.
    """
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await asyncio.to_thread(kill_tree, tag)
    await child.wait_closed()


STARTS = 3
"""How often a process that is killed while it starts is started in all."""


async def start_again(start: Callable[[], Awaitable[_T]], say: Callable[[str], None]) -> _T:
    """Start a process, again where it is killed meanwhile.

    Args:
        start: Starts it, and leaves nothing where that fails.
        say: Takes a line for the log.

    Raises:
        MosaicError: What ``start`` raised last.
    """
    for _ in range(STARTS - 1):
        try:
            return await start()
        except KilledWhileStartingError as exc:
            say(f"{exc}; it is started again")
    return await start()


def last_line(output: bytes) -> str:
    """The last line of a block of output that holds text."""
    return output[-4096:].rstrip().rpartition(b"\n")[2].decode(errors="replace")


async def read_line(stream: asyncio.StreamReader) -> bytes | None:
    """The next line of a child's output, cut where it is overlong; ``None`` at the end."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as exc:
        return exc.partial or None
    except asyncio.LimitOverrunError as exc:
        return await stream.read(exc.consumed)
