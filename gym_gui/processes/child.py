"""Child process that is ended in time, together with all processes that it has started."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import mosaic_worker.launch
from gym_gui.core.clean_up import finish_despite_cancel
from gym_gui.core.clock import new_ulid
from gym_gui.core.errors import KilledWhileStartingError, WorkerLaunchError
from gym_gui.processes.outcome import ChildOutcome, ChildStatus, from_code
from gym_gui.processes.reaper import guard
from gym_gui.processes.tree import kill_tree, tagged

_T = TypeVar("_T")
_LINE_LIMIT = 1 << 16
_TAIL_LINES = 20
_TAIL_CHARACTERS = 2000
_CLOSE_S = 1.0
"""Seconds after which a child's pipes are closed although an unrelated process still holds them open."""


class ChildStartError(WorkerLaunchError):
    """Error: a program could not be started.

    Attributes:
        outcome: Outcome of the start, with the reason.
    """

    def __init__(self, name: str, reason: str) -> None:
        self.outcome = ChildOutcome(ChildStatus.FAILED_TO_START, reason=reason)
        super().__init__(f"{name} {self.outcome.words}")


class _Protocol(SubprocessStreamProtocol):
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_LINE_LIMIT, loop=loop)
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # Called twice if the transport is closed while its last pipe is being lost (Python 3.11).
        if not self.closed.done():
            self.closed.set_result(None)


