"""Links to an environment server that wait for messages with a time limit."""

from __future__ import annotations

import queue
import select
import socket
import threading
import time

from mosaic_worker.link import Link, SocketLink
from mosaic_worker.pb import environment_pb2 as pb

_READ = 1 << 18
_LONGEST_S = 3600.0


class PatientSocket(SocketLink[pb.FromEnvironment, pb.ToEnvironment]):
    """Socket link to an environment server, with a time limit for waiting.

    Both ends may send much data at once, so the transport reads arriving data while it sends.

    Args:
        sock: The socket.
    """

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock, pb.FromEnvironment)
        sock.setblocking(False)
        self.until = float("inf")

    def _fill(self, size: int) -> bool:
        while len(self._buffer) < size:
            try:
                chunk = self._sock.recv(max(_READ, size - len(self._buffer)))
            except (BlockingIOError, InterruptedError):
                self._await(reading=True)
                continue
            if not chunk:
                return False
            self._buffer += chunk
        return True

    def write(self, data: bytes) -> None:
        """Send all bytes.

        Raises:
            OSError: The other end has closed the connection.
            TimeoutError: The other end does not read.
        """
        left = memoryview(data)
        while left:
            try:
                left = left[self._sock.send(left) :]
            except (BlockingIOError, InterruptedError):
                self._await(reading=False)

    def _await(self, *, reading: bool) -> None:
        pause = max(0.0, self.until - time.monotonic())
        writing = [] if reading else [self._sock]
        readable, writable, _ = select.select([self._sock], writing, [], min(pause, 3600.0))
        if not readable and not writable:
            raise TimeoutError
        if readable and not reading:
            chunk = self._sock.recv(_READ)
            if not chunk:
                raise ConnectionResetError("the server has closed the connection")
            self._buffer += chunk


class AwaitedLink:
    """Link that is read by a separate thread, so that the waiting thread can stop at a time limit.

    Args:
        link: The link; its ``receive`` blocks until there is a message.
    """

    def __init__(self, link: Link[pb.FromEnvironment, pb.ToEnvironment]) -> None:
        self._link = link
        self._arrived: queue.SimpleQueue[pb.FromEnvironment | Exception | None] = queue.SimpleQueue()
        self.until = float("inf")
        threading.Thread(target=self._read, name="served environments", daemon=True).start()

    def _read(self) -> None:
        try:
            while (message := self._link.receive()) is not None:
                self._arrived.put(message)
        except Exception as exc:
            self._arrived.put(exc)
        else:
            self._arrived.put(None)

    def receive(self) -> pb.FromEnvironment | None:
        """Return the server's next message; ``None`` if the server has ended."""
        try:
            found = self._arrived.get(timeout=min(max(0.0, self.until - time.monotonic()), _LONGEST_S))
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(found, Exception):
            raise found
        return found

    def send(self, message: pb.ToEnvironment) -> None:
        """Send a message to the server."""
        self._link.send(message)

    def close(self) -> None:
        """Close both directions of the link."""
        self._link.close()
