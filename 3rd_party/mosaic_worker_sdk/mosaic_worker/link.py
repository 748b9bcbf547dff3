"""The worker's end of a connection: blocking, one message at a time.

Two carriers of the same messages: frames on a socket (the default between processes of
one machine) and JSON lines on stdin/stdout (what a worker in another language speaks).
"""

from __future__ import annotations

import socket
import struct
import threading
from typing import IO, Optional, Sequence

from mosaic_worker.pb import worker_pb2 as pb

PROTOCOL = 1
"""Version of the messages; a peer with another version is refused."""

MAX_FRAME = 1 << 28
"""Largest frame accepted, 256 MiB: a garbled length must not allocate the machine away."""

ADMITTED = "mosaic-admitted"
"""Name of the header with which a worker on another machine lets a host in; the host is silent until then."""

_SIZE = struct.Struct("<I")


class Link:
    """What carries messages between this worker and its host."""

    def receive(self) -> Optional[pb.ToWorker]:
        """The next message, or ``None`` when the host is gone.

        Raises:
            ValueError: What arrived is no message.
        """
        raise NotImplementedError

    def arrived(self) -> Optional[pb.ToWorker]:
        """The next message where it has arrived whole already; ``None`` where that is not known."""
        return None

    def send_all(self, messages: Sequence[pb.FromWorker]) -> None:
        """Send several messages, in one piece where the carrier allows it; as :meth:`send`."""
        for message in messages:
            self.send(message)

    def send(self, message: pb.FromWorker) -> None:
        """Send a message; safe from several threads.

        Raises:
            OSError: The host is gone.
        """
        self.write(self.encode(message))

    def encode(self, message: pb.FromWorker) -> bytes:
        """A message as it travels on this carrier."""
        raise NotImplementedError

    def write(self, data: bytes) -> None:
        """Send bytes as they are, in one piece; for tools that test hosts.

        Raises:
            OSError: The host is gone.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close both directions."""


class SocketLink(Link):
    """Frames on a connected stream socket: ``u32`` little-endian size, then the message."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()
        self._lock = threading.Lock()

    def _fill(self, size: int) -> bool:
        while len(self._buffer) < size:
            chunk = self._sock.recv(max(65536, size - len(self._buffer)))
            if not chunk:
                return False
            self._buffer += chunk
        return True

    def receive(self) -> Optional[pb.ToWorker]:
        if not self._fill(4):
            return None
        (size,) = _SIZE.unpack_from(self._buffer)
        if size > MAX_FRAME:
            raise ValueError(f"a frame of {size} bytes is over the limit")
        return self._take(size) if self._fill(4 + size) else None

    def arrived(self) -> Optional[pb.ToWorker]:
        if len(self._buffer) < 4:
            return None
        (size,) = _SIZE.unpack_from(self._buffer)
        return self._take(size) if len(self._buffer) >= 4 + size else None

    def _take(self, size: int) -> pb.ToWorker:
        message = pb.ToWorker.FromString(bytes(self._buffer[4 : 4 + size]))
        del self._buffer[: 4 + size]
        return message

    def send_all(self, messages: Sequence[pb.FromWorker]) -> None:
        self.write(b"".join([self.encode(message) for message in messages]))

    def encode(self, message: pb.FromWorker) -> bytes:
        data = message.SerializeToString()
        return _SIZE.pack(len(data)) + data

    def write(self, data: bytes) -> None:
        with self._lock:
            self._sock.sendall(data)

    def close(self) -> None:
        self._sock.close()


class JsonLink(Link):
    """One JSON object a line, in protobuf's canonical JSON form."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        from google.protobuf import json_format

        self._json = json_format
        self._reader, self._writer = reader, writer
        self._lock = threading.Lock()

    def receive(self) -> Optional[pb.ToWorker]:
        line = self._reader.readline()
        if not line.endswith(b"\n"):
            return None
        try:
            # As in the binary form: what a later host adds is not for us.
            return self._json.Parse(line, pb.ToWorker(), ignore_unknown_fields=True)
        except (self._json.ParseError, UnicodeDecodeError) as exc:
            raise ValueError(f"no message: {line!r:.200}") from exc

    def encode(self, message: pb.FromWorker) -> bytes:
        text = self._json.MessageToJson(message, indent=None, preserving_proto_field_name=True)
        return text.encode() + b"\n"

    def write(self, data: bytes) -> None:
        with self._lock:
            self._writer.write(data)
            self._writer.flush()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
