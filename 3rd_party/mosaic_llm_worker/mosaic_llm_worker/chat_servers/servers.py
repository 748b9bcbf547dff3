"""What a chat server is to the rest of the worker, whichever interface it speaks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Message: TypeAlias = "Mapping[str, Any]"
"""In OpenAI's form: ``{"role", "content"}``, where content is text or a list of parts
(``{"type": "text", "text"}``, ``{"type": "image_url", "image_url": {"url": "data:image/png;base64,…"}}``).
An assistant's message may carry ``tool_calls``, a tool's message carries ``tool_call_id``."""


Failure = Literal["busy", "failed", "timeout", "missing", "refused"]
"""How a request may fail: the server has too much to do, is broken, does not answer, has no such model, or
does not want the request. A key that is refused is none of these: no other model would be answered."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which call of a run this is.

    Attributes:
        agent: The agent that decides.
        episode: Its episode.
        step: Environment step.
        attempt: 0 for the first ask, k for the k-th retry of the engine.
        turn: Number of the call within the decision, from 0.
        until: Time of the event loop by which an answer is wanted.
    """

    agent: str
    episode: int
    step: int
    attempt: int = 0
    turn: int = 0
    until: float = math.inf

    @property
    def ref(self) -> str:
        """The call's name in records: ``<agent>/<episode>/<step>/<attempt>/<turn>``."""
        return f"{self.agent}/{self.episode}/{self.step}/{self.attempt}/{self.turn}"


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call.

    Attributes:
        name: Its name.
        description: What it does, for the model.
        schema: JSON schema of its arguments.
    """

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model calls a function.

    Attributes:
        id: Its name within the dialogue; the tool's message repeats it.
        name: Which function.
        arguments_json: The arguments as the model wrote them; not always JSON.
    """

    id: str
    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class Ask:
    """How one reply is wanted.

    Attributes:
        seed: For the server's sampling; ``None`` where it may choose.
        form: JSON schema that the reply should have.
        form_name: Its name.
        tools: Functions that the model may call.
        stop: Words at which the reply ends.
        stable: So many messages are the same in every request of the episode, from the first on.
        usual: Tokens that such a reply usually has, for an estimate; 0: as many as it may have.
        replies: How many replies of this kind there may be, each to the whole dialogue before it.
        to_come: Tokens that the same question may have more in another episode, or when it is asked again.
    """

    seed: int | None = None
    form: Mapping[str, Any] | None = None
    form_name: str = "answer"
    tools: tuple[Tool, ...] = ()
    stop: tuple[str, ...] = ()
    stable: int = 1
    usual: int = 0
    replies: int = 1
    to_come: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply.

    Attributes:
        text: What the model said; where a form was asked for, its JSON text.
        finish: Why it ended, as the server says it (``stop``, ``length``, ``tool_calls``, …).
        input_tokens: Tokens of the prompt, those that were kept or are kept from now on included.
        output_tokens: Tokens of the reply, thinking included.
        model: The model as the server reports it.
        tool_calls: Functions that the model calls.
        thinking: What the server hands out of the model's thoughts, apart from ``text``.
        usd: The price as the server reports it, where it does.
        cached_tokens: Tokens of the prompt that the server had kept.
        cache_written_tokens: Tokens of the prompt that it keeps from now on, where it counts them.
        reasoning_tokens: Tokens of the reply that were thoughts, where the server counts them.
        doubt: Why the tokens are estimated; empty where they are as the server counted them.
    """

    text: str
    finish: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    usd: float | None = None
    cached_tokens: int = 0
    cache_written_tokens: int = 0
    reasoning_tokens: int = 0
    doubt: str = ""


class ServerError(Exception):
    """A request brought no reply.

    Attributes:
        reason: One sentence, without the key.
        retry_after: Seconds after which the server wants to be asked again.
        may_retry: The same request may succeed later.
        fatal: No request of this slot can succeed (the key is refused, the model does not exist).
        kind: What kind of failure it is, where another model may be asked after it; else empty.
        unsure: The server may have worked on the request, and its price is unknown.
        used: What the request took nevertheless, where the server says so; without words.
    """

    def __init__(
        self,
        reason: str,
        *,
        retry_after: float | None = None,
        may_retry: bool = False,
        fatal: bool = False,
        kind: Failure | Literal[""] = "",
        unsure: bool = False,
        used: Completion | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.retry_after = reason, retry_after
        self.may_retry, self.fatal = may_retry, fatal
        self.kind = kind or ("failed" if may_retry else "" if fatal else "refused")
        self.unsure, self.used = unsure, used


def too_slow(url: str, limit_s: float, *, unsure: bool = True) -> ServerError:
    """That a server did not answer in time.

    Args:
        url: Its address, without a key.
        limit_s: How long it was waited for.
        unsure: Whether it may have worked on the request.
    """
    reason = f"the server at {url} did not answer within {limit_s:g} s"
    return ServerError(reason, may_retry=True, kind="timeout", unsure=unsure)


class ChatServer(Protocol):
    """A server that completes chats."""

    async def chat(self, messages: Sequence[Message], ask: Ask) -> Completion:
        """One request, sent once.

        Raises:
            ServerError: There is no reply.
        """
        ...

    async def models(self) -> list[str]:
        """Names of the models that the server has.

        Raises:
            ServerError: It does not say.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
