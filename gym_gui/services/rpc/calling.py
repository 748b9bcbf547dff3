"""Client side of gRPC: connection with token, streams of requests, and errors as MOSAIC's own types."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Generic, TypeVar, cast

import grpc
import grpc.aio

from gym_gui.core.errors import MosaicError, QueueFullError, UsageError
from gym_gui.services.rpc.address import ADMITTED, FIX, OPTIONS, TOKEN, Address, TlsAddress

_T = TypeVar("_T")


class Requests(Generic[_T]):
    """Stream of requests from a client.

    Args:
        first: Requests to send at once.
    """

    def __init__(self, *first: _T) -> None:
        self._queue: asyncio.Queue[_T | None] = asyncio.Queue()
        self._admitted = asyncio.Event()
        self._over = False
        for request in first:
            self.put(request)

    def put(self, request: _T) -> None:
        """Add a request to the stream."""
        self._queue.put_nowait(request)

    def close(self) -> None:
        """End the stream after the requests that were added so far."""
        self._queue.put_nowait(None)

    async def wait_until_admitted(self, call: Any) -> None:
        """Send the requests after the server has accepted the call, and none if the server refuses it.

        A request that is sent while the server refuses the call would hide the server's reason: the writer
        fails first, and gRPC then says "Internal error from Core" (grpc#36066).
        """
        if ADMITTED in (await call.initial_metadata() or ()):
            self._admitted.set()
        else:
            await call.code()

    async def sent(self) -> AsyncIterator[_T]:
        """Yield the requests in order, for gRPC."""
        await self._admitted.wait()
        while not self._over and (request := await self._queue.get()) is not None:
            yield request

    def end(self) -> None:
        """End :meth:`sent` when the call is over, because gRPC itself would leave it waiting forever."""
        self._over = True
        self.close()
        self._admitted.set()


class Connection:
    """A channel to a service.

    Every method raises :class:`UsageError` for an error that the user can fix, :class:`QueueFullError`,
    another :class:`MosaicError` for other failures in the service, and the error of ``lost`` if the service
    does not answer.

    Args:
        address: Address of the service.
        token: Token that the service requires.
        name: Name of the service in messages: ``"trainer daemon (process 7)"``.
        lost: Returns the error for a service that has gone, given gRPC's message.
        hang_s: Seconds without an answer to a keepalive ping after which the service counts as lost. Pings
            are sent every ten seconds. ``None``: no pings, as the caller watches the service by other means.

    Attributes:
        name: As above.
    """

    def __init__(
        self,
        address: Address,
        token: str,
        name: str,
        lost: Callable[[str], MosaicError],
        *,
        hang_s: float | None = None,
    ) -> None:
        self.name, self._lost = name, lost
        self._metadata = ((TOKEN, token),)
        options = OPTIONS if hang_s is None else [*OPTIONS, *_keepalive(hang_s)]
        if isinstance(address, TlsAddress):
            credentials = grpc.ssl_channel_credentials(address.certificate)
            self.channel = grpc.aio.secure_channel(str(address), credentials, options=options)
        else:
            self.channel = grpc.aio.insecure_channel(str(address), options=options)

    async def ask(
        self, method: Any, request: Any, *, timeout_s: float | None = None, wait: bool = False
    ) -> Any:
        """Send one request and return the answer.

        Args:
            method: Method of the service's stub.
            request: Message to send.
            timeout_s: Longest time for the call, in seconds; ``None`` for no limit.
            wait: Whether to wait until the service listens.
        """
        try:
            return await method(request, metadata=self._metadata, timeout=timeout_s, wait_for_ready=wait)
        except grpc.aio.AioRpcError as error:
            raise self._as_mosaic_error(error) from None
        except grpc.aio.UsageError as error:  # the channel is closed
            raise self._lost(str(error)) from None
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise self._lost("the connection was closed") from None

    async def stream(self, method: Any, request: Any) -> AsyncGenerator[Any]:
        """Yield the answers of a streaming method. A slow reader delays the service.

        Args:
            method: Method of the service's stub.
            request: Message to send, or :class:`Requests`.
        """
        requests = cast("Requests[Any]", request) if isinstance(request, Requests) else None
        call: Any = None
        try:
            call = method(request if requests is None else requests.sent(), metadata=self._metadata)
            if requests is not None:
                await requests.wait_until_admitted(call)
            async for message in call:
                yield message
        except grpc.aio.AioRpcError as error:
            raise self._as_mosaic_error(error) from None
        except grpc.aio.UsageError as error:  # the channel is closed
            raise self._lost(str(error)) from None
        finally:
            if call is not None:
                with contextlib.suppress(grpc.aio.UsageError):
                    call.cancel()
            if requests is not None:
                requests.end()

    async def close(self) -> None:
        """Close the channel."""
        await self.channel.close()

    def _as_mosaic_error(self, error: grpc.aio.AioRpcError) -> MosaicError:
        code, words = error.code(), error.details() or "it did not say why"
        fix = _fix(error)
        if code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND):
            return UsageError(words, fix=fix)
        if code == grpc.StatusCode.UNAUTHENTICATED:
            return UsageError(f"the {self.name} refuses this connection: {words}", fix="Connect again")
        if code == grpc.StatusCode.RESOURCE_EXHAUSTED:
            return QueueFullError(words, fix=fix)
        if code == grpc.StatusCode.FAILED_PRECONDITION:
            return MosaicError(words, fix=fix)
        if code == grpc.StatusCode.UNIMPLEMENTED:
            return UsageError(f"the {self.name} has another version", fix="Stop it and try again")
        if code == grpc.StatusCode.UNKNOWN:
            return MosaicError(f"the {self.name} failed: {words}", fix="See its log")
        return self._lost(words)


def _is_cancelled() -> bool:
    # In a separate function, because a task referenced by a frame in its own traceback keeps all frames
    # alive.
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _keepalive(hang_s: float) -> list[tuple[str, Any]]:
    return [
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", int(hang_s * 1000)),
        ("grpc.http2.max_pings_without_data", 0),
    ]


def _fix(error: grpc.aio.AioRpcError) -> str:
    found: Any = dict(error.trailing_metadata() or ()).get(FIX, b"")
    return found.decode(errors="replace") if isinstance(found, bytes) else str(found)
