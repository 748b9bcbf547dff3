"""What is said to a server of environments on another machine: a gRPC stream."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import grpc

from mosaic_env_server.remote import SERVICE
from mosaic_worker.link import ADMITTED, GRPC_OPTIONS, Link
from mosaic_worker.pb import environment_pb2 as pb
from mosaic_worker.remote import METHOD

_REFUSED_S = 2.0
"""Longest wait for a server that refuses the connection: gRPC has tried twice by then."""


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
    """Whether a server answers; where it keeps refusing, that is known long before ``within_s``."""
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
    words: dict[Any, str] = {
        grpc.StatusCode.UNAUTHENTICATED: "it refused our token",
        grpc.StatusCode.RESOURCE_EXHAUSTED: "all its places are taken, or a message was too large",
        grpc.StatusCode.UNIMPLEMENTED: "nothing there serves environments",
    }
    code = error.code() if callable(getattr(error, "code", None)) else None
    detail = error.details() if callable(getattr(error, "details", None)) else str(error)
    return words.get(code) or f"the connection broke{f': {detail}' if detail else ''}"
