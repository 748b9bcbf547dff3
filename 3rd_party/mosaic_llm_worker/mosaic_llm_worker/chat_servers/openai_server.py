"""Client of servers with OpenAI's chat API: OpenAI, OpenRouter, vLLM, Ollama, llama.cpp, transformers."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mosaic_llm_worker.chat_servers.caching import marked
from mosaic_llm_worker.chat_servers.models import OnlyModel, model_names
from mosaic_llm_worker.chat_servers.replies import as_object, as_text, count, objects, plain
from mosaic_llm_worker.chat_servers.servers import Completion, Message, ReplyRequest, ToolCall
from mosaic_llm_worker.chat_servers.transport import RequestRefused, Transport
from mosaic_llm_worker.chat_servers.usage import Usage, held_back, usage_of, without_reply
from mosaic_llm_worker.server_settings import ServerSettings

_log = logging.getLogger(__name__)

_COUNTED: Final = "stream_options"
_OPTIONAL: Final = ("seed", "temperature", "stop", _COUNTED)
"""Parameters that some servers or models do not accept."""
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
"""Names of the limit of a reply's tokens: that of most servers, and that of OpenAI's newer models."""
_WAYS: Final = ("schema", "tool", "words")
"""Ways to request a form of replies, best first: a JSON schema, a tool that must be called, an
instruction.
"""
_WAYS_OF: Final = {
    # A server that accepts a schema but ignores it, so that only an instruction is left.
    "transformers": ("words",),
    # The server of llama-cpp-python accepts a schema only under llama.cpp's older name.
    "llamacpp": ("schema", "object", "tool", "words"),
}
_FORMS: Final = (
    *("response_format", "json_schema", "structured", "schema", "grammar", "tool_choice", "tools", "tool"),
)
"""Parameters that a server may name when it refuses a form, by way."""
_THOUGHTS: Final = ("reasoning_content", "reasoning")
_LAST_ANSWER: Final = re.compile(r"<\s*action\s*>[^<>]*<\s*/\s*action\s*>\s*$", re.IGNORECASE)
"""An answer at the end of reasoning; a server whose reasoning parser does not fit returns a whole reply as
reasoning.
"""
_FILTERED: Final = "content_filter"


class OpenAIServer:
    """Client of one server.

    A parameter that the server refuses (a seed, a temperature, a form) is left out of all later requests, and
    logged once.
    """

    def __init__(self, settings: ServerSettings, key: str) -> None:
        self._settings = settings
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if key and "api-version=" in settings.url:
            headers["api-key"] = key  # the header that Azure requires
        self._transport = Transport(settings.url, headers, key, settings.timeout_s)
        self._model = OnlyModel(settings.model_id)
        self._without: set[str] = set()
        self._limit = _LIMITS[0]
        self._streams = self._no_system = False
        self._ways = _WAYS_OF.get(settings.client_name, _WAYS)
        self._way = self._ways[0]

    async def chat(self, messages: Sequence[Message], ask: ReplyRequest) -> Completion:
        """Send one request; see :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`."""
        model = await self._model.name(self._transport)
        payload = self._payload(model, messages, ask)
        while True:
            try:
                reply = await self._transport.post("chat/completions", payload)
            except RequestRefused as error:
                self._learn(error, payload)
                again = self._payload(model, messages, ask)
                if again == payload:
                    raise
                payload = again
                continue
            return self._completion(reply, messages, ask)

    async def models(self) -> list[str]:
        """Return the names of the server's models; see
        :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`.
        """
        if self._settings.client_name == "openrouter":
            await self._transport.get(
                "key"
            )  # OpenRouter's list of models is public; only this request checks the key
        return model_names(await self._transport.get("models"))

    async def aclose(self) -> None:
        """Close the connections; see :class:`~mosaic_llm_worker.chat_servers.servers.ChatServer`."""
        await self._transport.aclose()

    # -- the request -----------------------------------------------------------------------

    def _payload(self, model: str, messages: Sequence[Message], ask: ReplyRequest) -> dict[str, Any]:
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
            payload["usage"] = {"include": True}  # the reply then contains the price of the call
        if self._streams:
            payload["stream"] = True
            if _COUNTED not in self._without:
                payload[_COUNTED] = {"include_usage": True}
        return payload | self._sampling() | self._settings.extra_body

    def _shown(self, messages: Sequence[Message], ask: ReplyRequest) -> list[Message]:
        if self._no_system:
            messages = without_system(messages)
        # Among servers with this API, only OpenRouter has models that need a mark.
        marks = self._settings.prompt_caching and self._settings.client_name == "openrouter"
        return marked(messages, ask.stable) if marks else list(messages)

    def _sampling(self) -> dict[str, Any]:
        """Return the sampling parameters that the user has set; a server that does not accept one must refuse
        it.
        """
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

    def _form(self, ask: ReplyRequest) -> dict[str, Any]:
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

    def _learn(self, error: RequestRefused, payload: Mapping[str, Any]) -> None:
        """Leave out the parameter that the server has refused, in this and all later requests."""
        if self._limit == _LIMITS[0] and error.names(_LIMITS[0]):
            self._limit = _LIMITS[1]
            _log.info("%s names the limit of a reply's tokens %s", self._settings.url, self._limit)
            return
        if error.only_streams and not self._streams:
            self._streams = True
            _log.info("%s only streams its replies: streaming is used from now on", self._settings.url)
            return
        if error.wants_no_system and not self._no_system:
            self._no_system = True
            _log.warning(
                "%s has no system role: the system prompt is put before the first question (%s)",
                *(self._settings.url, error.reason),
            )
            return
        for name in _OPTIONAL:
            if name in payload and name not in self._without and error.names(name):
                self._without.add(name)
                _log.warning(
                    "%s does not accept %s: continuing without it (%s)",
                    self._settings.url,
                    name,
                    error.reason,
                )
                return
        used = _way_of(payload)
        if used == self._way and any(error.names(word) for word in _FORMS):
            # If they differ, another request has already changed the way.
            self._way = self._ways[self._ways.index(used) + 1]
            _log.warning(
                "%s does not support a form by %s: using %s from now on (%s)",
                *(self._settings.url, used, self._way, error.reason),
            )

    # -- the reply -------------------------------------------------------------------------

    def _completion(
        self, reply: Mapping[str, Any], messages: Sequence[Message], ask: ReplyRequest
    ) -> Completion:
        choices = objects(reply.get("choices"))
        choice = choices[0] if choices else dict[str, Any]()
        said = as_object(choice.get("message"))
        counts = as_object(reply.get("usage"))

        def usage(words: str) -> Usage:
            counted = counts.get("prompt_tokens"), counts.get("completion_tokens")
            return usage_of(*counted, messages, ask, words, self._settings.longest_reply)

        if choice.get("error"):
            raise without_reply(f"the server at {self._settings.url} failed during its reply", usage(""))
        if not said:
            raise without_reply(f"the reply of {self._settings.url} contains no message", usage(""))
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
    """Return the conversation with the system prompt at the beginning of the first question."""
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
    """Return the answer at the end of a reply that consists of reasoning only, or a text that there is
    none.
    """
    if finish == "length":
        return "<think>\u2026"
    answer = _LAST_ANSWER.search(thinking)
    return answer[0] if answer else "<think>\u2026</think>"


def _way_of(payload: Mapping[str, Any]) -> str:
    """Return the way in which a request asks for a form; ``""`` if only by an instruction."""
    if "response_format" in payload:
        return "object" if payload["response_format"]["type"] == "json_object" else "schema"
    return "tool" if "tool_choice" in payload else ""


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


def _text(content: object) -> str:
    """Return the text of a message's content; some servers send it in parts."""
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
    """Return a count of tokens that are part of ``whole``; 0 if the server does not report a valid count."""
    return min(count(value) or 0, whole)


def _cost(value: object) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e6:
        return float(value)
    return None
