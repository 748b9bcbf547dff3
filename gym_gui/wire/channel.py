"""Channels for messages to and from workers, on the host's side: one protocol over several transports.

The running asyncio loop drives all channels, and each received message is passed to a callback. A queue and a
task per worker would take more time than the message itself.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections.abc import Callable
from typing import Protocol

from google.protobuf.message import DecodeError

from mosaic_worker.link import MAX_FRAME, PROTOCOL
from mosaic_worker.pb import worker_pb2 as pb

__all__ = [
    "MAX_CALL",
    "MAX_LINE",
    "MAX_LOG",
    "PROTOCOL",
    "Channel",
    "Frames",
    "JsonChannel",
    "Lines",
    "OnClosed",
    "OnMessage",
    "Receiver",
    "SocketChannel",
    "pb",
]

MAX_LINE = 1 << 24
"""Largest accepted size of a JSON line in bytes (16 MiB)."""

MAX_LOG = 1 << 20
"""Largest size in bytes of a log entry that is read (1 MiB)."""
MAX_CALL = 8 << 20
"""Largest size in bytes of the record of a model call (8 MiB), which becomes a line of the run."""

OnMessage = Callable[[pb.FromWorker], None]
OnClosed = Callable[[str], None]
"""Function called once when the channel ends, with the problem, or ``""`` for a normal end."""

_SIZE = struct.Struct("<I")
_READ = 1 << 18
_LEFT_MOST = 1 << 24
"""Largest number of bytes read from a worker that has ended. A socket's buffers hold less."""


_LOG, _CALL = (pb.FromWorker.DESCRIPTOR.fields_by_name[name].number << 3 | 2 for name in ("log", "call"))
"""First byte of an encoded log message and of an encoded call message."""


class Channel(Protocol):
    """Connection to one worker."""

    def send(self, message: pb.ToWorker) -> None:
        """Queue a message; never blocks. A message after the end of the channel is dropped.

        :meth:`flush` or the event loop's next iteration sends the message.
        """
        ...

    def flush(self) -> None:
        """Send queued messages now, in one system call if the transport allows it; never blocks."""
        ...

    def pump(self) -> None:
        """Handle messages that have already arrived, if the transport can read them now; never blocks."""
        ...

    def drain(self) -> None:
        """Handle the last messages of a worker that has ended, if the transport still has some."""
        ...

    def pause_reading(self, on: bool) -> None:
        """Stop or resume reading, so that the worker's writes wait; some transports ignore this."""
        ...

    def close(self) -> None:
        """End the connection; ``on_closed`` is not called after this."""
        ...


class Receiver(asyncio.Protocol):
    """Converts received bytes to messages; a subclass defines the format.

    Args:
        on_message: Receives each message, until the receiver is closed or a problem occurs.
        on_closed: Called once with the problem, or ``""`` for a normal end.
    """

    def __init__(self, on_message: OnMessage, on_closed: OnClosed) -> None:
        self._on_message, self._on_closed = on_message, on_closed
        self._buffer = bytearray()
        self._transport: asyncio.WriteTransport | None = None
        self._over = False

    @property
    def pending(self) -> int:
        """Number of bytes of an incomplete message."""
        return len(self._buffer)

    def finish(self, problem: str) -> None:
        """Report the end of the connection once, with its problem; nothing more is received."""
        if not self._over:
            self._over = True
            self._on_closed(problem)

    def data_received(self, data: bytes) -> None:
        if self._over:
            return  # the peer is being ended, and its data are ignored
        self._buffer += data
        problem = self._drain()
        if problem:
            self.finish(problem)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.pending and not self._over:
            self.finish(f"it stopped in the middle of a message ({self.pending} bytes)")
        self.finish("")

    def _drain(self) -> str:
        raise NotImplementedError

    def close(self) -> None:
        """Stop receiving messages and reporting problems."""
        self._over = True


class Frames(Receiver):
    """Receiver of frames: ``u32`` little-endian size, then one message.

    Of a log entry that is too long, only the length is reported; its bytes are skipped as they arrive.
    """

    _left_out = 0
    """Bytes of a skipped log entry that have still to arrive."""

    def data_received(self, data: bytes) -> None:
        # Nearly always one whole message arrives at a time, and need not be collected first.
        if not self._buffer and len(data) >= 4 and _SIZE.unpack_from(data)[0] == len(data) - 4:
            problem = self._parse(data[4:])
            if problem:
                self.finish(problem)
        else:
            super().data_received(data)

    def _parse(self, frame: bytes) -> str:
        try:
            message = pb.FromWorker.FromString(frame)
        except DecodeError:
            return f"it sent {len(frame)} bytes that are no message"
        if message.WhichOneof("body") is None:
            return f"it sent {len(frame)} bytes that are no message"
        if not self._over:
            self._on_message(message)
        return ""

    def _drain(self) -> str:
        buffer, at = self._buffer, 0
        if self._left_out:
            at = min(self._left_out, len(buffer))
            self._left_out -= at
        while len(buffer) - at >= 4 and not self._over:
            (size,) = _SIZE.unpack_from(buffer, at)
            if size > MAX_FRAME:
                return f"it announced a message of {size} bytes: this is no MOSAIC worker's output"
            kind = buffer[at + 4] if size > MAX_LOG and len(buffer) - at > 4 else 0
            if kind == _LOG:
                self._on_message(_left_out(size))
                here = min(size, len(buffer) - at - 4)
                self._left_out, at = size - here, at + 4 + here
                continue
            if kind == _CALL and size > MAX_CALL:
                return f"it announced the record of a call of {size} bytes, of which {MAX_CALL} are possible"
            if len(buffer) - at - 4 < size:
                break
            problem = self._parse(bytes(buffer[at + 4 : at + 4 + size]))
            if problem:
                return problem
            at += 4 + size
        del buffer[:at]
        return ""


