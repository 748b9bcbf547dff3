"""The session host process: one operator's engine behind a Unix socket.

It serves one client, once: when that call ends, for whatever reason, the process stops its
workers and ends. Its token comes in on stdin, never as an argument.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hmac
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import grpc.aio

from gym_gui.controllers.casting import cast
from gym_gui.controllers.local_session import LocalSession
from gym_gui.controllers.sessions import SessionSettings, default_concurrency
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.experiment_data import experiment_from_data
from gym_gui.host.replay_server import serve_replay
from gym_gui.host.service import METHOD, OPTIONS, TOKEN, pb
from gym_gui.workers.tree import adopt_orphans
from mosaic_worker.launch import die_with_parent

_NEWS_S = 0.05
_NEWS_BYTES = 1 << 18
_ALIVE_S = 1.0


class _Outbox:
    """Events on their way to the client; episodes that finish close together share a message.

    Args:
        begun: File descriptor of the pipe that takes the index of each episode that begins.
    """

    def __init__(self, begun: int) -> None:
        self._begun = begun
        self._queue: asyncio.Queue[pb.Event | None] = asyncio.Queue()
        self._news = pb.News()
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._session: LocalSession | None = None

    def watch(self, session: LocalSession) -> None:
        """Take the figures of the news from ``session``."""
        self._session = session

    def put(self, event: pb.Event) -> None:
        """Queue an event, behind what was told before."""
        self.flush()
        self._queue.put_nowait(event)

    def waiting(self) -> int:
        """Events that the client has not taken yet."""
        return self._queue.qsize()

    def close(self) -> None:
        """Nothing more will come."""
        self.flush()
        self._queue.put_nowait(None)

    async def events(self) -> AsyncIterator[pb.Event]:
        """Everything queued, as it comes; a sign of life when there is nothing else."""
        while True:
            try:
                event = await asyncio.wait_for(self._queue.get(), _ALIVE_S)
            except TimeoutError:
                self._fill_in()
                event, self._news, self._size = pb.Event(news=self._news), pb.News(), 0
            if event is None:
                return
            yield event

    def _fill_in(self) -> None:
        if self._session is not None:
            controller = self._session.controller
            self._news.live, self._news.steps = controller.live, controller.total_steps

    def flush(self) -> None:
        """Queue the news so far."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._news.finished:
            self._fill_in()
            self._queue.put_nowait(pb.Event(news=self._news))
            self._news, self._size = pb.News(), 0

    def _soon(self) -> None:
        if self._size > _NEWS_BYTES:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_NEWS_S, self.flush)

    def on_started(self, index: int) -> None:
        # Written before the episode's first step: what is in the pipe survives this process.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._begun, b"%d\n" % index)

    def on_finished(self, index: int, steps: bytes, episode: bytes) -> None:
        self._news.finished.add(index=index, steps=steps, episode=episode)
        self._size += len(steps) + len(episode)
        session = self._session
        if session is not None and not session.controller.live and not session.controller.waiting:
            self.flush()  # it has run dry: the client may have more
        else:
            self._soon()

    def on_steps(self, total: int) -> None:
        """Told with the news."""

    def on_call(self, line: bytes) -> None:
        self.put(pb.Event(call=pb.PaidCall(json=line.decode())))

    def on_log(self, level: int, logger: str, text: str) -> None:
        self.put(pb.Event(log=pb.LogLine(level=level, logger=logger, text=text)))

    def on_ended(self, reason: str) -> None:
        self.put(pb.Event(broken=pb.Broken(reason=reason)) if reason else pb.Event(ended=pb.Ended()))
        self.close()


class _Service(grpc.GenericRpcHandler):
    """The one method, for the one client that has the token."""

    def __init__(self, token: str, done: asyncio.Event, begun: int) -> None:
        self._token, self._done, self._begun, self._taken = token, done, begun, False

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        if handler_call_details.method != METHOD:
            return None
        return grpc.stream_stream_rpc_method_handler(
            self.control,
            request_deserializer=pb.Command.FromString,
            response_serializer=pb.Event.SerializeToString,
        )

    async def control(self, commands: AsyncIterator[pb.Command], context: Any) -> AsyncIterator[pb.Event]:
        """Serve the session."""
        given = dict(context.invocation_metadata()).get(TOKEN, "")
        if not hmac.compare_digest(str(given), self._token):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is wrong")
        if self._taken:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "this host has a client")
        self._taken = True
        outbox = _Outbox(self._begun)
        handler = asyncio.get_running_loop().create_task(_handle(commands, outbox))
        try:
            async for event in outbox.events():
                yield event
        finally:
            handler.cancel()
            await asyncio.gather(handler, return_exceptions=True)
            self._done.set()


async def _handle(commands: AsyncIterator[pb.Command], outbox: _Outbox) -> None:
    session: LocalSession | None = None
    try:
        async for command in commands:
            body = command.WhichOneof("body")
            if body == "launch":
                session = await _launch(command.launch, outbox)
                if session is None:
                    return
            elif body == "replay":
                await serve_replay(command.replay, outbox.put, outbox.waiting)
            elif session is None:
                raise UsageError("the session has not been launched")
            elif body == "episodes":
                session.play([EpisodePlan(e.index, e.seed, e.seating) for e in command.episodes.episodes])
            elif body == "pause":
                session.pause()
            elif body == "resume":
                session.resume()
            elif body == "step":
                session.step()
            elif body == "stop":
                break
        outbox.put(pb.Event(ended=pb.Ended()))
    except Exception as exc:  # told to the client, which knows what to do
        outbox.put(pb.Event(broken=pb.Broken(reason=f"{type(exc).__name__}: {exc}")))
        raise
    finally:
        if session is not None:
            await session.close()
        outbox.close()


async def _launch(launch: pb.Launch, outbox: _Outbox) -> LocalSession | None:
    try:
        experiment = experiment_from_data({"operators": [json.loads(launch.operator)]})
        casting = cast(experiment.operators[0])
        settings = SessionSettings(
            launch.concurrency or default_concurrency(casting, 1 << 30),
            launch.max_steps or None,
            launch.observations,
        )
        secrets: dict[str, dict[str, str]] = {}
        for key, secret in launch.secrets.items():
            agent, _, place = key.partition(" ")
            secrets.setdefault(agent, {})[place] = secret
        session = LocalSession(casting, settings, outbox, secrets)
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
            )
        )
    )
    return session


async def serve(socket_path: str, token: str, begun: int) -> None:
    """Serve one client on a Unix socket, then return.

    Args:
        socket_path: Where to listen.
        token: What the client must show.
        begun: Pipe for the indices of episodes that begin.
    """
    done = asyncio.Event()
    server = grpc.aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers((_Service(token, done, begun),))
    server.add_insecure_port(f"unix:{socket_path}")
    await server.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, done.set)
    await done.wait()
    await server.stop(grace=1.0)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a session host; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m gym_gui.host")
    parser.add_argument("--socket", required=True)
    parser.add_argument("--parent", type=int, required=True, help="pid to die with")
    parser.add_argument("--operator", default="", help="for the reader of ps")
    args = parser.parse_args(argv)
    die_with_parent(args.parent)
    adopt_orphans()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    token = sys.stdin.readline().strip()
    begun = os.dup(1)
    os.dup2(2, 1)  # what an environment prints must not get between
    asyncio.run(serve(args.socket, token, begun))
    return 0
