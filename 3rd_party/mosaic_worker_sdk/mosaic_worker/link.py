"""Blocking connections that carry messages between two programs.

Two carriers transport the same messages: frames on a socket (the default between processes of one machine)
and JSON lines on stdin and stdout (for programs in another language). A worker has a link to its host; an
environment server and the program that plays its environments have one too.
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
"""Largest accepted frame, 256 MiB, so that a damaged length cannot exhaust the memory."""

ADMITTED = "mosaic-admitted"
"""Header by which a worker on another machine accepts a host; the host sends no message before it arrives."""

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
    """Base class of connections that carry messages between this program and its peer."""

    def receive(self) -> Optional[_In]:
        """Wait for the next message and return it, or ``None`` if the peer has closed the connection.

        Raises:
            ValueError: The data that arrived are no message.
        """
        raise NotImplementedError

    def arrived(self) -> Optional[_In]:
        """Return the next message if it has arrived completely, without waiting; otherwise ``None``."""
        return None

    def send_all(self, messages: Sequence[_Out]) -> None:
        """Send several messages as :meth:`send` does, in a single write if the carrier allows it."""
        for message in messages:
            self.send(message)

    def send(self, message: _Out) -> None:
        """Send a message; several threads may call this.

        Raises:
            OSError: The peer has closed the connection.
        """
        self.write(self.encode(message))

    def encode(self, message: _Out) -> bytes:
        """Return a message as the bytes that this carrier sends."""
        raise NotImplementedError

    def write(self, data: bytes) -> None:
        """Send bytes unchanged in a single write; tools that test hosts call this directly.

        Raises:
            OSError: The peer has closed the connection.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close both directions."""


WorkerLink = Link[pb.ToWorker, pb.FromWorker]
"""Link from a worker to its host."""


class SocketLink(Link[_In, _Out]):
    """Link over a connected stream socket. A frame is a ``u32`` little-endian size and the message.

    Args:
        sock: The socket.
        incoming: Class of incoming messages.
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
    """Link over text lines, each a JSON object in protobuf's canonical JSON form.

    Args:
        reader: Stream of incoming lines.
        writer: Stream of outgoing lines.
        incoming: Class of incoming messages.
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
            # As in the binary form, fields that a later host adds are ignored.
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
