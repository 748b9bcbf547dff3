"""One server and one client in this process: who may call, and what they are told."""

from __future__ import annotations

import asyncio
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from gym_gui.core.errors import MosaicError, QueueFullError, UnknownNameError, UsageError
from gym_gui.services.rpc.address import UnixAddress
from gym_gui.services.rpc.calling import Connection, Requests
from gym_gui.services.rpc.serving import RpcServer

ERRORS = {
    b"usage": UsageError("no such thing", fix="Take another"),
    b"name": UnknownNameError("run", "x", ["y"], hint="Süden"),
    b"full": QueueFullError("all places are taken", fix="Wait"),
    b"broken": MosaicError("the disk is full"),
}


SAID: list[bytes] = []
"""What the server was asked, in its order."""


class LostError(MosaicError):
    """The service does not answer."""


class _Echo(grpc.GenericRpcHandler):
    """Gives back what it gets, as bytes; some of it is refused."""

    def service(self, handler_call_details: Any) -> Any:
        async def once(request: bytes) -> bytes:
            return said(request)

        async def streamed(requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
            async for request in requests:
                yield said(request)

        def said(request: bytes) -> bytes:
            SAID.append(request)
            if request == b"bug":
                raise ZeroDivisionError("oh")
            if request in ERRORS:
                raise ERRORS[request]
            return request

        if handler_call_details.method.endswith("Once"):
            return grpc.unary_unary_rpc_method_handler(once)
        return grpc.stream_stream_rpc_method_handler(streamed)


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[RpcServer]:
    SAID.clear()
    server = RpcServer("right", lambda server: server.add_generic_rpc_handlers((_Echo(),)))
    server.listen(folder / "s")
    await server.start()
    try:
        yield server
    finally:
        await server.stop(0)


@asynccontextmanager
async def connected(folder: Path, token: str = "right") -> AsyncIterator[tuple[Connection, Any, Any]]:
    connection = Connection(UnixAddress(folder / "s"), token, "echo", LostError)
    try:
        channel: Any = connection.channel
        yield connection, channel.unary_unary("/x/Once"), channel.stream_stream("/x/All")
    finally:
        await connection.close()


async def test_errors_arrive_as_they_were_raised(tmp_path: Path) -> None:
    async with served(tmp_path), connected(tmp_path) as (connection, once, streamed):
        assert await connection.ask(once, b"hello") == b"hello"
        for request, error in ERRORS.items():
            expected = UsageError if isinstance(error, UsageError) else type(error)
            with pytest.raises(expected) as caught:
                await connection.ask(once, request)
            assert (caught.value.message, caught.value.fix) == (error.message, error.fix)
            with pytest.raises(expected) as caught:
                async with aclosing(connection.stream(streamed, Requests(b"first", request))) as answers:
                    assert [answer async for answer in answers] == [b"first"]
            assert caught.value.message == error.message
        with pytest.raises(MosaicError, match=r"the echo failed: .*oh"):
            await connection.ask(once, b"bug")


async def test_a_stream_is_held_up_by_whoever_reads_slowly(tmp_path: Path) -> None:
    large = bytes(1 << 20)
    async with served(tmp_path) as server, connected(tmp_path) as (connection, once, streamed):
        requests = Requests(*[large] * 200)
        requests.close()
        async with aclosing(connection.stream(streamed, requests)) as answers:
            await anext(answers)
            for _ in range(200):
                await connection.ask(once, b"others go on")
            assert 0 < SAID.count(large) < 100, "no reader takes them, so few are made"
            assert server.calls == 1
            assert len([answer async for answer in answers]) == 199
        async with asyncio.timeout(20):
            while server.calls:
                await asyncio.sleep(0)


async def test_a_wrong_token_is_told_in_our_words_however_much_is_said_meanwhile(tmp_path: Path) -> None:
    async with served(tmp_path) as server, connected(tmp_path, "wrong") as (connection, once, streamed):
        for _ in range(50):
            with pytest.raises(UsageError, match="the echo refuses this connection: the token is wrong"):
                await connection.ask(once, bytes(1 << 20))
            # Requests that are larger than the connection's window are still being written when the
            # refusal comes.
            with pytest.raises(UsageError, match="the echo refuses this connection: the token is wrong"):
                async with aclosing(connection.stream(streamed, Requests(*[bytes(1 << 20)] * 4))) as answers:
                    await anext(answers)
        assert server.calls == 0


async def test_a_service_that_waits_for_a_core_is_waited_for_and_one_that_ends_meanwhile_is_lost(
    tmp_path: Path,
) -> None:
    # The system takes a call where a process listens, whether or not that gets to run.
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        async with connected(tmp_path) as (connection, once, _):
            asked = asyncio.ensure_future(connection.ask(once, b"hello"))
            done, _ = await asyncio.wait({asked}, timeout=0.3)
            assert not done, "it was given up at once"
            listening.close()
            with pytest.raises(LostError):
                await asked


async def test_nobody_there_and_gone_are_the_same(tmp_path: Path) -> None:
    async with connected(tmp_path) as (connection, once, streamed):
        with pytest.raises(LostError):
            await connection.ask(once, b"hello")
        with pytest.raises(LostError):
            await anext(connection.stream(streamed, Requests(b"hello")))
        async with served(tmp_path):
            await connection.ask(once, b"hello", wait=True)
            answers = connection.stream(streamed, Requests(b"hello"))
            assert await anext(answers) == b"hello"
        with pytest.raises(LostError):
            await anext(answers)
    with pytest.raises(LostError):
        await connection.ask(once, b"hello")


async def test_its_socket_is_the_users_alone(tmp_path: Path) -> None:
    async with served(tmp_path):
        assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
