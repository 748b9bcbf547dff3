"""Reads fields of server replies, in which any field may be missing or have another type."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from mosaic_llm_worker.chat_servers.servers import ToolCall


def as_object(value: object) -> dict[str, Any]:
    """Return ``value`` if it is a JSON object, else an empty dict."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """Return the JSON objects in a list; an empty list if ``value`` is no list."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def plain(text: object) -> str:
    """Return text that can be encoded as UTF-8: lone surrogates, which JSON may contain, are replaced."""
    return "" if text is None else str(text).encode("utf-8", "replace").decode()


def as_text(text: str, calls: Sequence[ToolCall], form_name: str) -> str:
    """Return all that a model wrote as text: its words, and the arguments of tools that it called unasked.

    Args:
        text: Text of the reply.
        calls: Tools that the model called, whether they exist or not.
        form_name: Name of the tool by which a reply gets its form; its arguments are the reply.
    """
    written = [
        call.arguments_json
        if call.name == form_name
        else json.dumps({"name": call.name, "arguments": call.arguments_json}, ensure_ascii=False)
        for call in calls
    ]
    in_form = all(call.name == form_name for call in calls)
    return "\n".join(filter(None, ["" if in_form else text, *written]))


def count(value: object) -> int | None:
    """Return a number of tokens, or ``None`` if ``value`` is no valid number."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return value
    return None
