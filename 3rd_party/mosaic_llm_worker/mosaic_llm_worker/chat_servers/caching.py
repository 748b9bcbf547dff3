"""Marks the end of the constant part of a prompt, up to which Anthropic's servers cache it.

OpenAI, vLLM, llama.cpp and others cache the beginnings of prompts without a mark. OpenRouter passes the
mark on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from mosaic_llm_worker.chat_servers.servers import Message

MARK: Final = "cache_control"
_KEEP: Final = {"type": "ephemeral"}


def marked(messages: Sequence[Message], stable: int) -> list[Message]:
    """Return the messages with a mark on the last of the first ``stable`` ones, where the cached part
    ends.
    """
    result = list(messages)
    if 0 < stable <= len(result) and (parts := _content_parts(result[stable - 1].get("content"))):
        result[stable - 1] = {**result[stable - 1], "content": [*parts[:-1], {**parts[-1], MARK: _KEEP}]}
    return result


def _content_parts(content: object) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return list(cast("Sequence[Mapping[str, Any]]", content or ()))
