"""Carriers of what is said to a server of environments, for one who waits, but not for ever."""

from __future__ import annotations

import queue
import select
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from mosaic_worker.link import ADMITTED, GRPC_OPTIONS, Link, SocketLink
from mosaic_worker.pb import environment_pb2 as pb

_READ = 1 << 18
_REFUSED_S = 2.0
"""Longest that one waits for somebody who refuses the connection: gRPC has tried twice by then."""
_LONGEST_S = 3600.0


class PatientSocket(SocketLink[pb.FromEnvironment, pb.ToEnvironment]):
    """Frames on a socket, for one who waits, but not for ever.

    Both ends may have much to say at once: what arrives is taken while something is being sent.

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
        """Send bytes in one piece.

        Raises:
            OSError: The other end is gone.
            TimeoutError: It takes nothing in.
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
                raise ConnectionResetError("the other end is gone")
            self._buffer += chunk


class AwaitedLink:
    """Any link, read by a thread of its own, so that whoever waits can give up.

    Args:
        link: What blocks until there is a message.
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
        """The next message, or ``None`` when the server is gone."""
        try:
            found = self._arrived.get(timeout=min(max(0.0, self.until - time.monotonic()), _LONGEST_S))
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(found, Exception):
            raise found
        return found

    def send(self, message: pb.ToEnvironment) -> None:
        """Send a message."""
        self._link.send(message)

    def close(self) -> None:
        """Close both directions."""
        self._link.close()


class GrpcLink(Link[pb.FromEnvironment, pb.ToEnvironment]):
    """The same messages as one gRPC stream, to a server on another machine.

    Args:
        call: The started call.
        channel: What it runs on.
        outgoing: What the call sends, ``None`` at its end.
    """

    def __init__(self, call: Any, channel: Any, outgoing: queue.SimpleQueue[pb.ToEnvironment | None]) -> None:
        self._call, self._channel, self._outgoing = call, channel, outgoing

    def receive(self) -> pb.FromEnvironment | None:
        import grpc

        try:
            return next(self._call, None)
        except grpc.RpcError as exc:
            raise ConnectionError(_words(exc)) from exc

    def send(self, message: pb.ToEnvironment) -> None:
        if not self._call.is_active():
            raise ConnectionError(_words(self._call))
        self._outgoing.put(message)

    def close(self) -> None:
        self._outgoing.put(None)
        # The stream ends in good order where the server does its part, else by this.
        ending = threading.Timer(1.0, self._channel.close)
        ending.daemon = True
        ending.start()


def _answers(channel: Any, within_s: float) -> bool:
    """Whether somebody answers: a refusal that stays one is known long before ``within_s``."""
    import grpc

    states: queue.SimpleQueue[grpc.ChannelConnectivity] = queue.SimpleQueue()
    channel.subscribe(states.put, try_to_connect=True)
    until = time.monotonic() + within_s
    refused = False
    try:
        while True:
            left = until - time.monotonic()
            state = states.get(timeout=max(0.0, min(left, _REFUSED_S) if refused else left))
            if state is grpc.ChannelConnectivity.READY:
                return True
            refused = state is grpc.ChannelConnectivity.TRANSIENT_FAILURE
    except queue.Empty:
        return False
    finally:
        channel.unsubscribe(states.put)


def open_remote(address: str, token: str, certificate: bytes | None, within_s: float) -> GrpcLink:
    """Connect to a server on another machine.

    Args:
        address: ``host:port``.
        token: What it asks for.
        certificate: PEM of what its own is checked against; ``None``: not encrypted.
        within_s: Longest wait.

    Raises:
        OSError: Nothing answers there, or it does not let us in.
    """
    import grpc

    from mosaic_env_server.remote import SERVICE
    from mosaic_worker.remote import METHOD

    if certificate is None:
        channel: Any = grpc.insecure_channel(address, options=GRPC_OPTIONS)
    else:
        channel = grpc.secure_channel(
            address, grpc.ssl_channel_credentials(certificate), options=GRPC_OPTIONS
        )
    try:
        if not _answers(channel, within_s):
            channel.close()
            how = "" if certificate is None else ", or its certificate is not the one of tls_root"
            raise ConnectionError(f"nothing answers at {address}{how}")
        outgoing: queue.SimpleQueue[pb.ToEnvironment | None] = queue.SimpleQueue()
        admitted = threading.Event()

        def requests() -> Iterator[pb.ToEnvironment]:
            admitted.wait(within_s)
            yield from iter(outgoing.get, None)

        talk = channel.stream_stream(
            f"/{SERVICE}/{METHOD}",
            request_serializer=pb.ToEnvironment.SerializeToString,
            response_deserializer=pb.FromEnvironment.FromString,
        )
        call = talk(requests(), metadata=[("authorization", f"Bearer {token}")])
        if ADMITTED not in dict(call.initial_metadata()):
            raise ConnectionError(_words(call))
        admitted.set()
        return GrpcLink(call, channel, outgoing)
    except grpc.RpcError as exc:
        channel.close()
        raise ConnectionError(_words(exc)) from exc
    except BaseException:
        channel.close()
        raise


def _words(error: Any) -> str:
    """How a call ended, in words."""
    import grpc

    words: dict[Any, str] = {
        grpc.StatusCode.UNAUTHENTICATED: "it refused our token",
        grpc.StatusCode.RESOURCE_EXHAUSTED: "all its places are taken, or a message was too large",
        grpc.StatusCode.UNIMPLEMENTED: "nothing there serves environments",
    }
    code = error.code() if callable(getattr(error, "code", None)) else None
    detail = error.details() if callable(getattr(error, "details", None)) else str(error)
    return words.get(code) or f"the connection broke{f': {detail}' if detail else ''}"
