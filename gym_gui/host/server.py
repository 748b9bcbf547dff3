"""The session host process: one operator's engine behind a Unix socket.

It serves one client, once: when that call ends, for whatever reason, the process stops its
workers and ends. It reads its token and its settings from stdin; the token is never an argument.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.session_events import LogLine
from gym_gui.core.inherited_environment import set_aside
from gym_gui.core.trusted.trust import enforce
from gym_gui.host.event_queue import Outbox
from gym_gui.host.frames import FrameWriter
from gym_gui.host.host_program import LISTENING
from gym_gui.host.pb import session_pb2_grpc
from gym_gui.host.session_servicer import SessionServicer
from gym_gui.processes.child_output import keep_stdout
from gym_gui.processes.tree import TAG, adopt_orphans
from gym_gui.services.rpc.serving import RpcServer
from gym_gui.services.secrets import provide


class _Forward(logging.Handler):
    """Hands what our own code logs to the client, in whatever thread it does."""

    def __init__(self, outbox: Outbox) -> None:
        super().__init__(logging.WARNING)
        self._outbox, self._loop = outbox, asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        line = record.levelno, record.name, self.format(record)
        with suppress(RuntimeError):  # the session is over
            self._loop.call_soon_threadsafe(self._outbox.on_event, LogLine(*line))


async def serve(
    socket_path: str, token: str, begun: int, frames: int | None = None, *, own_keys: bool = False
) -> None:
    """Serve one client on a Unix socket, then return.

    Args:
        socket_path: Where to listen.
        token: What the client must show.
        begun: Pipe that gets ``listening``, then the indices of episodes that begin.
        frames: The client's memory for pictures.
        own_keys: Whether it looks up keys itself; else the client sends them.
    """
    outbox = Outbox(begun, None if frames is None else FrameWriter(frames))
    done = asyncio.Event()
    generated: Any = session_pb2_grpc
    servicer = SessionServicer(outbox, done, own_keys=own_keys)
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


def main(frames: int | None = None) -> int:
    """Run a session host; returns its exit status.

    What it is for comes in on stdin (:meth:`gym_gui.host.host_program.HostProgram.tell`); where nothing
    comes, it is not needed.

    Args:
        frames: The client's memory for pictures, inherited.
    """
    said = sys.stdin.readline()
    if not said:
        return 0
    orders = json.loads(said)
    _take_over(orders["environment"])
    _be_called(orders["operator"])
    enforce()
    adopt_orphans()
    set_aside()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    begun = keep_stdout()  # what an environment prints must not get between
    if frames is not None:
        os.set_inheritable(frames, False)  # workers have no business with it
    keys = orders["keys"]
    provide(keys or {})
    serving = serve(orders["socket"], orders["token"], begun, frames, own_keys=keys is not None)
    asyncio.run(serving)
    return 0


def _take_over(environment: Mapping[str, str]) -> None:
    """Have these variables and no others, but for the trees that this process belongs to."""
    trees = os.environ.get(TAG)
    os.environ.clear()
    os.environ.update(environment)
    if trees is not None:
        os.environ[TAG] = trees


def _be_called(operator: str) -> None:
    """Have ``ps`` and ``top`` show who plays here: a host may be started before that is known."""
    with suppress(OSError):  # elsewhere than on Linux
        Path("/proc/self/comm").write_bytes(operator.encode()[:15])
