"""Worker process on this machine: start, messages, limits and end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
from asyncio.subprocess import PIPE
from dataclasses import replace
from typing import Any

from gym_gui.processes.child import ChildStartError, ManagedChild, last_line, read_line
from gym_gui.processes.outcome import ChildStatus
from gym_gui.processes.tree import kill_strays, process_mb, resident_mb
from gym_gui.wire.channel import JsonChannel, SocketChannel, pb
from gym_gui.workers.connection import WorkerConnection, WorkerEvents
from gym_gui.workers.environment_variables import worker_environment
from gym_gui.workers.launch import Launch
from gym_gui.workers.log_filter import shortened

__all__ = ["Launch", "WorkerEvents", "WorkerProcess"]


_COUNT_EVERY_S = 3.0
"""Seconds between measurements of a worker's process tree, each of which reads the whole process table."""


class WorkerProcess(WorkerConnection):
    """Connection to a worker in a process on this machine.

    :meth:`stop` ends the process and all processes that it started. The thread that starts the process must
    outlive the process.
    """

    def __init__(self, launch: Launch, events: WorkerEvents) -> None:
        super().__init__(launch, events)
        self._child: ManagedChild | None = None
        self._next_count = 0.0
        self._grace_s = 0.0

    @property
    def pid(self) -> int:
        """Process id of the worker; 0 before the start."""
        return self._child.pid if self._child else 0

    @property
    def tag(self) -> str:
        """Tag that marks the process and all that it starts; ``""`` before the start."""
        return self._child.tag if self._child else ""

    async def _open(self) -> None:
        try:
            await self._spawn()
        except ChildStartError as error:
            self.outcome = error.outcome
            raise
        self._pin()

    async def _spawn(self) -> None:
        if self.launch.definition.launch.carrier == "jsonl":
            await self._spawn_with_pipes()
            return
        ours, theirs = socket.socketpair()
        try:
            self._child = await self._start(theirs.fileno(), stdout=PIPE, pass_fds=(theirs.fileno(),))
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._channel = await SocketChannel.open(ours, self._on_message, self._on_closed)

    async def _spawn_with_pipes(self) -> None:
        child_in, our_out = os.pipe()
        our_in, child_out = os.pipe()
        try:
            self._child = await self._start(None, stdin=child_in, stdout=child_out)
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

    async def _start(self, fd: int | None, **options: Any) -> ManagedChild:
        definition = self.launch.definition
        foreign = bool(definition.launch.command)  # may not end by itself when we end
        return await ManagedChild.start(
            *self.launch.command(fd),
            name=self._name,
            environment=worker_environment(definition, self.launch.gpus),
            tied=foreign,
            folder=definition.folder if foreign else None,  # the command names files beside the manifest
            listen=self._read_output,
            **options,
        )

    async def _read_output(self, child: ManagedChild) -> None:
        """Forward the lines that the process prints, and keep the last ones as the reason of a crash."""

        async def forward(stream: asyncio.StreamReader | None) -> None:
            while stream is not None and (line := await read_line(stream)) is not None:
                self._take_output(child, line.decode(errors="replace").rstrip())
                while self._sieve.is_full(logging.INFO) and (some := await stream.read(1 << 16)):
                    self._sieve.count(max(some.count(b"\n") - 1, 0))
                    self._take_output(child, last_line(some))

        await asyncio.gather(forward(child.stderr), forward(child.stdout))

    def _take_output(self, child: ManagedChild, line: str) -> None:
        text = shortened(self._redaction.text(line))
        if text:
            child.remember_line(text)
            self._sieve.forward(logging.INFO, f"{self._name} output", text)

    async def _over_limit(self) -> str:
        launch = self.launch
        limit = launch.memory_mb if launch.memory_mb is not None else launch.definition.limits.memory_mb
        if limit is None:
            return ""
        used = process_mb(self.pid)
        now = time.monotonic()
        if used <= limit and now >= self._next_count:
            # Finding the worker's children means reading the whole process table, so this is done seldom.
            self._next_count = now + _COUNT_EVERY_S
            used = await asyncio.to_thread(resident_mb, self.tag)
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
        """Wait for the end of the process or the connection, and end all processes that it started."""
        child = self._child
        assert child is not None
        await asyncio.wait({child.exited, self._doom}, return_when=asyncio.FIRST_COMPLETED)
        if self._doom.done() and child.running:
            # If the connection closed, the process is about to end, and the way it ends says more. A process
            # that was asked to stop gets its time: an interpreter may take long to unload its libraries.
            patience = 0.5 if self._doom.result() else max(2.0, self._grace_s)
            await asyncio.wait({child.exited}, timeout=patience)
        problem = self._doom.result() if self._doom.done() else ""
        outcome = await child.end(reason=problem or "closed its connection")
        await asyncio.to_thread(kill_strays)
        if self._channel is not None:
            self._channel.drain()  # the last message may say why it failed
        if outcome.status is ChildStatus.EXITED:
            if problem:
                outcome = replace(outcome, status=ChildStatus.ENDED, reason=problem)
            else:
                outcome = replace(outcome, reason=self._failed)
        self._finish(replace(outcome, asked=self._stopping))

    async def stop(self, grace_s: float = 2.0) -> None:
        """End the process and its tree: first by request, then by SIGTERM, then by SIGKILL.

        Args:
            grace_s: Seconds to end after the request, and again after SIGTERM.
        """
        self._stopping, self._grace_s = True, grace_s
        if self._child is None or self.outcome is not None:
            return
        self.send(pb.ToWorker(shutdown=pb.Shutdown()))
        if self._end is None:  # the start was interrupted
            await self._child.end()
            return
        if await _within(self._end, grace_s):
            return
        self._child.terminate()
        if not await _within(self._end, grace_s):
            self._end_because("did not stop when asked")
            await self._end


async def _within(task: asyncio.Task[None], seconds: float) -> bool:
    done, _ = await asyncio.wait({task}, timeout=seconds)
    return bool(done)
