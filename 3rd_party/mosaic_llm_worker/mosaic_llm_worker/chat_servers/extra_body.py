"""Checks the user's additional parameters of requests, for which no setting exists."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from mosaic_worker.secret_words import is_key, is_secret_key

_LARGEST: Final = 64 * 2**10
"""Largest number of characters of the parameters as JSON, because every request contains them."""
_REFERENCES: Final = ("env:", "keyring:")
_ITSELF: Final = "the worker sets it itself"
_RESERVED: Final[Mapping[str, str]] = {
    "model": "set model_id",
    "models": "set fallback_models, which are recorded",
    "messages": _ITSELF,
    "system": "change system.txt in a prompt_folder",
    "max_tokens": "set max_tokens",
    "max_completion_tokens": "set max_tokens",
    "temperature": "set temperature",
    "top_p": "set top_p",
    "seed": "set seed",
    "stop": _ITSELF,
    "stop_sequences": _ITSELF,
    "tools": _ITSELF,
    "tool_choice": _ITSELF,
    "response_format": "set strategy to structured",
    "usage": _ITSELF,
    "stream": "replies are read whole",
    "n": "set samples",
}
"""Parameters that the worker sets or that change the form of replies, and what to do instead."""
_THINKING: Final = ("reasoning", "reasoning_effort", "thinking", "output_config")
"""Parameters that the settings for reasoning control."""


def wrong(extra: Mapping[str, Any], *, reasons: bool) -> str:
    """Return why parameters cannot be added, as a sentence without values; empty if they can be added.

    Args:
        extra: Parameters by name.
        reasons: Whether a setting of reasoning is given.
    """
    for name in extra:
        if name in _RESERVED:
            return f"{name!r} cannot be an extra parameter: {_RESERVED[name]}"
        if reasons and name in _THINKING:
            return f"{name!r} cannot be combined with reasoning_effort or reasoning_tokens: use one of them"
    for place, key, value in _leaves(extra, "", ""):
        if isinstance(value, str) and (is_key(value) or value.startswith(_REFERENCES)):
            return f"{place} looks like a key, which extra parameters must not contain: set api_key instead"
        if is_secret_key(key) and value not in (None, "", True, False):
            return f"{place} is named like a secret, which no extra parameter may be: set api_key instead"
    if len(json.dumps(extra)) > _LARGEST:
        return f"it has more than {_LARGEST // 2**10} KiB, which every request would contain"
    return ""


def _leaves(value: object, place: str, key: str) -> Iterator[tuple[str, str, object]]:
    """Yield (path, nearest name, value) for every leaf of nested parameters."""
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, object]", value).items():
            yield from _leaves(inner, f"{place}.{name}" if place else str(name), str(name))
    elif isinstance(value, (list, tuple)):
        for at, inner in enumerate(cast("Sequence[object]", value)):
            yield from _leaves(inner, f"{place}[{at}]", key)
    else:
        yield place, key, value
