"""A model server of which every reply is known: for faults, timing, and wherever a reply must be known.

It speaks OpenAI's and Anthropic's interfaces and answers with what a function of the request says::

    with FakeModelServer(lambda request: "ACTION: forward") as server:
        ...  # base_url = server.url
    assert server.requests[0].key == "..."

What can only be shown with a real model is shown with :mod:`tests.support.model_server`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeAlias

from tests.support.waiting import LONG_S


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent.

    Attributes:
        number: In the order of arrival, from 0; lists of models are not counted.
        method: ``POST`` or ``GET``.
        path: ``/v1/chat/completions``, ``/v1/messages`` or ``/v1/models``.
        headers: By name in small letters.
        body: As it came.
        at: When it had arrived: seconds of the server's loop.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> dict[str, Any]:
        """What was sent, read."""
        return json.loads(self.body)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The prompt; with Anthropic's interface, the system's words come first as a message."""
        sent = self.json
        system = [{"role": "system", "content": sent["system"]}] if "system" in sent else []
        return [*system, *sent["messages"]]

    @property
    def words(self) -> str:
        """All text of the prompt in one string."""
        return "\n".join(text for message in self.messages for text in _words(message.get("content")))

    @property
    def key(self) -> str:
        """The key that came with it; empty where none did."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return self.headers.get("x-api-key", bearer)

    @property
    def anthropic(self) -> bool:
        """Whether Anthropic's interface is spoken."""
        return self.path.endswith("/messages")


def _words(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [str(part["text"]) for part in content if isinstance(part, dict) and "text" in part]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says.

    Attributes:
        text: Its words.
        thinking: Its thoughts, where they are sent apart.
        tool_calls: (name, arguments as JSON text) of the functions it calls.
        finish: Why it ended, in OpenAI's words; by default what fits.
        tokens: Of prompt and reply.
        model: What it calls itself; by default as it was asked for.
        after_s: So long it takes.
        more: Written over the body.
    """

    text: str = ""
    thinking: str = ""
    tool_calls: Sequence[tuple[str, str]] = ()
    finish: str = ""
    tokens: tuple[int, int] = (100, 10)
    model: str = ""
    after_s: float = 0.0
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes instead of a reply: what servers send when something is wrong.

    Attributes:
        status: HTTP status.
        body: Sent as it is.
        headers: Beside the length and the content type.
        content_type: Of the body.
        cut_after: The connection is closed after so many bytes of the body.
        stall_after: After so many bytes nothing more comes until the client goes away.
        after_s: So long it takes.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content_type: str = "application/json"
    cut_after: int | None = None
    stall_after: int | None = None
    after_s: float = 0.0


def refusal(status: int, message: str, *, code: str = "", retry_after: str = "") -> Raw:
    """An error in the form that both interfaces share."""
    body = {"type": "error", "error": {"message": message, "type": "error", "code": code or None}}
    headers = {"Retry-After": retry_after} if retry_after else {}
    return Raw(status, json.dumps(body).encode(), headers)


Script: TypeAlias = "Callable[[Request], Reply | Raw | str]"


class FakeModelServer:
    """Serves on a free port of this machine, in a thread of its own.

    Args:
        script: What is answered to a chat; called in the order of arrival, in the server's thread.
        models: What it says it has.
        schedule: Seconds that a reply takes, by its request; beside its own ``after_s``.

    Attributes:
        requests: All chats that arrived.
        listed: Requests for the list of models.
        most_at_once: Most chats that were in progress at the same time.
    """

    def __init__(
        self,
        script: Script = lambda request: "ok",
        models: Sequence[str] = ("fake-model",),
        schedule: Callable[[Request], float] | None = None,
    ) -> None:
        self.script, self.models, self._schedule = script, models, schedule
        self.requests: list[Request] = []
        self.listed: list[Request] = []
        self.most_at_once = self._at_once = 0
        self._arrived = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake model server")
        self._connections: set[asyncio.Task[None]] = set()
        self._port = 0
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self._port}/v1"

    def wait_for(self, chats: int, within: float = LONG_S) -> None:
        """Until so many chats have arrived.

        Raises:
            AssertionError: They have not, in so many seconds.
        """
        with self._arrived:
            enough = self._arrived.wait_for(lambda: len(self.requests) >= chats, within)
        assert enough, f"{len(self.requests)} of {chats} requests arrived within {within:g} s"

    def __enter__(self) -> FakeModelServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(LONG_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(LONG_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LONG_S)
        self._loop.close()

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=256)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    # -- one connection --------------------------------------------------------------------

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A client may go away at any time: that is what some tests do.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                while (request := await self._read(reader)) and await self._answer(request, reader, writer):
                    pass
            finally:
                writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Request | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.rstrip().split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        known = self.listed if method == "GET" else self.requests
        request = Request(len(known), method, path, headers, body, self._loop.time())
        with self._arrived:
            known.append(request)
            self._arrived.notify_all()
        return request

    async def _answer(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer; whether the connection goes on."""
        if request.method == "GET":
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
            return await _send(Raw(body=json.dumps(listed).encode()), reader, writer)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            answer = self.script(request)
            if isinstance(answer, str):
                answer = Reply(answer)
            takes = answer.after_s + (self._schedule(request) if self._schedule else 0.0)
            if takes:
                await asyncio.sleep(max(0.0, request.at + takes - self._loop.time()))
            raw = answer if isinstance(answer, Raw) else Raw(body=_body(request, answer))
            return await _send(raw, reader, writer)
        finally:
            self._at_once -= 1


async def _send(raw: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    stops = raw.cut_after if raw.stall_after is None else raw.stall_after
    promised = len(raw.body) if stops is None else max(len(raw.body), stops + 1)
    lines = {"Content-Type": raw.content_type, "Content-Length": str(promised), **raw.headers}
    head = f"HTTP/1.1 {raw.status} Said\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items()) + "\r\n"
    writer.write(head.encode("latin-1") + raw.body[:stops])
    await writer.drain()
    if raw.stall_after is not None:
        await reader.read()  # until the client has gone away
    return stops is None


def _body(request: Request, reply: Reply) -> bytes:
    make = _anthropic if request.anthropic else _openai
    return json.dumps({**make(request, reply), **reply.more}).encode()


def _openai(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{request.number}_{i}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for i, (name, arguments) in enumerate(reply.tool_calls)
        ]
    finish = reply.finish or ("tool_calls" if reply.tool_calls else "stop")
    prompt, said = reply.tokens
    return {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model or request.json.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said},
    }


_ENDS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
"""OpenAI's word for how a reply ended: Anthropic's."""


def _anthropic(request: Request, reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.thinking:
        content.append({"type": "thinking", "thinking": reply.thinking, "signature": "sig"})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    for i, (name, arguments) in enumerate(reply.tool_calls):
        tool = {"type": "tool_use", "id": f"toolu_{request.number}_{i}", "name": name}
        content.append({**tool, "input": json.loads(arguments)})
    finish = reply.finish or ("tool_calls" if reply.tool_calls else "stop")
    prompt, said = reply.tokens
    return {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": reply.model or request.json.get("model", ""),
        "content": content,
        "stop_reason": _ENDS.get(finish, finish),
        "usage": {"input_tokens": prompt, "output_tokens": said},
    }