def _left_out(size: int) -> pb.FromWorker:
    text = f"a log entry of {size:,} bytes was left out"
    return pb.FromWorker(log=pb.Log(level=logging.WARNING, logger="mosaic.workers", text=text))


class Lines(Receiver):
    """Receiver of JSON lines; empty lines are skipped."""

    def _drain(self) -> str:
        while not self._over:
            end = self._buffer.find(b"\n")
            if end < 0:
                return "it sent a line that does not end" if len(self._buffer) > MAX_LINE else ""
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if not line.strip():
                continue
            from google.protobuf import json_format  # few workers speak JSON

            try:
                message = json_format.Parse(line, pb.FromWorker())
            except (json_format.ParseError, UnicodeDecodeError):
                return f"it printed a line that is no message: {line[:120].decode(errors='replace')!r}"
            if message.WhichOneof("body") is None:
                return f"it printed a line that is no message: {line[:120].decode(errors='replace')!r}"
            self._on_message(message)
        return ""


class SocketChannel:
    """Channel for frames on a socket: ``u32`` little-endian size, then one message.

    The channel uses the socket itself instead of an asyncio transport, so that :meth:`pump` can read an
    answer at once: the event loop would take longer than the message. Messages that are queued together are
    written together. This takes one system call, and wakes the worker only once.
    """

    def __init__(self, sock: socket.socket, frames: Frames) -> None:
        self._sock, self._frames = sock, frames
        self._loop = asyncio.get_running_loop()
        self._backlog = bytearray()
        self._closed = self._held = self._blocked = self._turn_asked = False
        self._loop.add_reader(sock, self._on_readable)

    @classmethod
    async def open(cls, sock: socket.socket, on_message: OnMessage, on_closed: OnClosed) -> SocketChannel:
        """Return a channel on a connected stream socket."""
        sock.setblocking(False)
        return cls(sock, Frames(on_message, on_closed))

    def send(self, message: pb.ToWorker) -> None:
        if self._closed:
            return
        data = message.SerializeToString()
        self._backlog += _SIZE.pack(len(data)) + data
        if not self._turn_asked:
            self._turn_asked = True
            self._loop.call_soon(self._on_turn)

    def flush(self) -> None:
        if self._backlog and not (self._blocked or self._closed):
            self._write()

    def _on_turn(self) -> None:
        self._turn_asked = False
        self.flush()

    def _write(self) -> None:
        try:
            sent = self._sock.send(self._backlog)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            sent = len(self._backlog)  # the peer is gone, which the reader will notice
        del self._backlog[:sent]
        if self._backlog and not self._blocked:
            self._loop.add_writer(self._sock, self._write)
        elif self._blocked and not self._backlog:
            self._loop.remove_writer(self._sock)
        self._blocked = bool(self._backlog)

    def pump(self) -> None:
        """Handle messages that have arrived, without waiting for the event loop."""
        if self._closed or self._held:
            return
        self._receive()

    def _receive(self) -> None:
        try:
            data = self._sock.recv(_READ)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as exc:
            self._end(exc)
            return
        if data:
            self._frames.data_received(data)
            self.flush()  # sends the next questions before the environments step
        else:
            self._end(None)

    def _on_readable(self) -> None:
        self.pump()

    def drain(self) -> None:
        """Handle the last messages of a worker that has ended."""
        for _ in range(_LEFT_MOST // _READ):
            if self._closed:
                return
            self._receive()

    def pause_reading(self, on: bool) -> None:
        """Stop or resume reading from the socket."""
        if self._closed or on is self._held:
            return
        self._held = on
        if on:
            self._loop.remove_reader(self._sock)
        else:
            self._loop.add_reader(self._sock, self._on_readable)

    def _end(self, exc: Exception | None) -> None:
        self._hang_up()
        self._frames.connection_lost(exc)

    def _hang_up(self) -> None:
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._sock)
            self._loop.remove_writer(self._sock)
            self._sock.close()

    def close(self) -> None:
        self.flush()
        self._frames.close()
        self._hang_up()


class JsonChannel:
    """Channel for JSON lines on a child's stdin and stdout, in protobuf's canonical JSON form."""

    def __init__(self, writer: asyncio.WriteTransport, reader: asyncio.ReadTransport, lines: Lines) -> None:
        self._writer, self._reader, self._lines = writer, reader, lines

    @classmethod
    async def open(
        cls, stdin: object, stdout: object, on_message: OnMessage, on_closed: OnClosed
    ) -> JsonChannel:
        """Return a channel on the parent's ends (file objects) of a child's pipes."""
        loop = asyncio.get_running_loop()
        reader, lines = await loop.connect_read_pipe(lambda: Lines(on_message, on_closed), stdout)
        writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, stdin)
        return cls(writer, reader, lines)

    def send(self, message: pb.ToWorker) -> None:
        from google.protobuf import json_format

        text = json_format.MessageToJson(
            message, indent=None, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
        self._writer.write(text.encode() + b"\n")

    def flush(self) -> None:
        """Do nothing, because :meth:`send` writes to the pipe at once."""

    def pump(self) -> None:
        """Do nothing, because the event loop reads the pipe."""

    def drain(self) -> None:
        """Do nothing, because the event loop has read the pipe."""

    def pause_reading(self, on: bool) -> None:
        """Stop or resume reading from the pipe."""
        if on:
            self._reader.pause_reading()
        else:
            self._reader.resume_reading()

    def close(self) -> None:
        self._lines.close()
        self._writer.close()
        self._reader.close()
