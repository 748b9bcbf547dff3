"""Client of Anthropic's API: translates messages from OpenAI's format, and replies to this format."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from mosaic_llm_worker.chat_servers.caching import MARK, marked
from mosaic_llm_worker.chat_servers.models import OnlyModel, model_names
from mosaic_llm_worker.chat_servers.replies import as_object, as_text, count, objects, plain
from mosaic_llm_worker.chat_servers.servers import Completion, Message, ReplyRequest, ToolCall
from mosaic_llm_worker.chat_servers.transport import RequestRefused, Transport
from mosaic_llm_worker.chat_servers.usage import held_back, usage_of, without_reply
from mosaic_llm_worker.server_settings import ServerSettings

_log = logging.getLogger(__name__)

_VERSION: Final = "2023-06-01"
_WARMEST: Final = 1.0
"""Largest temperature of Anthropic's API; that of OpenAI's is 2."""
_ENDS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""OpenAI's finish reason by Anthropic's stop reason."""
_NOTHING_SAID: Final = "(no reply)"
"""Replaces an empty message, which the server would refuse."""
_PROMPT_TOKENS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicServer:
    """Client of Anthropic's server, or of one with the same API. The API accepts no seed."""

    def __init__(self, settings: ServerSettings, key: str) -> None:
        self._settings = settings
        headers = {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}
        self._transport = Transport(settings.url, headers, key, settings.timeout_s)
        self._model = OnlyModel(settings.model_id)
        self._cold = False

    async def chat(self, messages: Sequence[Message], ask: ReplyRequest) -> Completion:
        """Send one request; see :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`."""
        model = await self._model.name(self._transport)
        payload = self._payload(model, messages, ask)
        try:
            reply = await self._transport.post("messages", payload)
        except RequestRefused as error:
            if "temperature" not in payload or not error.names("temperature"):
                raise
            if not self._cold:
                _log.warning("%s accepts no temperature: continuing without it (%s)", model, error.reason)
            self._cold = True
            reply = await self._transport.post("messages", self._payload(model, messages, ask))
        return self._completion(reply, messages, ask)

    async def models(self) -> list[str]:
        """Return the names of the server's models; see
        :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`.
        """
        return model_names(await self._transport.get("models?limit=1000"))

    async def aclose(self) -> None:
        """Close the connections; see :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`."""
        await self._transport.aclose()

    def _payload(self, model: str, messages: Sequence[Message], ask: ReplyRequest) -> dict[str, Any]:
        settings = self._settings
        system, turns = translate(marked(messages, ask.stable) if settings.prompt_caching else messages)
        payload: dict[str, Any] = {"model": model, "max_tokens": settings.longest_reply, "messages": turns}
        if system:
            payload["system"] = system
        warmth = settings.sent_temperature
        if warmth is not None and not self._cold and not settings.reasoning_tokens:
            payload["temperature"] = min(warmth, _WARMEST)
        if settings.top_p is not None:
            payload["top_p"] = settings.top_p
        if settings.reasoning_tokens:
            payload["thinking"] = {"type": "enabled", "budget_tokens": settings.reasoning_tokens}
        if settings.reasoning_effort:
            payload["output_config"] = {"effort": settings.reasoning_effort}
        if stop := [word for word in ask.stop if word.strip()]:
            payload["stop_sequences"] = stop
        if ask.tools:
            payload["tools"] = [_tool(tool.name, tool.description, tool.schema) for tool in ask.tools]
        elif ask.form is not None:
            payload["tools"] = [_tool(ask.form_name, "Give the answer.", ask.form)]
            # A reasoning model cannot be forced to call a tool.
            thinks = bool(settings.reasoning_tokens)
            payload["tool_choice"] = {"type": "auto"} if thinks else {"type": "tool", "name": ask.form_name}
        return payload | settings.extra_body

    def _completion(
        self, reply: Mapping[str, Any], messages: Sequence[Message], ask: ReplyRequest
    ) -> Completion:
        counts, most = as_object(reply.get("usage")), self._settings.longest_reply
        parts = {name: count(counts.get(name)) for name in _PROMPT_TOKENS}
        given = None if parts["input_tokens"] is None else sum(tokens or 0 for tokens in parts.values())
        made = counts.get("output_tokens")
        if not isinstance(reply.get("content"), list):
            nothing = usage_of(given, made, messages, ask, "", most)
            raise without_reply(f"the reply of {self._settings.url} contains no message", nothing)
        blocks = objects(reply["content"])
        text = "".join(plain(b.get("text")) for b in blocks if b.get("type") == "text")
        thinking = "".join(plain(b.get("thinking")) for b in blocks if b.get("type") == "thinking")
        calls = tuple(
            ToolCall(plain(b.get("id")), plain(b.get("name")), json.dumps(b.get("input") or {}))
            for b in blocks
            if b.get("type") == "tool_use"
        )
        finish = plain(reply.get("stop_reason"))
        if finish == "refusal" and not text.strip() and not calls:
            raise held_back(
                self._settings.url, "", True, usage_of(given, made, messages, ask, thinking, most)
            )
        took = usage_of(given, made, messages, ask, f"{text}{thinking}{_arguments_of(calls)}", most)
        if calls and not ask.tools:
            text, calls = as_text(text, calls, ask.form_name), calls if ask.form is None else ()
        return Completion(
            text=text,
            finish=_ENDS.get(finish, finish),
            input_tokens=took.input_tokens,
            output_tokens=took.output_tokens,
            model=plain(reply.get("model")),
            tool_calls=calls,
            thinking=thinking,
            cached_tokens=0 if took.doubt else parts["cache_read_input_tokens"] or 0,
            cache_written_tokens=0 if took.doubt else parts["cache_creation_input_tokens"] or 0,
            doubt=took.doubt,
        )


