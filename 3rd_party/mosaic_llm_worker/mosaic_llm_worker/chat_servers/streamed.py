"""Assembles a complete reply from a stream of events (``data: {…}``).

Some servers only stream, others stream without a request for it.
https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

import json
from typing import Any, Final

from mosaic_llm_worker.chat_servers.replies import as_object, objects

EVENTS: Final = "text/event-stream"
_WORDS: Final = ("content", "refusal", "reasoning_content", "reasoning")


def whole(body: bytes) -> dict[str, Any]:
    """Return the reply that the events in ``body`` form; an empty dict if there are no events."""
    found: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    finish: Any = None
    for event in _events(body):
        if event.get("error"):
            return event
        found |= {name: event[name] for name in ("id", "model", "usage") if event.get(name)}
        for choice in objects(event.get("choices"))[:1]:
            found["choices"] = ()  # the events contain a reply, even if it is empty
            finish = choice.get("finish_reason") or finish
            # Some servers send the whole message in the last or only event.
            delta = as_object(choice.get("delta") or choice.get("message"))
            for name in _WORDS:
                if isinstance(delta.get(name), str):
                    message[name] = (message.get(name) or "") + delta[name]
            for part in objects(delta.get("tool_calls")):
                _add(calls, part)
    if "choices" not in found:
        return {}
    if calls:
        message["tool_calls"] = [calls[number] for number in sorted(calls)]
    return {**found, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def _add(calls: dict[int, dict[str, Any]], part: dict[str, Any]) -> None:
    """Add a piece of a tool call: the name comes once, the arguments come in pieces."""
    number = part.get("index") if isinstance(part.get("index"), int) else len(calls)
    call = calls.setdefault(int(number or 0), {"type": "function", "function": {"name": "", "arguments": ""}})
    call |= {"id": part["id"]} if part.get("id") else {}
    function = as_object(part.get("function"))
    for name in ("name", "arguments"):
        call["function"][name] += str(function.get(name) or "")


def _events(body: bytes) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for line in body.decode("utf-8", "replace").splitlines():
        if not line.startswith("data:"):
            continue
        try:
            events.append(as_object(json.loads(line[5:])))
        except (ValueError, RecursionError):
            continue  # "[DONE]", or an event that was cut off
    return events
