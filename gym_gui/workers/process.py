"""One worker process: start it, talk to it, know how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
from collections import deque
from typing import Any

from gym_gui.processes.child import Child, last_line, read_line, spawn
from gym_gui.processes.tree import kill_strays, kill_tree, members, own_mb, resident_mb, signal_name
from gym_gui.wire.channel import JsonChannel, SocketChannel, pb
from gym_gui.workers.connection import ProcessOutcome, WorkerConnection, WorkerEvents
from gym_gui.workers.environment import worker_environment
from gym_gui.workers.launch import Launch
from gym_gui.workers.log_sieve import shortened

__all__ = ["Launch", "ProcessOutcome", "WorkerEvents", "WorkerProcess"]


_COUNT_EVERY_S = 3.0
"""How often a worker's children are counted against its memory limit; itself at every look."""


class WorkerProcess(WorkerConnection):
    """A running worker.

    As :class:`~gym_gui.workers.connection.WorkerConnection`; :meth:`stop` ends the process and
    everything it started. The thread must outlive the process.

    Attributes:
        left_behind: Processes that it had started and that were still there when it ended
            by itself; they are killed.
    """

    def __init__(self, launch: Launch, events: WorkerEvents) -> None:
        super().__init__(launch, events)
        self._process: Child | None = None
        self._reader: asyncio.Task[None] | None = None
        self._stderr: deque[str] = deque(maxlen=20)
        self.left_behind: list[int] = []
        self._next_count = 0.0
        self._grace_s = 0.0

    @property
    def pid(self) -> int:
        """Process id; 0 before the start."""
        return self._process.pid if self._process else 0

    async def _open(self) -> None:
        await self._spawn()
        self._reader = asyncio.create_task(self._read_stderr())
        self._pin()

    async def _spawn(self) -> None:
        definition = self.launch.definition
        env = worker_environment(definition, self.launch.tag, self.launch.gpus)
        options: dict[str, Any] = {"env": env, "start_new_session": True, "stderr": asyncio.subprocess.PIPE}
        if definition.launch.command:
            options["cwd"] = definition.folder  # its command names files beside the manifest
        if definition.launch.carrier == "jsonl":
            await self._spawn_with_pipes(options)
            return
        ours, theirs = socket.socketpair()
        try:
            self._process = await spawn(
                *self.launch.command(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                **options,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._channel = await SocketChannel.open(ours, self._on_message, self._on_closed)

    async def _spawn_with_pipes(self, options: dict[str, Any]) -> None:
        child_in, our_out = os.pipe()
        our_in, child_out = os.pipe()
        try:
            self._process = await spawn(
                *self.launch.command(None), stdin=child_in, stdout=child_out, **options
            )
        except BaseException:
            os.close(our_in)
            os.close(our_out)
            raise
        finally:
            os.close(child_in)
            os.close(child_out)
        self._channel = await JsonChannel.open(
            open(our_out, "wb", 0),  # noqa: SIM115, PTH123  # the transport owns and closes it
            open(our_in, "rb", 0),  # noqa: SIM115, PTH123
            self._on_message,
            self._on_closed,
        )

    async def _read_stderr(self) -> None:
        """Forward what the process prints; it is also the best reason when it dies."""
        assert self._process is not None

        async def forward(stream: asyncio.StreamReader | None) -> None:
            while stream is not None and (line := await read_line(stream)) is not None:
                self._take_output(line.decode(errors="replace").rstrip())
                while self._sieve.is_full(logging.INFO) and (some := await stream.read(1 << 16)):
                    self._sieve.count(max(some.count(b"\n") - 1, 0))
                    self._take_output(last_line(some))

        await asyncio.gather(forward(self._process.stderr), forward(self._process.stdout))

    def _take_output(self, line: str) -> None:
        text = shortened(self._redaction.text(line))
        if text:
            self._stderr.append(text)
            self._sieve.take(logging.INFO, f"{self._name} output", text)

    async def _over_limit(self) -> str:
        launch = self.launch
        limit = launch.memory_mb if launch.memory_mb is not None else launch.definition.limits.memory_mb
        if limit is None:
            return ""
        used = own_mb(self.pid)
        now = time.monotonic()
        if used <= limit and now >= self._next_count:
            # Finding its children means reading the whole process table: seldom.
            self._next_count = now + _COUNT_EVERY_S
            used = await asyncio.to_thread(resident_mb, launch.tag)
        return f"used {used:.0f} MB of memory, over its limit of {limit:g} MB" if used > limit else ""

    def _pin(self) -> None:
        cores = self.launch.definition.limits.cpu_cores
        if cores is None or not hasattr(os, "sched_setaffinity"):
            return
        available = sorted(os.sched_getaffinity(0))
        count = max(1, min(len(available), int(-(-cores // 1))))
        first = self.pid % len(available)
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(self.pid, [available[(first + k) % len(available)] for k in range(count)])

    async def _watch(self) -> None:
        """Wait for the end, whichever way it comes, and leave nothing behind."""
        assert self._process is not None and self._reader is not None
        exited = self._process.exited
        await asyncio.wait({exited, self._doom}, return_when=asyncio.FIRST_COMPLETED)
        if self._doom.done() and not exited.done():
            # Where the connection closed, the process is about to follow: how it ends says more. One that
            # was asked to stop has its time: an interpreter may take long to take its libraries down.
            await asyncio.wait({exited}, timeout=0.5 if self._doom.result() else max(2.0, self._grace_s))
        if exited.done():
            # What it said last is still on its way through the pipe and the socket.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._reader), 0.5)
        status = self._process.returncode
        problem = self._doom.result() if self._doom.done() else ""
        if status is None:
            problem = problem or "closed its connection"
        if exited.done():
            self.left_behind = await asyncio.to_thread(lambda: list(members(self.launch.tag)))
        await asyncio.to_thread(kill_tree, self.launch.tag)
        await asyncio.to_thread(kill_strays)
        await self._process.wait_closed()
        killed = status is not None and status < 0
        self._finish(ProcessOutcome(self._describe(problem, status), self._stopping, killed))

    def _describe(self, problem: str, status: int | None) -> str:
        if status is not None and status < 0:
            return f"was killed ({signal_name(-status)})"
        if problem:
            return f"was ended: {problem}"
        if self._failed:
            return f"failed: {self._failed}"
        last = f": {self._stderr[-1]}" if self._stderr and status else ""
        return f"ended with exit status {status}{last}"

    async def stop(self, grace_s: float = 2.0) -> None:
        """End the process and its tree: ask, then SIGTERM, then SIGKILL.

        Args:
            grace_s: Time it has after being asked, and again after SIGTERM.
        """
        self._stopping, self._grace_s = True, grace_s
        if self._process is None or self.outcome is not None:
            return
        self.send(pb.ToWorker(shutdown=pb.Shutdown()))
        if self._end is None:  # its start was cut off
            await asyncio.to_thread(kill_tree, self.launch.tag)
            await self._process.wait_closed()
            return
        if await _within(self._end, grace_s):
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        if not await _within(self._end, grace_s):
            self._end_because("did not stop when asked")
            await self._end


async def _within(task: asyncio.Task[None], seconds: float) -> bool:
    done, _ = await asyncio.wait({task}, timeout=seconds)
    return bool(done)