class ManagedChild:
    """Child process that was started with :meth:`start`.

    However the child ends, all processes that it has started are ended after it, its pipes are closed, and
    :attr:`outcome` describes its end. The child does not outlive this program either:
    :mod:`gym_gui.processes.reaper` ends the processes that have this program's tag, and the kernel kills a
    child that is tied to this program.

    ``Process.wait()`` of Python before 3.13 also waits until the process's pipes are closed, and children
    that it forked hold them open when it is killed (https://github.com/python/cpython/issues/119710). So
    this class has no such method.

    Attributes:
        tag: Tag of the child and of all processes that it starts (:mod:`gym_gui.processes.tree`).
        pid: Process id of the child.
        stdin: Pipe to the child if one was requested, else ``None``.
        stdout: Pipe from the child if one was requested, else ``None``.
        stderr: Pipe from the child.
        exited: Future that is done when the child has ended, for whatever reason.
        outcome: How the child ended; ``None`` until it and all processes that it started have ended.
        asked: Whether this program has requested the child's end. A caller that does so without
            :meth:`terminate` sets this attribute.
    """

    def __init__(
        self,
        tag: str,
        transport: asyncio.SubprocessTransport,
        protocol: _Protocol,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        process = Process(transport, protocol, loop)
        self.tag, self.pid = tag, process.pid
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr
        self.exited, self._closed = protocol.exited, protocol.closed
        self.outcome: ChildOutcome | None = None
        self.asked = False
        self._transport = transport
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._ended_from_here: ChildOutcome | None = None
        self._listening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[ChildOutcome] | None = None

    @classmethod
    async def start(
        cls,
        *command: str,
        name: str,
        environment: Mapping[str, str],
        tag: str = "",
        tied: bool = True,
        listen: Callable[[ManagedChild], Coroutine[Any, Any, None]] | None = None,
        stdin: int = DEVNULL,
        stdout: int = DEVNULL,
        pass_fds: Sequence[int] = (),
        folder: Path | None = None,
    ) -> ManagedChild:
        """Start a program in its own session.

        If the call is canceled, the program is ended; asyncio would leave its pipes open.

        Args:
            command: Program and arguments.
            name: Name of the program in messages.
            environment: All environment variables of the program; the tag is added.
            tag: Tag of the program; by default a new one.
            tied: Whether the kernel kills the program when the thread that starts it ends; for programs
                that do not end by themselves then. This costs the start of an interpreter without its
                libraries.
            listen: Reads the program's pipes; by default only stderr is read (:meth:`remember_line`).
            stdin: As for :func:`asyncio.create_subprocess_exec`.
            stdout: As for :func:`asyncio.create_subprocess_exec`.
            pass_fds: File descriptors that the program inherits.
            folder: Working directory of the program; by default this process's.

        Raises:
            ChildStartError: The program cannot be started.
        """
        tag = tag or new_ulid()
        environment = tagged(dict(environment), tag)
        guard()
        options: dict[str, Any] = {"stdin": stdin, "stdout": stdout, "stderr": PIPE, "env": environment}
        options |= {"pass_fds": pass_fds, "cwd": folder, "start_new_session": True}
        loop = asyncio.get_running_loop()
        started: list[ManagedChild] = []

        async def begin() -> None:
            line = _tie(command, environment, folder) if tied else command
            transport, protocol = await loop.subprocess_exec(lambda: _Protocol(loop), *line, **options)
            child = cls(tag, transport, protocol, loop)
            child._watch(listen)
            started.append(child)

        try:
            await finish_despite_cancel(begin())
        except OSError as error:
            reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            raise ChildStartError(name, reason) from error
        except asyncio.CancelledError:
            for child in started:
                await child.end()
            raise
        return started[0]

    @property
    def running(self) -> bool:
        """Whether the child has not ended yet."""
        return not self.exited.done()

    @property
    def doomed(self) -> bool:
        """Whether this program is ending the child."""
        return self._ended_from_here is not None

    @property
    def tail(self) -> tuple[str, ...]:
        """Last lines that the child has printed so far, oldest first."""
        return tuple(self._tail)

    def remember_line(self, line: str) -> None:
        """Store a line as one of the last that the child printed."""
        if text := line.strip():
            self._tail.append(text[:_TAIL_CHARACTERS])

    def terminate(self) -> None:
        """Ask the child to end (``SIGTERM``)."""
        self.asked = True
        if self.running:
            self._signal(signal.SIGTERM)

    def kill(self, reason: str = "", status: ChildStatus = ChildStatus.ENDED) -> None:
        """Kill the child and all processes that it started; do nothing if it has ended.

        Args:
            reason: Reason for :attr:`outcome`.
            status: ``ENDED`` or ``TIMED_OUT``.
        """
        if self.running:
            self._note(reason, status)
            self._signal(signal.SIGKILL)

    async def end(
        self, grace_s: float = 0.0, reason: str = "", status: ChildStatus = ChildStatus.ENDED
    ) -> ChildOutcome:
        """End the child, and wait until all processes that it started have ended, even if canceled.

        Args:
            grace_s: Seconds to end after a request; 0 kills the child without a request.
            reason: Reason for :attr:`outcome`.
            status: ``ENDED`` or ``TIMED_OUT``.
        """
        return await finish_despite_cancel(self._end(grace_s, reason, status))

    async def _end(self, grace_s: float, reason: str, status: ChildStatus) -> ChildOutcome:
        if grace_s > 0 and self.running:
            self._note(reason, status)
            self.terminate()
            await asyncio.wait({self.exited}, timeout=grace_s)
        self.kill(reason, status)
        return await self.finished()

    async def finished(self) -> ChildOutcome:
        """Wait until the child and all processes that it started have ended; return its outcome."""
        assert self._watching is not None
        return await asyncio.shield(self._watching)

    # -- internal ------------------------------------------------------------------------

    def _signal(self, number: signal.Signals) -> None:
        # The transport would first check whether the child has ended, and take its status from asyncio's
        # watcher, which then warns of an unknown child (https://github.com/python/cpython/issues/87744).
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def _note(self, reason: str, status: ChildStatus) -> None:
        self._ended_from_here = self._ended_from_here or ChildOutcome(status, reason=reason)

    def _watch(self, listen: Callable[[ManagedChild], Coroutine[Any, Any, None]] | None) -> None:
        create_task = asyncio.get_running_loop().create_task
        self._listening = create_task(self._keep_stderr() if listen is None else listen(self))
        self._watching = create_task(self._clean_up(self._listening))

    async def _clean_up(self, listening: asyncio.Task[None]) -> ChildOutcome:
        await asyncio.wait({self.exited})
        found: set[int] = set()
        await asyncio.to_thread(kill_tree, self.tag, found=found)
        # The child's last output is in its pipes, which end now, as no process is left to write to them.
        await asyncio.wait({self._closed}, timeout=_CLOSE_S)
        self._transport.close()
        await asyncio.wait({listening}, timeout=_CLOSE_S)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        self.outcome = self._outcome_with(tuple(sorted(found)))
        return self.outcome

    def _outcome_with(self, found: tuple[int, ...]) -> ChildOutcome:
        code = self._transport.get_returncode() or 0
        outcome = from_code(code, self.tail)
        ours = self._ended_from_here
        if ours is not None and (code < 0 or ours.status is ChildStatus.TIMED_OUT):
            outcome = replace(outcome, status=ours.status, reason=ours.reason)
        left = found if ours is None else ()
        return replace(outcome, asked=self.asked, left_behind=left)

    async def _keep_stderr(self) -> None:
        async for line in lines_of(self.stderr):
            self.remember_line(line)


def _tie(command: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> list[str]:
    """Return a command line that makes the kernel kill the program when this process ends.

    Raises:
        FileNotFoundError: There is no such program. Without this check, the command line would start and
            fail later.
    """
    place = os.path.join(folder or "", command[0]) if os.sep in command[0] else command[0]  # noqa: PTH118
    if shutil.which(place, path=environment.get("PATH")) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    return [sys.executable, "-S", "-E", str(Path(mosaic_worker.launch.__file__)), str(os.getpid()), *command]


STARTS = 3
"""Largest number of starts of a process that is killed while it starts."""


async def start_with_retry(start: Callable[[], Awaitable[_T]], say: Callable[[str], None]) -> _T:
    """Start a process, and start it again if it is killed during the start.

    Args:
        start: Starts the process, and cleans up after a failure.
        say: Receives a line for the log.

    Raises:
        MosaicError: The last error of ``start``.
    """
    for _ in range(STARTS - 1):
        try:
            return await start()
        except KilledWhileStartingError as exc:
            say(f"{exc}; it is started again")
    return await start()


def last_line(output: bytes) -> str:
    """Return the last non-empty line of a block of a child's output."""
    return output[-4096:].rstrip().rpartition(b"\n")[2].decode(errors="replace")


async def lines_of(stream: asyncio.StreamReader | None) -> AsyncIterator[str]:
    """Yield the lines of a child's output until its end; a line that is too long is split."""
    while stream is not None and (line := await read_line(stream)) is not None:
        yield line.decode(errors="replace").rstrip()


async def read_line(stream: asyncio.StreamReader) -> bytes | None:
    """Return the next line of a child's output, or a part of a line that is too long; ``None`` at the end."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as exc:
        return exc.partial or None
    except asyncio.LimitOverrunError as exc:
        return await stream.read(exc.consumed)
