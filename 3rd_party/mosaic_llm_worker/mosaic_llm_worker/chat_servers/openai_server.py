"""Servers that speak OpenAI's chat interface: its own, OpenRouter, vLLM, Ollama, llama.cpp, transformers."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mosaic_llm_worker.chat_servers.caching import marked
from mosaic_llm_worker.chat_servers.models import OnlyModel, model_names
from mosaic_llm_worker.chat_servers.replies import as_object, as_text, count, objects, plain
from mosaic_llm_worker.chat_servers.servers import Ask, Completion, Message, ToolCall
from mosaic_llm_worker.chat_servers.transport import Refused, Transport
from mosaic_llm_worker.chat_servers.usage import Usage, held_back, usage_of, without_reply
from mosaic_llm_worker.server_settings import ServerSettings

_log = logging.getLogger(__name__)

_COUNTED: Final = "stream_options"
_OPTIONAL: Final = ("seed", "temperature", "stop", _COUNTED)
"""Parameters that not every server or model takes."""
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
"""What the longest reply is called: by nearly all, and by OpenAI's newer models."""
_WAYS: Final = ("schema", "tool", "words")
"""How a reply is given its form, best first: a JSON schema, a tool that must be called, or by asking."""
_WAYS_OF: Final = {
    # It takes a schema and does not keep to it, so that only words are left.
    "transformers": ("words",),
    # The server of llama-cpp-python knows a schema by llama.cpp's older name alone.
    "llamacpp": ("schema", "object", "tool", "words"),
}
_FORMS: Final = (
    *("response_format", "json_schema", "structured", "schema", "grammar", "tool_choice", "tools", "tool"),
)
"""What a refusal of a form may name."""
_THOUGHTS: Final = ("reasoning_content", "reasoning")
_LAST_ANSWER: Final = re.compile(r"<\s*action\s*>[^<>]*<\s*/\s*action\s*>\s*$", re.IGNORECASE)
"""An answer with which thoughts end: a server whose reasoning parser does not fit takes all for thoughts."""
_FILTERED: Final = "content_filter"


