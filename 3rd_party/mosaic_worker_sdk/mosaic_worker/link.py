"""One end of a connection: blocking, one message at a time.

Two carriers of the same messages: frames on a socket (the default between processes of
one machine) and JSON lines on stdin/stdout (what a program in another language speaks).
Workers are at one end of it, and both ends of what a served environment and its player say.
"""

from __future__ import annotations

import socket
import struct
import threading
from typing import IO, Any, Generic, Optional, Sequence, Type, TypeVar

from mosaic_worker.pb import worker_pb2 as pb

PROTOCOL = 1
"""Version of the messages; a peer with another version is refused."""

MAX_FRAME = 1 << 28
"""Largest frame accepted, 256 MiB: a garbled length must not allocate the machine away."""

ADMITTED = "mosaic-admitted"
"""Name of the header with which a worker on another machine lets a host in; the host is silent until then."""

GRPC_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_FRAME),
    ("grpc.max_send_message_length", MAX_FRAME),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.enable_http_proxy", 0),
)
"""Channel options of a client that connects to another machine."""

_SIZE = struct.Struct("<I")
_In = TypeVar("_In")
_Out = TypeVar("_Out")


class Link(Generic[_In, _Out]):
    """What carries messages between this program and the one at the other end."""

    def receive(self) -> Optional[_In]:
        """The next message, or ``None`` when the other end is gone.

        Raises:
            ValueError: What arrived is no message.
        """
        raise NotImplementedError

    def arrived(self) -> Optional[_In]:
        """The next message where it has arrived whole already; ``None`` where that is not known."""
        return None

    def send_all(self, messages: Sequence[_Out]) -> None:
        """Send several messages, in one piece where the carrier allows it; as :meth:`send`."""
        for message in messages:
            self.send(message)

    def send(self, message: _Out) -> None:
        """Send a message; safe from several threads.

        Raises:
            OSError: The other end is gone.
        """
        self.write(self.encode(message))

    def encode(self, message: _Out) -> bytes:
        """A message as it travels on this carrier."""
        raise NotImplementedError

    def write(self, data: bytes) -> None:
        """Send bytes as they are, in one piece; for tools that test hosts.

        Raises:
            OSError: The other end is gone.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close both directions."""


WorkerLink = Link[pb.ToWorker, pb.FromWorker]
"""A worker's end."""


class SocketLink(Link[_In, _Out]):
    """Frames on a connected stream socket: ``u32`` little-endian size, then the message.

    Args:
        sock: The socket.
        incoming: Class of the messages that arrive.
    """

    def __init__(self, sock: socket.socket, incoming: Type[_In]) -> None:
        self._sock, self._incoming = sock, incoming
        self._buffer = bytearray()
        self._lock = threading.Lock()

    def _fill(self, size: int) -> bool:
        while len(self._buffer) < size:
            chunk = self._sock.recv(max(65536, size - len(self._buffer)))
            if not chunk:
                return False
            self._buffer += chunk
        return True

    def receive(self) -> Optional[_In]:
        if not self._fill(4):
            return None
        (size,) = _SIZE.unpack_from(self._buffer)
        if size > MAX_FRAME:
            raise ValueError(f"a frame of {size} bytes is over the limit")
        return self._take(size) if self._fill(4 + size) else None

    def arrived(self) -> Optional[_In]:
        if len(self._buffer) < 4:
            return None
        (size,) = _SIZE.unpack_from(self._buffer)
        return self._take(size) if len(self._buffer) >= 4 + size else None

    def _take(self, size: int) -> _In:
        kind: Any = self._incoming
        message: _In = kind.FromString(bytes(self._buffer[4 : 4 + size]))
        del self._buffer[: 4 + size]
        return message

    def send_all(self, messages: Sequence[_Out]) -> None:
        self.write(b"".join([self.encode(message) for message in messages]))

    def encode(self, message: _Out) -> bytes:
        data: bytes = getattr(message, "SerializeToString")()  # noqa: B009  # of any generated class
        return _SIZE.pack(len(data)) + data

    def write(self, data: bytes) -> None:
        with self._lock:
            self._sock.sendall(data)

    def close(self) -> None:
        self._sock.close()


class JsonLink(Link[_In, _Out]):
    """One JSON object a line, in protobuf's canonical JSON form.

    Args:
        reader: Where lines come from.
        writer: Where they go.
        incoming: Class of the messages that arrive.
    """

    def __init__(self, reader: IO[bytes], writer: IO[bytes], incoming: Type[_In]) -> None:
        from google.protobuf import json_format

        self._json: Any = json_format
        self._incoming: Any = incoming
        self._reader, self._writer = reader, writer
        self._lock = threading.Lock()

    def receive(self) -> Optional[_In]:
        line = self._reader.readline()
        if not line.endswith(b"\n"):
            return None
        try:
            # As in the binary form: what a later host adds is not for us.
            return self._json.Parse(line, self._incoming(), ignore_unknown_fields=True)
        except (self._json.ParseError, UnicodeDecodeError) as exc:
            raise ValueError(f"no message: {line!r:.200}") from exc

    def encode(self, message: _Out) -> bytes:
        text: str = self._json.MessageToJson(message, indent=None, preserving_proto_field_name=True)
        return text.encode() + b"\n"

    def write(self, data: bytes) -> None:
        with self._lock:
            self._writer.write(data)
            self._writer.flush()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
