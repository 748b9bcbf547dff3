"""How an answer is written: in the words of prompts, and as a JSON schema."""

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
"""Words that a schema lists; servers refuse more, or become slow."""
_LISTS: Final = ("Box", "MultiDiscrete", "MultiBinary", "Tuple")


def one(space: Space, words: Sequence[str]) -> str:
    """What is asked for, as the object of a sentence."""
    if space.kind == "Discrete":
        return "the word of one action" if any(words) else "one legal action"
    if space.kind == "Text":
        return "what you want to write"
    if space.kind in _LISTS:
        return "your action as a list in square brackets"
    return "your action as JSON"


def form_text(space: Space, talk: bool) -> str:
    """The JSON object of the strategy ``structured``, with dots where the answer goes."""
    action = '"..."' if space.kind in ("Discrete", "Text") else "[...]" if space.kind in _LISTS else "{...}"
    return f'{{"say": "...", "action": {action}}}' if talk else f'{{"action": {action}}}'


def answer_text(strategy: str, space: Space, answer: str) -> str:
    """An answer in the form that a strategy asks for, as earlier turns are shown to the model.

    Args:
        strategy: As in the settings.
        space: The action space.
        answer: The word of the action, or what :func:`written` makes of it.
    """
    if strategy == "structured":
        as_text = space.kind in ("Discrete", "Text")
        return f'{{"action": {json.dumps(answer, ensure_ascii=False) if as_text else answer}}}'
    if strategy == "robust":
        return f"<action>{answer}</action>"
    return answer if strategy == "naive" else f"Action: {answer}"


def written(action: Any) -> str:
    """An action without a word, as it is written down: text as it is, everything else as JSON."""
    return action if isinstance(action, str) else json.dumps(_short_numbers(plain_value(action)))


def plain_value(value: Any) -> Any:
    """An action as JSON carries it, to the last digit; arrays as one list of numbers."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain_value(part) for part in cast("Sequence[Any]", value)]
    if isinstance(value, np.ndarray):
        return plain_value(cast("Any", value).reshape(-1).tolist())  # as it is asked for
    return cast("Any", value).item() if isinstance(value, np.generic) else value


def _short_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short_numbers(part) for key, part in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_short_numbers(part) for part in cast("list[Any]", value)]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def schema(space: Space, vocabulary: Vocabulary | None, talk: bool, listed: bool = True) -> dict[str, Any]:
    """The JSON schema of an answer.

    Args:
        space: The action space.
        vocabulary: The words of this moment, of a ``Discrete`` space.
        talk: Whether it may say something.
        listed: Whether the words may be told: those of a position are its legal actions.
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
    """What each number of a list may be; within which bounds, of whole numbers that all have the same."""
    if space.kind == "Box" and not np.issubdtype(np.dtype(space.dtype), np.integer):
        return {"type": "number"}  # which the grammars of servers do not bound
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