def _arguments_of(calls: Sequence[ToolCall]) -> str:
    return "".join(call.arguments_json for call in calls)


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": schema}


def translate(messages: Sequence[Message]) -> tuple[str | list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the system prompt and the turns with alternating roles, in Anthropic's format.

    The system prompt is a list of blocks if its end is marked for caching, else text.
    """
    system: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = message.get("role")
        if role == "system":
            system += _blocks(message.get("content"))
            continue
        speaker = "assistant" if role == "assistant" else "user"
        blocks = _turn(message)
        if turns and turns[-1]["role"] == speaker:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": speaker, "content": blocks})
    if any(MARK in block for block in system):
        return system, turns
    return "\n\n".join(str(block.get("text", "")) for block in system), turns


def _turn(message: Message) -> list[dict[str, Any]]:
    blocks = _blocks(message.get("content"))
    if message.get("role") == "tool":
        return [
            {"type": "tool_result", "tool_use_id": message.get("tool_call_id", ""), "content": blocks or ""}
        ]
    for call in cast("Sequence[Mapping[str, Any]]", message.get("tool_calls") or ()):
        function: Mapping[str, Any] = call["function"]
        made = {"type": "tool_use", "id": call["id"], "name": function["name"]}
        blocks.append({**made, "input": _arguments(str(function["arguments"]))})
    return blocks or [{"type": "text", "text": _NOTHING_SAID}]


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    parts = cast("Sequence[Mapping[str, Any]]", content or ())
    return [_block(part) for part in parts if part.get("type") != "text" or str(part["text"]).strip()]


def _block(part: Mapping[str, Any]) -> dict[str, Any]:
    mark = {MARK: part[MARK]} if MARK in part else {}
    if part.get("type") != "image_url":
        return {"type": "text", "text": str(part.get("text", "")), **mark}
    url = str(part["image_url"]["url"])
    head, _, data = url.partition(",")
    if head.startswith("data:"):
        kind = head.removeprefix("data:").removesuffix(";base64")
        return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}, **mark}
    return {"type": "image", "source": {"type": "url", "url": url}, **mark}


def _arguments(text: str) -> dict[str, Any]:
    """Return the arguments of a tool call as a dict; an empty dict if the model's text is no valid JSON."""
    try:
        return as_object(json.loads(text))
    except ValueError:
        return {}
