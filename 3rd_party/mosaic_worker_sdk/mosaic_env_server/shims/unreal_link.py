"""A connection to UnrealCV by its Python client, of which every wait ends and every failure is a sentence.

https://github.com/unrealcv/unrealcv. The engine lets one client in at a time: within a process all
environments of an engine share one connection. The client's own requests are not used: they wait in a thread,
without an end where the engine is stopped, and for half a minute where it is gone.
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

from mosaic_env_server.shims.simulators import SimulatorError, Unreachable

_REMEDY = "Start the engine, or give host and port"
_OTHERS_S, _AGAIN_S = 2.0, 0.2
"""For how long a refused connection is tried again, and the pause between two tries."""
_NEEDED = (0, 3, 7)
"""The first version that sends pictures over the connection."""


class UnrealLink:
    """One connection, shared; made by :meth:`of`.

    Attributes:
        who: The engine's name in messages.
        holder: The environment that placed the cameras last.
        homes: Where each camera was before an environment moved it: location and rotation, as UnrealCV has
            them.
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
        """The connection to an engine; each call wants one :meth:`leave`.

        Raises:
            SimulatorError: Nothing is there, or what is there is of another version.
        """
        link = cls._open.get((host, port))
        if link is None:
            link = cls._open[(host, port)] = cls(host, port, timeout_s)
        link._users += 1
        return link

    def leave(self) -> None:
        """No longer use it; the last one hangs up."""
        self._users -= 1
        if self._users <= 0:
            self.drop()

    @property
    def lost(self) -> bool:
        """Whether it has been given up."""
        return self._client.sock is None

    def drop(self) -> None:
        """Hang up; environments that use this link need another."""
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
                raise Unreachable(
                    f"{self.who} did not answer within {timeout_s:g} s: it is stopped or has another client. "
                    f"{_REMEDY}"
                )
            spent = time.monotonic() - began
            try:
                socket.create_connection(self._key, timeout_s).close()
            except OSError as exc:
                if self._key not in self._known or spent >= timeout_s:
                    why = exc.strerror or str(exc)
                    raise Unreachable(f"{self.who} cannot be reached: {why}. {_REMEDY}") from None
            else:
                if spent >= _OTHERS_S:
                    raise Unreachable(
                        f"{self.who} did not greet us: it is no UnrealCV, or has another client. {_REMEDY}"
                    )
            # One that was there may be about to come back, another process of ours about to hang up.
            time.sleep(_AGAIN_S)

    def _welcomed(self, timeout_s: float) -> bool:
        before = socket.getdefaulttimeout()
        # The client connects, and reads the engine's greeting, without a limit of its own.
        socket.setdefaulttimeout(timeout_s)
        try:
            return bool(self._client.connect(start_receive_thread=False))
        finally:
            socket.setdefaulttimeout(before)

    def _check_version(self, timeout_s: float) -> None:
        from unrealcv import ApiVersionManager

        try:
            told = self.ask("vget /unrealcv/version", timeout_s)
        except Unreachable:
            raise
        except SimulatorError:
            return  # it has no such command, or does not know
        version = ApiVersionManager.parse_version_tuple(told)
        if version is not None and version < _NEEDED:
            needed = ".".join(map(str, _NEEDED))
            raise SimulatorError(
                f"{self.who} is UnrealCV {told.strip()}, and {needed} or newer is needed, "
                "which sends pictures over the connection"
            )

    def ask(self, command: str, timeout_s: float) -> str:
        """What it answers to a command.

        Raises:
            SimulatorError: No answer, a refusal, or no sense.
        """
        body = self.fetch(command, timeout_s)
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            raise self._broken(f"sent what is no answer to {command!r}") from None

    def tell(self, command: str, timeout_s: float) -> None:
        """Have something done; raises as :meth:`ask`."""
        self.ask(command, timeout_s)

    def numbers(self, command: str, timeout_s: float) -> Any:
        """Three numbers that it answers; raises as :meth:`ask`."""
        told = self.ask(command, timeout_s)
        try:
            found = [float(word) for word in told.split()]
        except ValueError:
            found = []
        if len(found) != 3:
            raise SimulatorError(f"{self.who} sent what is no answer to {command!r}: {told[:80]!r}")
        return found

    def fetch(self, command: str, timeout_s: float) -> bytes:
        """The same as :meth:`ask`, as bytes."""
        until = time.monotonic() + timeout_s
        number = self._client.send_message_id
        if self.lost:
            raise Unreachable(f"{self.who} is gone. {_REMEDY}")
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
                    raise self._broken(f"sent what is no answer to {command!r}")
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

    def _broken(self, what: str) -> Unreachable:
        self.drop()
        return Unreachable(f"{self.who} {what}. {_REMEDY}")
