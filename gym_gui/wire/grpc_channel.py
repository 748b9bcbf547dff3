"""Channel over one bidirectional gRPC stream, for a worker on another machine.

:mod:`gym_gui.wire` does not import this module, so that only code that needs gRPC imports it. The stream
carries the same messages as any other channel, in protobuf's binary form. A generated stub is not needed for
the single method.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError

from gym_gui.wire.channel import OnClosed, OnMessage, pb
from mosaic_worker.link import ADMITTED, GRPC_OPTIONS

METHOD = "/mosaic.v1.Worker/Talk"
"""gRPC method of the call that lasts as long as the connection; see ``mosaic_worker.remote``."""
TOKEN_KEY = "authorization"  # the name of a header
_WORDS = {
    grpc.StatusCode.UNAUTHENTICATED: "it refused our token",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "it has no free slot, or a message was too large",
    grpc.StatusCode.UNIMPLEMENTED: "no program at this address supports the worker protocol",
}
_ADMISSION_S = 5.0
"""Longest wait in seconds for a worker to confirm the connection. Older workers send no confirmation."""


def _message_of(data: bytes) -> pb.FromWorker | None:
    try:
        return pb.FromWorker.FromString(data)
    except DecodeError:
        return None  # an exception here would only reach us as an internal error of gRPC


class GrpcChannel:
    """Host's end of a worker's gRPC stream; made by :meth:`open`."""

    def __init__(self, channel: Any, on_message: OnMessage, on_closed: OnClosed) -> None:
        self._channel, self._on_message, self._on_closed = channel, on_message, on_closed
        self._outgoing: asyncio.Queue[pb.ToWorker | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._over = False
        self._admitted = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()

    @classmethod
    async def open(
        cls,
        address: str,
        on_message: OnMessage,
        on_closed: OnClosed,
        *,
        token: str,
        tls_root: Path | None = None,
        timeout_s: float = 20.0,
    ) -> GrpcChannel:
        """Connect to a worker on another machine.

        Args:
            address: ``host:port``.
            on_message: Receives each message.
            on_closed: Called once when the stream ends by itself.
            token: Token that the worker requires.
            tls_root: Certificate with which the worker's certificate is checked; ``None`` for no encryption.
            timeout_s: Longest wait for the connection in seconds.

        Raises:
            OSError: Nothing answers at ``address``, or the certificate cannot be read.
        """
        if tls_root is None:
            channel: Any = grpc.aio.insecure_channel(address, options=GRPC_OPTIONS)
        else:
            credentials = grpc.ssl_channel_credentials(await asyncio.to_thread(tls_root.read_bytes))
            channel = grpc.aio.secure_channel(address, credentials, options=GRPC_OPTIONS)
        try:
            await asyncio.wait_for(channel.channel_ready(), timeout_s)
        except TimeoutError:
            await channel.close()
            how = "" if tls_root is None else ", or its certificate is not the one of tls_root"
            raise ConnectionError(f"nothing answers at {address} within {timeout_s:g} s{how}") from None
        except BaseException:
            await channel.close()
            raise
        self = cls(channel, on_message, on_closed)
        self._task = asyncio.create_task(self._run_stream(token))
        return self

    def send(self, message: pb.ToWorker) -> None:
        """Queue a message; a message after the end of the stream is dropped."""
        if not self._over:
            self._outgoing.put_nowait(message)

    def flush(self) -> None:
        """Do nothing, because the stream's task sends queued messages."""

    def pump(self) -> None:
        """Do nothing, because the stream's task handles arriving messages."""

    def drain(self) -> None:
        """Do nothing, because the stream's task has handled all messages."""

    def pause_reading(self, on: bool) -> None:
        """Stop or resume reading from the stream."""
        if on:
            self._free.clear()
        else:
            self._free.set()

    def close(self) -> None:
        """End the stream; it is canceled if the worker has not ended it after one second."""
        self._over = True
        self._outgoing.put_nowait(None)
        if self._task is not None:
            asyncio.get_running_loop().call_later(1.0, self._task.cancel)

    async def _requests(self) -> AsyncIterator[pb.ToWorker]:
        await self._admitted.wait()
        while (message := await self._outgoing.get()) is not None:
            yield message

    async def _run_stream(self, token: str) -> None:
        talk = self._channel.stream_stream(
            METHOD, request_serializer=pb.ToWorker.SerializeToString, response_deserializer=_message_of
        )
        call = talk(self._requests(), metadata=[(TOKEN_KEY, f"Bearer {token}")])
        problem = ""
        try:
            await self._await_admission(call)
            async for message in call:
                if self._over:
                    break
                if message is None or cast("pb.FromWorker", message).WhichOneof("body") is None:
                    problem = "it sent bytes that are no message"
                    break
                self._on_message(message)
                await self._free.wait()
        except grpc.aio.AioRpcError as exc:
            problem = _WORDS.get(exc.code(), f"the connection broke: {exc.details() or exc.code().name}")
        finally:
            with contextlib.suppress(grpc.aio.UsageError):
                call.cancel()
            self._outgoing.put_nowait(None)
            self._admitted.set()
            await self._channel.close()
        if not self._over:
            self._over = True
            self._on_closed(problem)

    async def _await_admission(self, call: Any) -> None:
        # A message sent while the worker refuses us would replace the reason of the refusal (grpc#36066).
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ADMISSION_S):
                if ADMITTED not in await call.initial_metadata():
                    await call.code()
        if not call.done():
            self._admitted.set()