class OpenAIServer:
    """One server.

    What it turns out not to take (a seed, a temperature, a form) is left out from then on, and said
    once in the log.
    """

    def __init__(self, settings: ServerSettings, key: str) -> None:
        self._settings = settings
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if key and "api-version=" in settings.url:
            headers["api-key"] = key  # as Azure wants it
        self._transport = Transport(settings.url, headers, key, settings.timeout_s)
        self._model = OnlyModel(settings.model_id)
        self._without: set[str] = set()
        self._limit = _LIMITS[0]
        self._streams = self._no_system = False
        self._ways = _WAYS_OF.get(settings.client_name, _WAYS)
        self._way = self._ways[0]

    async def chat(self, messages: Sequence[Message], ask: Ask) -> Completion:
        """See :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`."""
        model = await self._model.name(self._transport)
        payload = self._payload(model, messages, ask)
        while True:
            try:
                reply = await self._transport.post("chat/completions", payload)
            except Refused as error:
                self._learn(error, payload)
                again = self._payload(model, messages, ask)
                if again == payload:
                    raise
                payload = again
                continue
            return self._completion(reply, messages, ask)

    async def models(self) -> list[str]:
        """See :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`."""
        if self._settings.client_name == "openrouter":
            await self._transport.get("key")  # its list of models is public: this is where a key is refused
        return model_names(await self._transport.get("models"))

    async def aclose(self) -> None:
        """See :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`."""
        await self._transport.aclose()

    # -- the request -----------------------------------------------------------------------

    def _payload(self, model: str, messages: Sequence[Message], ask: Ask) -> dict[str, Any]:
        payload: dict[str, Any] = {"model": model, "messages": self._shown(messages, ask)}
        payload[self._limit] = self._settings.longest_reply
        wanted = {
            "seed": ask.seed,
            "temperature": self._settings.sent_temperature,
            "stop": list(ask.stop) or None,
        }
        payload |= {k: v for k, v in wanted.items() if v is not None and k not in self._without}
        if ask.tools:
            payload["tools"] = [_tool(tool.name, tool.description, tool.schema) for tool in ask.tools]
        if ask.form is not None:
            payload |= self._form(ask)
        if self._settings.client_name == "openrouter":
            payload["usage"] = {"include": True}  # the price of the call comes with the reply
        if self._streams:
            payload["stream"] = True
            if _COUNTED not in self._without:
                payload[_COUNTED] = {"include_usage": True}
        return payload | self._sampling() | self._settings.extra_body

    def _shown(self, messages: Sequence[Message], ask: Ask) -> list[Message]:
        if self._no_system:
            messages = without_system(messages)
        # Of those that speak this interface, OpenRouter alone has models that want a mark.
        marks = self._settings.prompt_caching and self._settings.client_name == "openrouter"
        return marked(messages, ask.stable) if marks else list(messages)

    def _sampling(self) -> dict[str, Any]:
        """What was asked for by name: a server that does not take it is to say so."""
        settings = self._settings
        sampling: dict[str, Any] = {} if settings.top_p is None else {"top_p": settings.top_p}
        if settings.client_name != "openrouter":
            return sampling | (
                {"reasoning_effort": settings.reasoning_effort} if settings.reasoning_effort else {}
            )
        if settings.reasoning_effort:
            sampling["reasoning"] = {"effort": settings.reasoning_effort}
        elif settings.reasoning_tokens:
            sampling["reasoning"] = {"max_tokens": settings.reasoning_tokens}
        return sampling

    def _form(self, ask: Ask) -> dict[str, Any]:
        if self._way == "schema":
            schema = {"name": ask.form_name, "schema": ask.form, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        if self._way == "object":
            return {"response_format": {"type": "json_object", "schema": ask.form}}
        if self._way == "tool" and not ask.tools:
            named = {"type": "function", "function": {"name": ask.form_name}}
            tool = _tool(ask.form_name, "Give the answer.", ask.form or {})
            return {"tools": [tool], "tool_choice": named}
        return {}

    def _learn(self, error: Refused, payload: Mapping[str, Any]) -> None:
        """Leave out, from now on, what the server has refused."""
        if self._limit == _LIMITS[0] and error.names(_LIMITS[0]):
            self._limit = _LIMITS[1]
            _log.info("%s calls the longest reply %s", self._settings.url, self._limit)
            return
        if error.only_streams and not self._streams:
            self._streams = True
            _log.info("%s only streams its replies: they are put together here", self._settings.url)
            return
        if error.wants_no_system and not self._no_system:
            self._no_system = True
            _log.warning(
                "%s knows no system role: its words stand before the first question (%s)",
                *(self._settings.url, error.reason),
            )
            return
        for name in _OPTIONAL:
            if name in payload and name not in self._without and error.names(name):
                self._without.add(name)
                _log.warning("%s takes no %s: going on without (%s)", self._settings.url, name, error.reason)
                return
        used = _way_of(payload)
        if used == self._way and any(error.names(word) for word in _FORMS):
            # Where they differ, another request has already changed the way.
            self._way = self._ways[self._ways.index(used) + 1]
            _log.warning(
                "%s gives no reply by %s: asking by %s from now on (%s)",
                *(self._settings.url, used, self._way, error.reason),
            )

    # -- the reply -------------------------------------------------------------------------

    def _completion(self, reply: Mapping[str, Any], messages: Sequence[Message], ask: Ask) -> Completion:
        choices = objects(reply.get("choices"))
        choice = choices[0] if choices else dict[str, Any]()
        said = as_object(choice.get("message"))
        counts = as_object(reply.get("usage"))

        def usage(words: str) -> Usage:
            counted = counts.get("prompt_tokens"), counts.get("completion_tokens")
            return usage_of(*counted, messages, ask, words, self._settings.longest_reply)

        if choice.get("error"):
            raise without_reply(f"the server at {self._settings.url} failed within its reply", usage(""))
        if not said:
            raise without_reply(f"the reply of {self._settings.url} holds no message", usage(""))
        text, refused = _text(said.get("content")), plain(said.get("refusal"))
        calls, finish = _calls(said.get("tool_calls")), plain(choice.get("finish_reason"))
        if not text.strip() and not calls and (refused or finish == _FILTERED):
            raise held_back(self._settings.url, refused, finish == _FILTERED, usage(refused))
        if calls and not ask.tools:
            text, calls = as_text(text, calls, ask.form_name), calls if ask.form is None else ()
        thinking = next((plain(said[name]) for name in _THOUGHTS if isinstance(said.get(name), str)), "")
        if thinking and not text.strip() and not calls:
            text = _from_thoughts(thinking, finish)
        took = usage(text + thinking + "".join(call.arguments_json for call in calls))
        given = 0 if took.doubt else took.input_tokens
        made = 0 if took.doubt else took.output_tokens
        kept = as_object(counts.get("prompt_tokens_details"))
        thought = as_object(counts.get("completion_tokens_details"))
        cached = _tokens_of(kept.get("cached_tokens", counts.get("prompt_cache_hit_tokens")), given)
        return Completion(
            text=text,
            finish=finish,
            input_tokens=took.input_tokens,
            output_tokens=took.output_tokens,
            model=plain(reply.get("model")),
            tool_calls=calls,
            thinking=thinking,
            usd=_cost(counts.get("cost")) if self._settings.client_name == "openrouter" else None,
            cached_tokens=cached,
            cache_written_tokens=_tokens_of(kept.get("cache_write_tokens"), given - cached),
            reasoning_tokens=_tokens_of(thought.get("reasoning_tokens"), made),
            doubt=took.doubt,
        )


def without_system(messages: Sequence[Message]) -> list[Message]:
    """The same dialogue with the system's words at the beginning of the first question."""
    words = [str(message["content"]) for message in messages if message.get("role") == "system"]
    others = [dict(message) for message in messages if message.get("role") != "system"]
    first = next((message for message in others if message.get("role") == "user"), None)
    if not words or first is None:
        return list(messages)
    before, content = "\n\n".join(words), first["content"]
    if isinstance(content, str):
        first["content"] = f"{before}\n\n{content}"
    else:
        first["content"] = [{"type": "text", "text": before}, *content]
    return [*others]


def _from_thoughts(thinking: str, finish: str) -> str:
    """What a reply of thoughts alone says: the answer that they end with, or that there is none."""
    if finish == "length":
        return "<think>\u2026"
    answer = _LAST_ANSWER.search(thinking)
    return answer[0] if answer else "<think>\u2026</think>"


def _way_of(payload: Mapping[str, Any]) -> str:
    """How a request asks for its form; empty where it asks for none but in words."""
    if "response_format" in payload:
        return "object" if payload["response_format"]["type"] == "json_object" else "schema"
    return "tool" if "tool_choice" in payload else ""


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


def _text(content: object) -> str:
    """A message's words; some servers send them in parts."""
    if isinstance(content, str):
        return plain(content)
    return "".join(plain(part.get("text")) for part in objects(content))


def _calls(calls: object) -> tuple[ToolCall, ...]:
    found: list[ToolCall] = []
    for number, call in enumerate(objects(calls)):
        function = as_object(call.get("function"))
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        id_ = plain(call.get("id") or f"call_{number}")
        found.append(ToolCall(id_, plain(function.get("name")), plain(text)))
    return tuple(found)


def _tokens_of(value: object, whole: int) -> int:
    """Tokens that are some of ``whole``; none where the server does not say."""
    return min(count(value) or 0, whole)


def _cost(value: object) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e6:
        return float(value)
    return None
