"""Describes the form of an answer: as words for prompts, and as a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from mosaic_llm_worker.parsing.values import bounds
from mosaic_llm_worker.parsing.vocabulary import Vocabulary
from mosaic_worker.spaces import Space

_MOST_WORDS: Final = 250
"""Largest number of words in a schema; servers refuse longer lists or become slow."""
_LISTS: Final = ("Box", "MultiDiscrete", "MultiBinary", "Tuple")


def one(space: Space, words: Sequence[str]) -> str:
    """Return what the model must answer, as the object of a sentence."""
    if space.kind == "Discrete":
        return "the word of one action" if any(words) else "one legal action"
    if space.kind == "Text":
        return "what you want to write"
    if space.kind in _LISTS:
        return "your action as a list in square brackets"
    return "your action as JSON"


def form_text(space: Space, talk: bool) -> str:
    """Return the JSON object of the strategy ``structured``, with dots in place of the answer."""
    action = '"..."' if space.kind in ("Discrete", "Text") else "[...]" if space.kind in _LISTS else "{...}"
    return f'{{"say": "...", "action": {action}}}' if talk else f'{{"action": {action}}}'


def answer_text(strategy: str, space: Space, answer: str) -> str:
    """Return an answer in the form of a strategy, to show earlier turns to the model.

    Args:
        strategy: Value of the setting ``strategy``.
        space: The action space.
        answer: Word of the action, or the text that :func:`written` returns.
    """
    if strategy == "structured":
        as_text = space.kind in ("Discrete", "Text")
        return f'{{"action": {json.dumps(answer, ensure_ascii=False) if as_text else answer}}}'
    if strategy == "robust":
        return f"<action>{answer}</action>"
    return answer if strategy == "naive" else f"Action: {answer}"


def written(action: Any) -> str:
    """Return an action without a word as text: texts unchanged, all other actions as JSON."""
    return action if isinstance(action, str) else json.dumps(_short_numbers(plain_value(action)))


def plain_value(value: Any) -> Any:
    """Return an action as JSON data with all digits; arrays become one list of numbers."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain_value(part) for part in cast("Sequence[Any]", value)]
    if isinstance(value, np.ndarray):
        return plain_value(
            cast("Any", value).reshape(-1).tolist()
        )  # flat, because the prompt asks for one list of numbers
    return cast("Any", value).item() if isinstance(value, np.generic) else value


def _short_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short_numbers(part) for key, part in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_short_numbers(part) for part in cast("list[Any]", value)]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def schema(space: Space, vocabulary: Vocabulary | None, talk: bool, listed: bool = True) -> dict[str, Any]:
    """Return the JSON schema of an answer.

    Args:
        space: The action space.
        vocabulary: Words of the current decision, for a ``Discrete`` space.
        talk: Whether the answer may contain a message to teammates.
        listed: Whether the schema may list the words; words of a position reveal its legal actions.
    """
    if vocabulary is not None and not listed:
        action: dict[str, Any] = {"type": "string"}
    else:
        action = _action_names(vocabulary) if vocabulary is not None else _value(space)
    properties = {"say": {"type": "string"}, "action": action} if talk else {"action": action}
    return _object(properties)


def _action_names(vocabulary: Vocabulary) -> dict[str, Any]:
    actions = vocabulary.everything
    if len(actions) > _MOST_WORDS:
        return {"type": "string"}
    return {"type": "string", "enum": list(dict.fromkeys(vocabulary.name(action) for action in actions))}


def _value(space: Space) -> dict[str, Any]:
    if space.kind == "Text":
        return {"type": "string"}
    if space.kind == "Discrete":
        return {"type": "integer", "minimum": space.start, "maximum": space.start + space.n - 1}
    if space.kind == "Dict":
        return _object({key: _value(child) for key, child in space.spaces.items()})
    if space.kind == "Tuple":
        parts = [_value(child) for child in space.spaces.values()]
        return {"type": "array", "items": {"anyOf": parts}, "minItems": len(parts), "maxItems": len(parts)}
    low, high = bounds(space)
    return {"type": "array", "items": _entry(space, low, high), "minItems": low.size, "maxItems": low.size}


def _entry(space: Space, low: NDArray[Any], high: NDArray[Any]) -> dict[str, Any]:
    """Return the schema of each number of a list, with bounds for integers whose bounds are all equal."""
    if space.kind == "Box" and not np.issubdtype(np.dtype(space.dtype), np.integer):
        return {"type": "number"}  # servers' grammars do not enforce bounds of floats
    if not low.size or (low != low.flat[0]).any() or (high != high.flat[0]).any():
        return {"type": "integer"}
    return {"type": "integer", "minimum": int(low.flat[0]), "maximum": int(high.flat[0])}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
