"""gRPC stream to an environment server on another machine."""

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
"""Longest wait in seconds for a server that refuses the connection, after which gRPC has tried twice."""


class GrpcLink(Link[pb.FromEnvironment, pb.ToEnvironment]):
    """Link to an environment server on another machine: one gRPC stream for both directions.

    Args:
        call: The started call.
        channel: Channel of the call.
        outgoing: Messages to send; ``None`` ends the stream.
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
        # A server that works ends the stream in order; otherwise this timer does.
        ending = threading.Timer(1.0, self._channel.close)
        ending.daemon = True
        ending.start()


def _answers(channel: Any, within_s: float) -> bool:
    """Return whether an environment server answers; ``False`` early if it keeps refusing the connection."""
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
    """Connect to an environment server on another machine.

    Args:
        address: ``host:port``.
        token: Token that the server requires.
        certificate: PEM certificate that verifies the server's own; ``None`` for no encryption.
        within_s: Longest wait in seconds.

    Raises:
        OSError: No server answers, or it refuses the connection.
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
    """Return a description of how a gRPC call ended."""
    words: dict[Any, str] = {
        grpc.StatusCode.UNAUTHENTICATED: "it refused our token",
        grpc.StatusCode.RESOURCE_EXHAUSTED: "it accepts no more clients, or a message was too large",
        grpc.StatusCode.UNIMPLEMENTED: "no program at this address serves environments",
    }
    code = error.code() if callable(getattr(error, "code", None)) else None
    detail = error.details() if callable(getattr(error, "details", None)) else str(error)
    return words.get(code) or f"the connection broke{f': {detail}' if detail else ''}"
