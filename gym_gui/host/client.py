"""Starts a session host process and speaks to it; to the runner it is just a session."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets as random_secrets
import shutil
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from ulid import ULID

from gym_gui.controllers.casting import Casting
from gym_gui.controllers.sessions import (
    SessionListener,
    SessionReady,
    SessionSettings,
    checked_pace,
)
from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.errors import MosaicError, UsageError, WorkerLaunchError
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.types import AgentID
from gym_gui.host.frames import FrameReader, Places, make_memory
from gym_gui.host.orders import episode_message, launch_message
from gym_gui.host.service import METHOD, OPTIONS, TOKEN, pb
from gym_gui.host.views import question_from_json, unpacked, view_from_json
from gym_gui.services.secrets import resolve_secrets
from gym_gui.services.store import Store
from gym_gui.workers.environment import scrubbed
from gym_gui.workers.spawn import Child, read_line, spawn
from gym_gui.workers.tree import kill_tree, signal_name, tagged
from gym_gui.workers.warden import guard, remove_after

_log = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
PATIENCE_S = 60.0
"""A host that sends nothing for so long (it sends a sign of life every second) is ended."""
_FAREWELL_S = 8.0
_LIVE_FAREWELL_S = 3.0
"""Time a host has to stop its workers and end when it is asked to, or its call is over."""


class HostSession:
    """A session in a host process of its own.

    Args:
        casting: The operator, checked.
        settings: How it plays.
        listener: Told what happens.
        store: Where its socket lives.
        patience_s: Longest silence.
        share_memory: Whether pictures come through memory; else they are part of the messages, as
            they must be where the host runs on another machine.
    """

    def __init__(
        self,
        casting: Casting,
        settings: SessionSettings,
        listener: SessionListener,
        *,
        store: Store | None = None,
        patience_s: float = PATIENCE_S,
        share_memory: bool = True,
    ) -> None:
        self._casting, self._settings, self._listener = casting, settings, listener
        self._store, self._patience = store or Store(), patience_s
        self._tag = str(ULID())
        self._process: Child | None = None
        self._channel: grpc.aio.Channel | None = None
        self._commands: asyncio.Queue[pb.Command | None] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._stderr: deque[str] = deque(maxlen=20)
        self._live: set[int] = set()
        self._over_unbegun: set[int] = set()
        self._heard = time.monotonic()
        self._call: Any = None
        self._share = share_memory and settings.live is not None
        self._frames: FrameReader | None = None
        self._rebinds: dict[int, asyncio.Future[Mapping[str, str]]] = {}
        self._numbers = count(1)
        self._farewell_s = _FAREWELL_S if settings.live is None else _LIVE_FAREWELL_S
        self._closing = False
        self._started = False
        self._broken = self._ended_because = ""
        self._ended = False

    async def start(self) -> SessionReady:
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[SessionReady] = loop.create_future()
        folder = self._store.runtime_dir() / f"s{random_secrets.token_hex(6)}"
        try:
            # Before the process gets its environment, which secrets are then kept out of.
            self._send(pb.Command(launch=launch_message(self._casting, self._settings)))
            environment = tagged(scrubbed(os.environ), self._tag)
            guard(environment)
            remove_after(folder)
            folder.mkdir(mode=0o700)
            await self._spawn(folder / "h", environment)
            self._heard = time.monotonic()  # from now on it sends signs of life
            self._tasks += [loop.create_task(self._listen()), loop.create_task(self._watch())]
            ready = await self._ready
            self._started = True
            return ready
        except BaseException:
            await self.close()
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _spawn(self, path: Path, environment: Mapping[str, str]) -> None:
        token = random_secrets.token_urlsafe(24)
        operator = self._casting.config.operator_id
        command = [sys.executable, "-m", "gym_gui.host", "--socket", str(path), "--parent", str(os.getpid())]
        memory = make_memory() if self._share else None
        if memory is not None:
            self._frames = FrameReader(memory)
            command += ["--frames", str(memory)]
        self._process = await spawn(
            *command,
            "--operator",
            operator,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            pass_fds=() if memory is None else (memory,),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(token.encode() + b"\n")
        self._process.stdin.close()
        loop = asyncio.get_running_loop()
        self._tasks += [loop.create_task(self._read_stderr()), loop.create_task(self._read_begun())]
        # The host removes its socket when it ends; the channel stays connected although
        # the folder goes as soon as the session is ready.
        self._channel = grpc.aio.insecure_channel(f"unix:{path}", options=OPTIONS)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not path.exists():
            if self._process.returncode is not None or time.monotonic() > deadline:
                raise WorkerLaunchError(
                    f"the session process of {operator} did not start: {self._last_words()}"
                )
            await asyncio.sleep(0.01)
        call = self._channel.stream_stream(
            METHOD, request_serializer=pb.Command.SerializeToString, response_deserializer=pb.Event.FromString
        )
        # The path is there before the host listens on it, so the first attempt may be refused.
        self._call = call(self._outgoing(), metadata=((TOKEN, token),), wait_for_ready=True)

    async def _outgoing(self) -> AsyncIterator[pb.Command]:
        while (command := await self._commands.get()) is not None:
            yield command

    def _send(self, command: pb.Command) -> None:
        self._commands.put_nowait(command)

    def _last_words(self) -> str:
        return self._stderr[-1] if self._stderr else "it said nothing"

    async def _read_stderr(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        while (line := await read_line(self._process.stderr)) is not None:
            text = line.decode(errors="replace").rstrip()
            if text:
                self._stderr.append(text)
                self._listener.on_log(logging.INFO, "session output", text)

    async def _read_begun(self) -> None:
        """Episodes that begin: a line with their index, written before their first step."""
        assert self._process is not None and self._process.stdout is not None
        rest = b""
        while data := await self._process.stdout.read(1 << 16):
            *whole, rest = (rest + data).split(b"\n")
            for index in map(int, whole):
                # The pipe and the call overtake each other.
                if index in self._over_unbegun:
                    self._over_unbegun.discard(index)
                else:
                    self._live.add(index)
                    self._listener.on_started(index)

    async def _listen(self) -> None:
        assert self._process is not None
        problem = ""
        try:
            async for event in self._call:
                self._heard = time.monotonic()
                self._on_event(event)
        except asyncio.CancelledError:
            if not self._closing:
                raise
        except grpc.aio.AioRpcError as exc:
            problem = f"closed its connection ({exc.details()})"
        # Its end follows; a host that stays although nobody can speak to it is ended.
        await asyncio.wait({self._process.exited}, timeout=self._farewell_s)
        if not self._process.exited.done():
            self._end_because(problem or "did not end when it was done")

    def _on_event(self, event: pb.Event) -> None:
        body, listener = event.WhichOneof("body"), self._listener
        if body == "news":
            for done in event.news.finished:
                (self._live.discard if done.index in self._live else self._over_unbegun.add)(done.index)
                listener.on_finished(done.index, done.steps, done.episode)
            listener.on_steps(event.news.steps)
        elif body == "ready":
            ready = event.ready
            if not self._ready.done():
                self._ready.set_result(
                    SessionReady(
                        ready.pid, json.loads(ready.players), ready.concurrency, json.loads(ready.versions)
                    )
                )
        elif body == "view":
            self._on_view(event.view)
        elif body == "question":
            listener.on_question(question_from_json(event.question.json))
        elif body == "withdrawn":
            listener.on_withdrawn(event.withdrawn.question)
        elif body == "rebound":
            self._on_rebound(event.rebound)
        elif body == "log":
            listener.on_log(event.log.level, event.log.logger, event.log.text)
        elif body == "call":
            listener.on_call(event.call.json.encode())
        elif body == "broken":
            self._broken = event.broken.reason
            if not self._ready.done():
                error = UsageError if event.broken.usage else MosaicError
                self._ready.set_exception(error(event.broken.reason))

    def _on_view(self, view: pb.View) -> None:
        frame = view.frame
        if frame.pixels:
            self._listener.on_frame(unpacked(frame), frame.number)
        elif frame.number and self._frames is not None:
            newest = self._frames.newest(Places(frame.base, frame.stride))
            if newest is not None:
                self._listener.on_frame(*newest)
        self._listener.on_view(view_from_json(view.json))

    def _on_rebound(self, rebound: pb.Rebound) -> None:
        future = self._rebinds.pop(rebound.id, None)
        if future is None or future.done():
            return
        if rebound.error:
            future.set_exception(UsageError(rebound.error))
        else:
            future.set_result(json.loads(rebound.player))

    def _refuse_rebinds(self, why: str) -> None:
        for future in self._rebinds.values():
            if not future.done():
                future.set_exception(UsageError(why))

    async def _watch(self) -> None:
        """Notice how the process ends, and silence."""
        assert self._process is not None
        exited = self._process.exited
        while not exited.done():
            before = time.monotonic()
            await asyncio.wait({exited}, timeout=1.0)
            if time.monotonic() - before > 3.0:
                self._heard = time.monotonic()  # we were held up ourselves
            silent = time.monotonic() - self._heard
            if not exited.done() and silent > self._patience:
                self._end_because(f"did not respond for {silent:.0f} s and was ended")
        # What it said last is still in the pipes.
        await asyncio.wait(self._tasks[:3], timeout=1.0)
        await asyncio.to_thread(kill_tree, self._tag)
        await self._process.parted()
        self._on_end(self._ended_because or self._describe(self._process.returncode or 0))

    def _end_because(self, words: str) -> None:
        assert self._process is not None
        self._ended_because = self._ended_because or words
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def _describe(self, status: int) -> str:
        if self._broken:
            return self._broken
        if status < 0:
            return f"was killed ({signal_name(-status)})"
        last = f": {self._stderr[-1]}" if self._stderr and status else ""
        return f"ended with exit status {status}{last}"

    def _on_end(self, words: str) -> None:
        self._ended = True
        self._commands.put_nowait(None)
        self._refuse_rebinds(f"the session {words}")
        if not self._ready.done():
            operator = self._casting.config.operator_id
            self._ready.set_exception(WorkerLaunchError(f"the session process of {operator} {words}"))
            self._ready.exception()
        elif not self._closing:
            self._listener.on_ended(words)

    @property
    def pid(self) -> int:
        """The host's process id."""
        return self._process.pid if self._process else 0

    def play(self, plans: Iterable[EpisodePlan]) -> None:
        self._send(pb.Command(episodes=pb.Episodes(episodes=map(episode_message, plans))))

    def pause(self) -> None:
        self._send(pb.Command(pause=pb.Pause()))

    def resume(self) -> None:
        self._send(pb.Command(resume=pb.Resume()))

    def step(self) -> None:
        self._send(pb.Command(step=pb.Step()))

    def step_agent(self) -> None:
        self.step()

    def pace(self, steps_per_s: float | None) -> None:
        self._send(pb.Command(pace=pb.Pace(steps_per_s=checked_pace(steps_per_s) or 0.0)))

    def abort(self) -> None:
        self._send(pb.Command(abort=pb.Abort()))

    def answer(self, question_id: int, action: Any) -> None:
        self._send(pb.Command(answer=pb.Answer(question=question_id, action=json.dumps(action))))

    async def rebind(self, agent: AgentID, assignment: WorkerAssignment) -> Mapping[str, str]:
        if not self._started or self._ended:
            raise UsageError("the session is not running", fix="Start it first")
        # The keyring may have to ask for a password.
        secrets = await asyncio.to_thread(resolve_secrets, assignment)
        number = next(self._numbers)
        future = self._rebinds[number] = asyncio.get_running_loop().create_future()
        record = json.dumps(assignment.to_record())
        self._send(pb.Command(rebind=pb.Rebind(id=number, agent=agent, assignment=record, secrets=secrets)))
        try:
            return await future
        finally:
            self._rebinds.pop(number, None)

    async def close(self) -> None:
        self._closing = True
        if self._process is not None and not self._ended:
            if self._started:
                self._send(pb.Command(stop=pb.Stop()))
            elif self._call is not None:
                self._call.cancel()  # while it starts its workers it reads no commands
            self._commands.put_nowait(None)
            patience = self._farewell_s if self._call is not None else 0
            await asyncio.wait({self._process.exited}, timeout=patience)
            if self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
            await asyncio.to_thread(kill_tree, self._tag)
            await self._process.parted()
        pending = [t for t in self._tasks if t is not asyncio.current_task()]
        if pending:
            await asyncio.wait(pending, timeout=3.0)
        for task in pending:
            task.cancel()
        if self._channel is not None:
            await self._channel.close()
        if self._frames is not None:
            self._frames.close()
            self._frames = None
        self._refuse_rebinds("the session was closed")
