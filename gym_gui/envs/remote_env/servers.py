"""Environment servers: processes started on this machine, or programs on other machines."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gym_gui.core.errors import EnvironmentLostError, MosaicError, WorkerLaunchError
from gym_gui.core.foreign_python import python_environment
from gym_gui.core.paths import cache_dir
from gym_gui.envs.remote_env.server_connection import Connection, PendingRequest
from gym_gui.envs.remote_env.transports import AwaitedLink, PatientSocket
from gym_gui.processes.child import ChildStartError
from gym_gui.processes.persistent_child import PersistentChild
from mosaic_env_server.frames import FrameMemory
from mosaic_worker.link import JsonLink
from mosaic_worker.pb import environment_pb2 as pb

_log = logging.getLogger(__name__)
_START_S = 120.0
_CONNECT_S = 20.0
_LAST_WORDS_S = 1.0


@dataclass(frozen=True)
class LocalServer:
    """Location of an environment server that is started on this machine.

    Attributes:
        name: Name of the server in messages and in ``ps``.
        python: Interpreter of the server; ``None`` for this process's own.
        path: Folders that the server imports from.
        command: Program that replaces the SDK's server and exchanges JSON lines; empty for the SDK's server.
        variables: Environment variables that the server gets in addition to those of every child process.
    """

    name: str
    python: Path | None = None
    path: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class RemoteServer:
    """Location of an environment server on another machine (``python -m mosaic_env_server.remote``).

    Attributes:
        name: Name of the server in messages.
        address: ``host:port``.
        token: Token that the server requires.
        tls_root: Certificate that verifies the server's own; ``None`` for no encryption.
    """

    name: str
    address: str
    token: str = field(repr=False)
    tls_root: Path | None = None


Place = LocalServer | RemoteServer


class Server:
    """One environment server, started when it is needed, and again after it has ended.

    Args:
        place: Location of the server.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._child: PersistentChild | None = None
        self._numbers = itertools.count(1)
        self._known: dict[tuple[str, str, str], pb.Made] = {}

    @property
    def name(self) -> str:
        """Name of the server in messages."""
        return f"the server of {self._place.name}"

    @property
    def pid(self) -> int:
        """Process id of the server; 0 if it does not run or was not started by this process."""
        return self._child.pid if self._child is not None and self._child.running else 0

    def connection(self) -> Connection:
        """Return a connection to the running server; start the server first if necessary.

        Raises:
            WorkerLaunchError: The server cannot be started or reached.
        """
        with self._lock:
            if self._connection is None or self._connection.lost:
                self._end_child("")
                self._connection = self._open()
            return self._connection

    def next_number(self) -> int:
        """Return a number for a new instance."""
        return next(self._numbers)

    def cached_description(self, make: pb.Make) -> pb.Made | None:
        """Return the stored description of an environment with these arguments; ``None`` if unknown."""
        return self._known.get((make.entry, make.arguments, make.api))

    def learn(self, make: pb.Make, made: pb.Made) -> None:
        """Store the description of an environment with these arguments."""
        self._known[(make.entry, make.arguments, make.api)] = made

    def report(
        self, connection: Connection, ticket: PendingRequest, within_s: float, doing: str
    ) -> pb.Report:
        """Return the server's report on a request.

        Raises:
            EnvironmentLostError: The server has ended, or did not answer and was ended; the message gives
                the reason.
        """
        try:
            return connection.report(ticket, within_s, doing)
        except EnvironmentLostError as error:
            raise EnvironmentLostError(f"{self.name} {self._why(connection, error)}") from None

    def close(self) -> None:
        """End the server."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            if self._child is not None:
                self._child.ended(_LAST_WORDS_S)
                self._child = None

    # -- internal

    def _why(self, connection: Connection, error: EnvironmentLostError) -> str:
        """Return why a server was lost; its exit status is more informative than a closed connection."""
        with self._lock:
            if self._child is None or connection is not self._connection:
                return error.message
            child, self._child = self._child, None
            if connection.gone:
                return child.ended(_LAST_WORDS_S).words
            child.end(reason=error.message)
            return error.message

    def _end_child(self, reason: str) -> None:
        if self._child is not None:
            self._child.end(reason=reason)
            self._child = None

    def _open(self) -> Connection:
        place = self._place
        try:
            if isinstance(place, RemoteServer):
                from gym_gui.envs.remote_env.grpc_carrier import open_remote

                certificate = place.tls_root.read_bytes() if place.tls_root is not None else None
                link = AwaitedLink(open_remote(place.address, place.token, certificate, _CONNECT_S))
                connection = Connection(link)
            elif place.command:
                connection = self._start_program(place)
            else:
                connection = self._start(place)
        except ChildStartError:
            raise
        except OSError as exc:
            raise WorkerLaunchError(f"{self.name} cannot be reached: {exc}") from exc
        try:
            connection.greet(place.token if isinstance(place, RemoteServer) else "", _START_S)
        except ValueError as exc:
            connection.close()
            self._end_child("")
            raise WorkerLaunchError(
                f"{self.name} {exc}", fix="Update the mosaic-worker package where it runs, or this program"
            ) from None
        except EnvironmentLostError as error:
            self._connection = connection
            raise WorkerLaunchError(f"{self.name} {self._why(connection, error)}") from None
        return connection

    def _start(self, place: LocalServer) -> Connection:
        memory = FrameMemory.create()
        ours, theirs = socket.socketpair()
        fds = [theirs.fileno(), *([memory.fd] if memory is not None else [])]
        python = str(place.python or sys.executable)
        command = [python, "-m", "mosaic_env_server", place.name, "--fd", str(fds[0])]
        command += ["--parent", str(os.getpid())]
        command += ["--frames", str(memory.fd)] if memory is not None else []
        try:
            self._child = PersistentChild.start(
                *command, name=self.name, environment=self._environment(place), pass_fds=fds
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return Connection(PatientSocket(ours), memory)

    def _start_program(self, place: LocalServer) -> Connection:
        child_in, our_out = os.pipe()
        our_in, child_out = os.pipe()
        try:
            self._child = PersistentChild.start(
                *place.command,
                name=self.name,
                environment=self._environment(place),
                stdin=child_in,
                stdout=child_out,
                tied=True,
            )
        except BaseException:
            os.close(our_in)
            os.close(our_out)
            raise
        finally:
            os.close(child_in)
            os.close(child_out)
        reader, writer = os.fdopen(our_in, "rb"), os.fdopen(our_out, "wb", 0)
        return Connection(AwaitedLink(JsonLink(reader, writer, pb.FromEnvironment)))

    def _environment(self, place: LocalServer) -> dict[str, str]:
        foreign = place.python is not None and place.python != Path(sys.executable)
        env = python_environment(foreign, cache_dir() / "environments" / place.name, path=place.path)
        return {**env, **dict(place.variables)}


_servers: dict[tuple[int, Place], Server] = {}
_guard = threading.Lock()


def server_of(place: Place) -> Server:
    """Return the server at a location; this process has one server there for all environments."""
    with _guard:
        key = os.getpid(), place
        if key not in _servers:
            _servers[key] = Server(place)
        return _servers[key]


def close_servers(places: Sequence[Place] = ()) -> None:
    """End servers that this process has started: all of them, or those at given locations.

    Otherwise the servers end together with this process.
    """
    with _guard:
        chosen = [key for key in _servers if key[0] == os.getpid() and (not places or key[1] in places)]
        servers = [_servers.pop(key) for key in chosen]
    for server in servers:
        with contextlib.suppress(MosaicError):
            server.close()
