"""The session host process: one operator's engine behind a Unix socket.

It serves one client, once: when that call ends, for whatever reason, the process stops its
workers and ends. Its token comes in on stdin, never as an argument.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gym_gui.controllers.local_session import LocalSession
from gym_gui.controllers.resolved_operator import resolve_operator
from gym_gui.controllers.session_events import LogLine
from gym_gui.controllers.session_interface import LiveSettings, SessionSettings, default_concurrency
from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment_data import experiment_from_data
from gym_gui.core.inherited import set_aside
from gym_gui.core.spending import Amount
from gym_gui.core.trust import enforce
from gym_gui.host.frames import FrameWriter
from gym_gui.host.orders import plan_of
from gym_gui.host.outbox import Outbox
from gym_gui.host.pb import session_pb2_grpc
from gym_gui.host.service import LISTENING, pb
from gym_gui.processes.tree import adopt_orphans
from gym_gui.services.rpc.serving import RpcServer
from mosaic_worker.failures import described
from mosaic_worker.launch import die_with_parent


class _Servicer:
    """The one method, for one client."""

    def __init__(self, done: asyncio.Event, outbox: Outbox) -> None:
        self._done, self._outbox, self._taken = done, outbox, False

    async def Control(self, commands: AsyncIterator[pb.Command]) -> AsyncIterator[pb.Event]:
        """Serve the session."""
        if self._taken:
            raise MosaicError("this host has a client")
        self._taken = True
        outbox = self._outbox
        handler = asyncio.get_running_loop().create_task(_handle(commands, outbox))
        try:
            async for event in outbox.events():
                yield event
        finally:
            handler.cancel()
            await asyncio.gather(handler, return_exceptions=True)
            self._done.set()


async def _handle(commands: AsyncIterator[pb.Command], outbox: Outbox) -> None:
    session: LocalSession | None = None
    in_haste = False
    rebinds: set[asyncio.Task[None]] = set()
    try:
        async for command in commands:
            body = command.WhichOneof("body")
            if body == "launch":
                session = await _launch(command.launch, outbox)
                if session is None:
                    return
            elif body == "replay":
                from gym_gui.host.replay_server import serve_replay  # sessions that play need none of it

                await serve_replay(command.replay, outbox.put, outbox.waiting)
            elif session is None:
                raise UsageError("the session has not been launched")
            elif body == "rebind":  # takes as long as loading a policy does; others go on
                task = asyncio.get_running_loop().create_task(_rebind(session, command.rebind, outbox))
                rebinds.add(task)
                task.add_done_callback(rebinds.discard)
            elif body == "present":
                outbox.put(pb.Event(presented=await _present(session, command.present)))
            elif body == "seen":
                outbox.seen(command.seen.looks)
            elif body == "stop":
                in_haste = command.stop.in_haste
                break
            else:
                _obey(session, command, body)
        outbox.put(pb.Event(ended=pb.Ended()))
    except Exception as exc:  # told to the client, which knows what to do
        outbox.put(pb.Event(broken=pb.Broken(reason=described(exc))))
        raise
    finally:
        for task in rebinds:
            task.cancel()
        await asyncio.gather(*rebinds, return_exceptions=True)
        if session is not None:
            await session.close(in_haste=in_haste)
        outbox.close()


def _obey(session: LocalSession, command: pb.Command, body: str | None) -> None:
    """A command that is carried out at once."""
    if body == "episodes":
        session.play([plan_of(episode) for episode in command.episodes.episodes])
    elif body == "pause":
        session.pause()
    elif body == "resume":
        session.resume()
    elif body == "step":
        session.step()
    elif body == "pace":
        session.pace(command.pace.steps_per_s or None)
    elif body == "abort":
        session.abort()
    elif body == "answer":
        session.answer(command.answer.question, json.loads(command.answer.action))


async def _rebind(session: LocalSession, request: pb.Rebind, outbox: Outbox) -> None:
    rebound = pb.Rebound(id=request.id)
    try:
        assignment, told = _assignment(request.assignment), request.allowance
        allowance = Amount(told.tokens, told.usd) if request.HasField("allowance") else None
        player = await session.rebind(request.agent, assignment, allowance, dict(request.secrets))
        rebound.player = json.dumps(dict(player))
    except MosaicError as exc:
        rebound.error = str(exc)
    except Exception as exc:  # the border to a worker's own code; the client is told
        rebound.error = f"{request.agent} could not be given to somebody else: {described(exc)}"
    outbox.put(pb.Event(rebound=rebound))


async def _present(session: LocalSession, request: pb.Present) -> pb.Presented:
    presented = pb.Presented(id=request.id)
    try:
        presented.json = json.dumps(dict(await session.present(request.agent)))
    except MosaicError as exc:
        presented.error = str(exc)
    except Exception as exc:  # the border to a describer's own code; the client is told
        presented.error = f"what {request.agent} is shown cannot be told: {described(exc)}"
    return presented


def _assignment(text: str) -> WorkerAssignment:
    """An assignment from its record."""
    record: dict[str, Any] = json.loads(text)
    return WorkerAssignment(worker_type=record.pop("type"), **record)


async def _launch(launch: pb.Launch, outbox: Outbox) -> LocalSession | None:
    try:
        experiment = experiment_from_data({"operators": [json.loads(launch.operator)]})
        resolved = resolve_operator(experiment.operators[0])
        settings = SessionSettings(
            launch.concurrency or default_concurrency(resolved, 1 << 30),
            launch.max_steps or None,
            launch.observations,
            _live(launch),
        )
        secrets: dict[str, dict[str, str]] = {}
        for key, secret in launch.secrets.items():
            agent, _, place = key.partition(" ")
            secrets.setdefault(agent, {})[place] = secret
        session = LocalSession(resolved, settings, outbox.on_event, secrets, outbox.is_behind)
        ready = await session.start()
    except MosaicError as exc:
        outbox.put(pb.Event(broken=pb.Broken(reason=str(exc), usage=isinstance(exc, UsageError))))
        outbox.close()
        return None
    outbox.watch(session)
    outbox.put(
        pb.Event(
            ready=pb.Ready(
                pid=os.getpid(),
                players=json.dumps(ready.players),
                concurrency=ready.concurrency,
                versions=json.dumps(ready.versions),
                actions=json.dumps(ready.actions),
            )
        )
    )
    return session


def _live(launch: pb.Launch) -> LiveSettings | None:
    if not launch.HasField("live"):
        return None
    # What pygame draws is read from memory; it must not look for a screen or a
    # loudspeaker, or complain of none.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    render: Any = launch.live.render  # checked by the settings themselves
    first = launch.live.first if launch.live.HasField("first") else None
    plan = None if first is None else plan_of(first)
    return LiveSettings(launch.live.fps, render, plan, launch.live.everything)


class _Forward(logging.Handler):
    """Hands what our own code logs to the client, in whatever thread it does."""

    def __init__(self, outbox: Outbox) -> None:
        super().__init__(logging.WARNING)
        self._outbox, self._loop = outbox, asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        line = record.levelno, record.name, self.format(record)
        with suppress(RuntimeError):  # the session is over
            self._loop.call_soon_threadsafe(self._outbox.on_event, LogLine(*line))


async def serve(socket_path: str, token: str, begun: int, frames: int | None = None) -> None:
    """Serve one client on a Unix socket, then return.

    Args:
        socket_path: Where to listen.
        token: What the client must show.
        begun: Pipe that is told ``listening``, then the indices of episodes that begin.
        frames: The client's memory for pictures.
    """
    outbox = Outbox(begun, None if frames is None else FrameWriter(frames))
    done = asyncio.Event()
    generated: Any = session_pb2_grpc
    servicer = _Servicer(done, outbox)
    server = RpcServer(token, lambda server: generated.add_SessionServicer_to_server(servicer, server))
    server.listen(Path(socket_path))
    await server.start()
    os.write(begun, LISTENING + b"\n")
    forward = _Forward(outbox)
    ours = logging.getLogger("gym_gui")
    ours.addHandler(forward)
    ours.propagate = False  # else it is said a second time, as output
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, done.set)
    await done.wait()
    ours.removeHandler(forward)
    await server.stop(1.0)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a session host; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m gym_gui.host")
    parser.add_argument("--socket", required=True)
    parser.add_argument("--parent", type=int, required=True, help="pid to die with")
    parser.add_argument("--operator", default="", help="for the reader of ps")
    parser.add_argument("--frames", type=int, help="inherited memory for pictures")
    args = parser.parse_args(argv)
    enforce()
    die_with_parent(args.parent)
    adopt_orphans()
    set_aside()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    token = sys.stdin.readline().strip()
    begun = os.dup(1)
    os.dup2(2, 1)  # what an environment prints must not get between
    if args.frames is not None:
        os.set_inheritable(args.frames, False)  # workers have no business with it
    asyncio.run(serve(args.socket, token, begun, args.frames))
    return 0
