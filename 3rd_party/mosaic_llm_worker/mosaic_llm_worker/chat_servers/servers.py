"""Interface of chat servers for the rest of the worker, independent of the provider's API."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Message: TypeAlias = "Mapping[str, Any]"
"""A message in OpenAI's format: ``{"role", "content"}``, where content is text or a list of parts (``{"type":
"text", "text"}``, ``{"type": "image_url", "image_url": {"url": "data:image/png;base64,…"}}``). An assistant's
message may contain ``tool_calls``, a tool's message contains ``tool_call_id``.
"""


Failure = Literal["busy", "failed", "timeout", "missing", "refused"]
"""Kinds of failures after which another model may be called: the server is overloaded, is broken, does not
answer, lacks the model, or refuses the request. A refused key is none of them, because no other model would
answer.
"""


@dataclass(frozen=True, slots=True)
class CallId:
    """Identifies a call of a run.

    Attributes:
        agent: Name of the agent that decides.
        episode: Number of the episode.
        step: Environment step.
        attempt: 0 for the first attempt, k for the k-th retry of the engine.
        turn: Number of the call within the decision, from 0.
        until: Time of the event loop by which an answer is required.
    """

    agent: str
    episode: int
    step: int
    attempt: int = 0
    turn: int = 0
    until: float = math.inf

    @property
    def ref(self) -> str:
        """Name of the call in records: ``<agent>/<episode>/<step>/<attempt>/<turn>``."""
        return f"{self.agent}/{self.episode}/{self.step}/{self.attempt}/{self.turn}"


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call.

    Attributes:
        name: Name of the function.
        description: Description of the function for the model.
        schema: JSON schema of its arguments.
    """

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a function by the model.

    Attributes:
        id: Id of the call within the conversation; the tool's message repeats it.
        name: Name of the function.
        arguments_json: The arguments as the model wrote them; not always JSON.
    """

    id: str
    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class ReplyRequest:
    """Requirements for one reply.

    Attributes:
        seed: Seed of the server's sampling; ``None`` if the server may choose.
        form: JSON schema that the reply should have.
        form_name: Name of the form.
        tools: Functions that the model may call.
        stop: Texts at which the reply ends.
        stable: Number of messages at the beginning that are equal in every request of the episode.
        usual: Usual tokens of such a reply, for an estimate; 0 for the largest possible number.
        replies: Largest number of such replies, each to the whole conversation before it.
        to_come: Additional tokens that the same question may have in another episode or in a retry.
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
    """A reply of a model.

    Attributes:
        text: Text of the reply; JSON if a form was requested.
        finish: Why the reply ended, as reported by the server (``stop``, ``length``, ``tool_calls``, …).
        input_tokens: Tokens of the prompt, including those read from or written to the cache.
        output_tokens: Tokens of the reply, including reasoning.
        model: Name of the model as reported by the server.
        tool_calls: Functions that the model calls.
        thinking: The model's reasoning, if the server returns it separately from ``text``.
        usd: Price as reported by the server; ``None`` if it reports none.
        cached_tokens: Tokens of the prompt read from the server's cache.
        cache_written_tokens: Tokens of the prompt written to the cache, if the server counts them.
        reasoning_tokens: Tokens of the reasoning in the reply, if the server counts them.
        doubt: Why the token counts are estimated; empty if they are the server's.
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
    """A request has no usable reply.

    Attributes:
        reason: The reason as a sentence, without the key.
        retry_after: Seconds after which the server permits another request; ``None`` if it does not say.
        may_retry: Whether the same request may succeed later.
        fatal: Whether no request of this slot can succeed (the key is refused, the model does not exist).
        kind: Kind of the failure if a fallback model may be called after it; else empty.
        unsure: Whether the server may have worked on the request, at an unknown price.
        used: Tokens of the request nevertheless, if the server reports them; its text is empty.
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
    """Return the error of a server that did not answer in time.

    Args:
        url: Address of the server, without a key.
        limit_s: Seconds after which the request was canceled.
        unsure: Whether the server may have worked on the request.
    """
    reason = f"the server at {url} did not answer within {limit_s:g} s"
    return ServerError(reason, may_retry=True, kind="timeout", unsure=unsure)


class ChatServer(Protocol):
    """A server that completes conversations."""

    async def chat(self, messages: Sequence[Message], ask: ReplyRequest) -> Completion:
        """Send one request once and return the reply.

        Raises:
            ServerError: There is no usable reply.
        """
        ...

    async def models(self) -> list[str]:
        """Return the names of the server's models.

        Raises:
            ServerError: The server does not list its models.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
