"""The session host process: runs an operator's session behind a Unix socket.

It serves one client. When that client's call ends, for whatever reason, the process stops its workers and
ends, unless the client has asked it to rest: then it waits for the client's next session. The token comes in
on stdin with the other orders, never as an argument.
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
from functools import partial
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.session_events import LogLine
from gym_gui.core.inherited_environment import set_aside
from gym_gui.core.trusted.trust import enforce
from gym_gui.host.event_queue import Outbox
from gym_gui.host.frames import FrameWriter
from gym_gui.host.host_program import LISTENING
from gym_gui.host.pb import session_pb2_grpc
from gym_gui.host.session_servicer import SessionServicer, show_operator
from gym_gui.processes.child_output import reserve_stdout
from gym_gui.processes.tree import TAG, adopt_orphans
from gym_gui.services.rpc.serving import RpcServer
from gym_gui.services.secrets import provide


class _Forward(logging.Handler):
    """Forwards log records of MOSAIC's own code to the client, from any thread."""

    def __init__(self, servicer: SessionServicer) -> None:
        super().__init__(logging.WARNING)
        self._servicer, self._loop = servicer, asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        line = record.levelno, record.name, self.format(record)
        with suppress(RuntimeError):  # raised if the session is over
            self._loop.call_soon_threadsafe(self._tell, LogLine(*line))

    def _tell(self, line: LogLine) -> None:
        self._servicer.outbox.on_event(line)


async def serve(
    socket_path: str, token: str, begun: int, frames: int | None = None, *, own_keys: bool = False
) -> None:
    """Serve one client on a Unix socket until its last session ends.

    Args:
        socket_path: Path of the socket.
        token: Token that the client must send.
        begun: Pipe that receives ``listening``, then the indices of episodes that begin.
        frames: File descriptor of the client's memory for pictures, or ``None``.
        own_keys: Whether the host looks up API keys itself; otherwise the client sends them.
    """
    writer = None if frames is None else FrameWriter(frames)
    done = asyncio.Event()
    generated: Any = session_pb2_grpc
    servicer = SessionServicer(partial(Outbox, begun, writer), done, own_keys=own_keys)
    server = RpcServer(token, lambda server: generated.add_SessionServicer_to_server(servicer, server))
    server.listen(Path(socket_path))
    await server.start()
    os.write(begun, LISTENING + b"\n")
    forward = _Forward(servicer)
    ours = logging.getLogger("gym_gui")
    ours.addHandler(forward)
    ours.propagate = False  # otherwise the line would be reported again, as output
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, done.set)
    await done.wait()
    ours.removeHandler(forward)
    await server.stop(1.0)


def main(frames: int | None = None) -> int:
    """Run a session host and return its exit status.

    The configuration arrives on stdin (:meth:`.host_program.HostProgram.send_configuration`). Without a
    configuration, the host ends at once.

    Args:
        frames: Inherited file descriptor of the client's memory for pictures, or ``None``.
    """
    said = sys.stdin.readline()
    if not said:
        return 0
    orders = json.loads(said)
    _replace_environment(orders["environment"])
    show_operator(orders["operator"])
    enforce()
    adopt_orphans()
    set_aside()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    begun = reserve_stdout()  # the output of an environment must not mix with ours
    if frames is not None:
        os.set_inheritable(frames, False)  # workers must not inherit the memory
    keys = orders["keys"]
    provide(keys or {})
    serving = serve(orders["socket"], orders["token"], begun, frames, own_keys=keys is not None)
    asyncio.run(serving)
    return 0


def _replace_environment(environment: Mapping[str, str]) -> None:
    """Replace all environment variables of this process, except the tags of its process trees."""
    trees = os.environ.get(TAG)
    os.environ.clear()
    os.environ.update(environment)
    if trees is not None:
        os.environ[TAG] = trees
