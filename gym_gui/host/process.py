"""A session host process, and the one call that is made to it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets as random_secrets
import shutil
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from ulid import ULID

from gym_gui.core.errors import MosaicError, WorkerLaunchError
from gym_gui.host.service import METHOD, OPTIONS, TOKEN, pb
from gym_gui.services.store import Store
from gym_gui.workers.environment import scrubbed
from gym_gui.workers.spawn import Child, read_line, spawn
from gym_gui.workers.tree import kill_tree, signal_name, tagged
from gym_gui.workers.warden import guard, remove_after

_log = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
PATIENCE_S = 60.0
"""A host that sends nothing for so long (it sends a sign of life every second) is given up."""
_FAREWELL_S = 2.0


class HostProcessError(MosaicError):
    """The process ended before its work was done."""


class HostProcess:
    """A host that is given one order and listened to until it is done.

    Args:
        name: What its order is about, for messages and the reader of ``ps``.
        store: Where its socket lives.
    """

    def __init__(self, name: str, store: Store | None = None) -> None:
        self._name, self._store = name, store or Store()
        self._tag = str(ULID())
        self._process: Child | None = None
        self._channel: grpc.aio.Channel | None = None
        self._stderr: deque[str] = deque(maxlen=20)
        self._reader: asyncio.Task[None] | None = None
        self._done = asyncio.Event()

    @property
    def pid(self) -> int:
        """Its process id, 0 before it has started."""
        return self._process.pid if self._process else 0

    async def events(self, order: pb.Command) -> AsyncGenerator[pb.Event]:
        """Start it, send the order, and hand out what it says until its call ends.

        Raises:
            WorkerLaunchError: It did not start.
            HostProcessError: It ended, or fell silent, before that.
        """
        folder = self._store.runtime_dir() / f"r{random_secrets.token_hex(6)}"
        environment = tagged(scrubbed(os.environ), self._tag)
        guard(environment)
        remove_after(folder)
        folder.mkdir(mode=0o700)
        try:
            call = await self._connect(folder / "h", environment, order)
            reader = call.__aiter__()
            first = await self._next(reader)
        finally:
            # The host removes its socket when it ends; the channel stays connected although this goes.
            shutil.rmtree(folder, ignore_errors=True)
        while first is not None:
            yield first
            first = await self._next(reader)

    async def close(self) -> None:
        """End it, whatever it is at; nothing it started is left."""
        self._done.set()
        if self._channel is not None:
            await self._channel.close()
            self._channel = None  # with the last channel, gRPC ends its thread
        process = self._process
        if process is not None:
            if process.returncode is None:
                # Its call is over: it ends by itself, unless it hangs in an environment.
                await asyncio.wait({process.exited}, timeout=_FAREWELL_S)
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            await asyncio.to_thread(kill_tree, self._tag)
            await process.parted()
        if self._reader is not None:
            await asyncio.wait({self._reader}, timeout=1.0)
            self._reader.cancel()

    async def _connect(self, path: Path, environment: dict[str, str], order: pb.Command) -> Any:
        token = random_secrets.token_urlsafe(24)
        process = self._process = await spawn(
            *(sys.executable, "-m", "gym_gui.host", "--socket", str(path), "--parent", str(os.getpid())),
            *("--operator", self._name),
            stdin=PIPE,
            stdout=DEVNULL,
            stderr=PIPE,
            env=environment,
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(token.encode() + b"\n")
        process.stdin.close()
        self._reader = asyncio.get_running_loop().create_task(self._read_stderr(process))
        self._channel = grpc.aio.insecure_channel(f"unix:{path}", options=OPTIONS)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not path.exists():
            if process.returncode is not None or time.monotonic() > deadline:
                raise WorkerLaunchError(f"the process for {self._name} did not start: {self._last_words()}")
            await asyncio.sleep(0.01)
        method = self._channel.stream_stream(
            METHOD, request_serializer=pb.Command.SerializeToString, response_deserializer=pb.Event.FromString
        )
        # The path is there before the host listens on it, so the first attempt may be refused.
        return method(self._commands(order), metadata=((TOKEN, token),), wait_for_ready=True)

    async def _commands(self, order: pb.Command) -> AsyncIterator[pb.Command]:
        yield order
        await self._done.wait()  # the end of its commands is the end of a host

    async def _next(self, reader: AsyncIterator[pb.Event]) -> pb.Event | None:
        try:
            return await asyncio.wait_for(anext(reader, None), PATIENCE_S)
        except TimeoutError:
            raise HostProcessError(f"the process for {self._name} does not respond any more") from None
        except grpc.aio.AioRpcError:
            raise HostProcessError(f"the process for {self._name} {await self._how_it_ended()}") from None

    async def _how_it_ended(self) -> str:
        assert self._process is not None
        await asyncio.wait({self._process.exited}, timeout=_FAREWELL_S)
        status = self._process.returncode
        if status is None:
            return "closed its connection"
        if status < 0:
            return f"was killed ({signal_name(-status)})"
        return f"ended with exit status {status}: {self._last_words()}"

    def _last_words(self) -> str:
        return self._stderr[-1] if self._stderr else "it said nothing"

    async def _read_stderr(self, process: Child) -> None:
        assert process.stderr is not None
        while (line := await read_line(process.stderr)) is not None:
            text = line.decode(errors="replace").rstrip()
            if text:
                self._stderr.append(text)
                _log.info("%s: %s", self._name, text)
