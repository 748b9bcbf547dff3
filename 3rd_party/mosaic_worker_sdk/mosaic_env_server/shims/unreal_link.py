"""Connects to UnrealCV by UnrealCV's Python client, with time limits and with errors as sentences.

https://github.com/unrealcv/unrealcv. The engine accepts one client at a time, so all environments of a
process that use an engine share one connection. The client's own requests are not used: they wait in a
thread, without a limit if the engine is stopped, and for half a minute if it has ended.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportMissingModuleSource=false

from __future__ import annotations

import select
import socket
import struct
import time
from contextlib import suppress
from typing import Any, ClassVar, Dict, Set, Tuple

from mosaic_env_server.shims.simulators import SimulatorError, SimulatorUnreachable

_REMEDY = "Start the engine, or give host and port"
_OTHERS_S, _AGAIN_S = 2.0, 0.2
"""Seconds for which a refused connection is retried, and the pause between two attempts."""
_NEEDED = (0, 3, 7)
"""First version of UnrealCV that sends images over the connection."""


class UnrealLink:
    """Connection to an engine, shared by environments; created by :meth:`of`.

    Attributes:
        who: The engine's name in messages.
        holder: The environment that placed the cameras last.
        homes: Location and rotation of each camera before an environment moved it, in the form that
            UnrealCV uses.
    """

    _open: ClassVar[Dict[Tuple[str, int], UnrealLink]] = {}
    _known: ClassVar[Set[Tuple[str, int]]] = set()

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        import unrealcv

        self.who = f"UnrealCV at {host}:{port}"
        self.holder: Any = None
        self.homes: Dict[int, Any] = {}
        self._key, self._users = (host, port), 0
        self._client: Any = unrealcv.Client((host, port))
        self._connect(timeout_s)
        try:
            self._check_version(timeout_s)
        except BaseException:
            self.drop()
            raise
        self._known.add(self._key)

    @classmethod
    def of(cls, host: str, port: int, timeout_s: float) -> UnrealLink:
        """Return the connection to an engine; each call requires one call of :meth:`release`.

        Raises:
            SimulatorError: No engine is reachable at the address, or it has another version.
        """
        link = cls._open.get((host, port))
        if link is None:
            link = cls._open[(host, port)] = cls(host, port, timeout_s)
        link._users += 1
        return link

    def release(self) -> None:
        """Stop using the connection; the last user closes it."""
        self._users -= 1
        if self._users <= 0:
            self.drop()

    @property
    def lost(self) -> bool:
        """Whether the connection is closed."""
        return self._client.sock is None

    def drop(self) -> None:
        """Close the connection; environments that use it must reconnect."""
        if self._open.get(self._key) is self:
            del self._open[self._key]
        with suppress(Exception):
            self._client.disconnect()

    def _connect(self, timeout_s: float) -> None:
        began = time.monotonic()
        while True:
            tried = time.monotonic()
            if self._welcomed(timeout_s):
                return
            if time.monotonic() - tried >= timeout_s:
                raise SimulatorUnreachable(
                    f"{self.who} did not answer within {timeout_s:g} s: it is stopped or has another client. "
                    f"{_REMEDY}"
                )
            spent = time.monotonic() - began
            try:
                socket.create_connection(self._key, timeout_s).close()
            except OSError as exc:
                if self._key not in self._known or spent >= timeout_s:
                    why = exc.strerror or str(exc)
                    raise SimulatorUnreachable(f"{self.who} cannot be reached: {why}. {_REMEDY}") from None
            else:
                if spent >= _OTHERS_S:
                    raise SimulatorUnreachable(
                        f"{self.who} did not greet us: it is no UnrealCV, or has another client. {_REMEDY}"
                    )
            # An engine that answered before may be restarting, or another process of MOSAIC about to
            # disconnect.
            time.sleep(_AGAIN_S)

    def _welcomed(self, timeout_s: float) -> bool:
        before = socket.getdefaulttimeout()
        # The client connects and reads the engine's greeting without a time limit of its own.
        socket.setdefaulttimeout(timeout_s)
        try:
            return bool(self._client.connect(start_receive_thread=False))
        finally:
            socket.setdefaulttimeout(before)

    def _check_version(self, timeout_s: float) -> None:
        from unrealcv import ApiVersionManager

        try:
            told = self.ask("vget /unrealcv/version", timeout_s)
        except SimulatorUnreachable:
            raise
        except SimulatorError:
            return  # this engine has no such command, or cannot answer it
        version = ApiVersionManager.parse_version_tuple(told)
        if version is not None and version < _NEEDED:
            needed = ".".join(map(str, _NEEDED))
            raise SimulatorError(
                f"{self.who} is UnrealCV {told.strip()}, and {needed} or newer is needed, "
                "which sends pictures over the connection"
            )

    def ask(self, command: str, timeout_s: float) -> str:
        """Send a command and return the answer as text.

        Raises:
            SimulatorError: The engine does not answer, refuses, or sends an invalid answer.
        """
        body = self.fetch(command, timeout_s)
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            raise self._broken(f"sent an invalid answer to {command!r}") from None

    def send(self, command: str, timeout_s: float) -> None:
        """Send a command that has no result; raises as :meth:`ask` does."""
        self.ask(command, timeout_s)

    def numbers(self, command: str, timeout_s: float) -> Any:
        """Send a command and return its answer of three numbers; raises as :meth:`ask` does."""
        told = self.ask(command, timeout_s)
        try:
            found = [float(word) for word in told.split()]
        except ValueError:
            found = []
        if len(found) != 3:
            raise SimulatorError(f"{self.who} sent an invalid answer to {command!r}: {told[:80]!r}")
        return found

    def fetch(self, command: str, timeout_s: float) -> bytes:
        """Send a command and return the answer as bytes; raises as :meth:`ask` does."""
        until = time.monotonic() + timeout_s
        number = self._client.send_message_id
        if self.lost:
            raise SimulatorUnreachable(f"{self.who} has disconnected. {_REMEDY}")
        self._client.sock.settimeout(timeout_s)
        if not self._client.send(f"{number}:{command}".encode()):
            raise self._broken(f"broke the connection in {command!r}")
        self._client.send_message_id += 1
        told, _, body = self._payload(command, until, timeout_s).partition(b":")
        if told != str(number).encode():
            raise self._broken(f"answered another command than {command!r}")
        if body.lstrip()[:5].lower() == b"error":
            words = " ".join(body[:200].decode("utf-8", "replace").split())
            raise SimulatorError(f"{self.who} refused {command!r}: {words}")
        return body

    def _payload(self, command: str, until: float, timeout_s: float) -> bytes:
        from unrealcv import SocketMessage

        sock = self._client.sock
        try:
            while True:
                readable = select.select([sock], [], [], max(0.0, until - time.monotonic()))[0]
                if not readable:
                    raise socket.timeout
                head = sock.recv(4, socket.MSG_PEEK)
                if not head:
                    raise self._broken(f"broke the connection in {command!r}")
                if not struct.pack("I", SocketMessage.magic).startswith(head):
                    raise self._broken(f"sent an invalid answer to {command!r}")
                if len(head) == 4:
                    break
                time.sleep(0.001)
            sock.settimeout(max(0.001, until - time.monotonic()))
            payload = SocketMessage.ReceivePayload(sock)
        except (socket.timeout, TimeoutError):
            raise self._broken(f"did not answer within {timeout_s:g} s in {command!r}") from None
        except (OSError, MemoryError, OverflowError):
            payload = None
        if payload is None:
            raise self._broken(f"broke the connection in {command!r}")
        return payload

    def _broken(self, what: str) -> SimulatorUnreachable:
        self.drop()
        return SimulatorUnreachable(f"{self.who} {what}. {_REMEDY}")
