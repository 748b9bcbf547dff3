"""Checks parameters that the user adds to every request because no setting has them."""

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
"""What a request says already, or what would have another reply read: what to do instead."""
_THINKING: Final = ("reasoning", "reasoning_effort", "thinking", "output_config")
"""Parameters that the settings of reasoning write."""


def wrong(extra: Mapping[str, Any], *, reasons: bool) -> str:
    """Return why parameters cannot be added, as a sentence without values; empty if they can be added.

    Args:
        extra: Parameters by name.
        reasons: Whether a setting of reasoning is given.
    """
    for name in extra:
        if name in _RESERVED:
            return f"{name!r} cannot stand there: {_RESERVED[name]}"
        if reasons and name in _THINKING:
            return f"{name!r} cannot stand there beside reasoning_effort and reasoning_tokens: give one"
    for place, key, value in _leaves(extra, "", ""):
        if isinstance(value, str) and (is_key(value) or value.startswith(_REFERENCES)):
            return f"{place} looks like a key, and nothing secret may stand there: keys go to api_key"
        if is_secret_key(key) and value not in (None, "", True, False):
            return f"{place} is called like a secret, and none may stand there: keys go to api_key"
    if len(json.dumps(extra)) > _LARGEST:
        return f"it has more than {_LARGEST // 2**10} KiB, which would go out with every request"
    return ""


def _leaves(value: object, place: str, key: str) -> Iterator[tuple[str, str, object]]:
    """(place, nearest name, value) of everything that stands in it."""
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, object]", value).items():
            yield from _leaves(inner, f"{place}.{name}" if place else str(name), str(name))
    elif isinstance(value, (list, tuple)):
        for at, inner in enumerate(cast("Sequence[object]", value)):
            yield from _leaves(inner, f"{place}[{at}]", key)
    else:
        yield place, key, value
