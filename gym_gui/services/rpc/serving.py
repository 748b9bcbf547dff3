"""Server side of gRPC: checks tokens, counts calls, and turns errors into messages for people."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from gym_gui.core.errors import MosaicError, QueueFullError, UnknownNameError, UsageError
from gym_gui.services.rpc.address import ADMITTED, FIX, OPTIONS, TOKEN
from mosaic_worker.failures import described

_log = logging.getLogger(__name__)

_OPTIONS: list[tuple[str, Any]] = [
    *OPTIONS,
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.so_reuseport", 0),  # a port in use must be an error
]
_LONGEST = 2000
"""Largest number of characters of a message, because statuses are sent in limited headers."""
_CODES: tuple[tuple[type[MosaicError], grpc.StatusCode], ...] = (
    (UnknownNameError, grpc.StatusCode.NOT_FOUND),
    (UsageError, grpc.StatusCode.INVALID_ARGUMENT),
    (QueueFullError, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (MosaicError, grpc.StatusCode.FAILED_PRECONDITION),
)
"""Status codes by type of error; the first matching type counts. :mod:`gym_gui.services.rpc.calling` reads
them."""


class RpcServer:
    """A gRPC server that answers only clients with the token.

    Args:
        token: Token that every call must contain.
        register: Adds the services: ``add_…Servicer_to_server`` with its servicer. The servicer's methods
            get only their request and raise their errors.

    Attributes:
        calls: Number of open calls.
        called_at: Time when the last call ended, on the monotonic clock.
    """

    def __init__(self, token: str, register: Callable[[grpc.aio.Server], None]) -> None:
        self._token = token.encode()
        self._server = grpc.aio.server(interceptors=(_Interceptor(self),), options=_OPTIONS)
        self._socket: Path | None = None
        self.calls = 0
        self.called_at = time.monotonic()
        register(self._server)

    def listen(self, socket: Path) -> None:
        """Listen on a Unix socket that only the user can access."""
        self._server.add_insecure_port(f"unix:{socket}")
        self._socket = socket

    def listen_tcp(self, target: str, credentials: grpc.ServerCredentials) -> str:
        """Also listen on a TCP port, with TLS.

        Args:
            target: ``host:port``; port 0 for any free port.
            credentials: Certificate and key.

        Returns:
            ``host:port`` with the actual port.

        Raises:
            UsageError: The port cannot be used.
        """
        try:
            port = self._server.add_secure_port(target, credentials)
        except RuntimeError:
            port = 0
        if not port:
            raise UsageError(f"{target} cannot be listened on", fix="Choose another port, or 0 for any")
        return f"{target.rpartition(':')[0]}:{port}"

    async def start(self) -> None:
        """Start to accept calls."""
        await self._server.start()
        if self._socket is not None:
            self._socket.chmod(0o600)

    async def stop(self, grace_s: float) -> None:
        """Accept no more calls, and give open calls a number of seconds to end."""
        await self._server.stop(grace=grace_s)

    def admits(self, metadata: Any) -> bool:
        """Return whether a call contains the token."""
        shown: dict[str, Any] = dict(metadata or ())
        return hmac.compare_digest(str(shown.get(TOKEN, "")).encode(), self._token)

    def ended(self) -> None:
        """Record that a call has ended."""
        self.calls -= 1
        self.called_at = time.monotonic()


class _Interceptor(grpc.aio.ServerInterceptor):
    """Interceptor of all methods of a server, which checks tokens and handles errors."""

    def __init__(self, server: RpcServer) -> None:
        self._server = server

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: Any,
    ) -> Any:
        if not self._server.admits(handler_call_details.invocation_metadata):
            # Always a stream handler, as it can refuse a call without reading a request.
            make: Any = grpc.stream_stream_rpc_method_handler
            return make(_refuse_token)
        handler = await continuation(handler_call_details)
        return None if handler is None else self._guarded(handler)

    def _guarded(self, handler: Any) -> Any:
        """Return a handler that counts calls and sends errors as messages."""
        streams = handler.request_streaming, handler.response_streaming
        kind = "_".join("stream" if each else "unary" for each in streams)
        guard = self._streamed if handler.response_streaming else self._once
        make: Any = getattr(grpc, f"{kind}_rpc_method_handler")
        return make(
            guard(getattr(handler, kind)),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _once(self, work: Any) -> Any:
        async def call(request: Any, context: Any) -> Any:
            self._server.calls += 1
            try:
                return await work(request)
            except Exception as error:  # sent to the client
                await _refuse(context, error)
            finally:
                self._server.ended()

        return call

    def _streamed(self, work: Any) -> Any:
        async def call(request: Any, context: Any) -> AsyncIterator[Any]:
            self._server.calls += 1
            answers = work(request)
            try:
                await context.send_initial_metadata(((ADMITTED, "1"),))
                async for answer in answers:
                    yield answer
            except Exception as error:  # sent to the client
                await _refuse(context, error)
            finally:
                self._server.ended()
                await answers.aclose()

        return call


async def _refuse_token(_: Any, context: Any) -> AsyncIterator[Any]:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is wrong")
    yield  # never reached; it makes this function a generator


async def _refuse(context: Any, error: Exception) -> None:
    if not isinstance(error, MosaicError):
        _log.error("a call has failed", exc_info=error)
        await context.abort(grpc.StatusCode.UNKNOWN, described(error)[:_LONGEST])
        return
    code = next(code for kind, code in _CODES if isinstance(error, kind))
    fix = error.fix[:_LONGEST].encode()
    await context.abort(code, error.message[:_LONGEST], ((FIX, fix),))
