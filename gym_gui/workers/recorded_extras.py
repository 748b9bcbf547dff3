"""Checks the JSON fields that workers send for the record, because rows contain them unchanged."""

from __future__ import annotations

from typing import Any, cast

import orjson

from gym_gui.core.errors import ProtocolError
from gym_gui.core.types import CLOCK, PLAN_POINTS, PLANNED, REFUSED, WORD

_OURS = frozenset(
    {
        *("episode_index", "step_index", "seed", "agent_id", "action", "reward", "terminated"),
        *("truncated", "action_source", "state_sha", "latency_ms", "observation", REFUSED, WORD, CLOCK),
    }
)
"""Fields of a step row that only the engine writes."""
MOST_SAID = 1000
"""Largest number of characters of a message to teammates, which becomes part of their prompts."""


MOST_POINTS = 64
"""Largest number of points of a plan, which is written into the row of each decision."""


def _are_points(value: Any) -> bool:
    points = cast("list[Any]", value) if isinstance(value, list) else [None]
    return len(points) <= MOST_POINTS and all(
        isinstance(point, list)
        and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in cast("list[Any]", point))
        for point in points
    )


MOST_LINES = 16
"""Largest number of reward and control curves in a plan, each with one number per step."""


def _are_numbers(value: Any, most: int = MOST_POINTS) -> bool:
    numbers = cast("list[Any]", value) if isinstance(value, list) else [None]
    return len(numbers) <= most and all(
        isinstance(x, (int, float)) and not isinstance(x, bool) for x in numbers
    )


def _is_course(value: Any) -> bool:
    course = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    earned, controls = course.get("earned", {}), course.get("controls", [])
    beyond = course.get("beyond", {})
    if not isinstance(earned, dict) or not isinstance(beyond, dict) or not isinstance(controls, list):
        return False
    lines = [*cast("dict[str, Any]", earned).values(), *cast("list[Any]", controls)]
    steps = course.get("steps")
    return (
        course.keys() <= {"steps", "earned", "beyond", "controls"}
        and _are_numbers(steps)
        and len(lines) <= MOST_LINES
        and all(_are_numbers(line) and len(line) == len(cast("list[Any]", steps)) for line in lines)
        and _are_numbers(list(cast("dict[str, Any]", beyond).values()), MOST_LINES)
    )


def read_object(text: str, what: str) -> dict[str, Any]:
    """Return a JSON object from a worker, checked to be writable again.

    Args:
        text: Text from the worker.
        what: Name of the text, for the error message.

    Raises:
        ProtocolError: The text is no JSON object, or has lone surrogates or endless nesting.
    """
    try:
        value: Any = orjson.loads(text)
        orjson.dumps(value)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError) as exc:
        raise ProtocolError(f"{what} cannot be recorded: {exc}") from None
    if not isinstance(value, dict):
        raise ProtocolError(f"{what} is no JSON object: {text[:80]}")
    return cast("dict[str, Any]", value)


def read_extras(text: str) -> dict[str, Any]:
    """Return the fields that a worker sends to be recorded with an action.

    Raises:
        ProtocolError: The fields cannot be recorded, or would overwrite the engine's own.
    """
    extras = read_object(text, "the worker's extra fields")
    if taken := _OURS & extras.keys():
        raise ProtocolError(f"it has a field {min(taken)!r}, which only MOSAIC writes")
    tokens = extras.get("tokens", {})
    counts = cast("dict[str, Any]", tokens).values() if isinstance(tokens, dict) else [None]
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts):
        raise ProtocolError("its 'tokens' are not whole numbers by name")
    if PLAN_POINTS in extras and not _are_points(extras[PLAN_POINTS]):
        raise ProtocolError(f"its '{PLAN_POINTS}' are not at most {MOST_POINTS} points of numbers")
    if PLANNED in extras and not _is_course(extras[PLANNED]):
        raise ProtocolError(
            f"its '{PLANNED}' is not 'steps' (at most {MOST_POINTS}), with as many numbers in each of at "
            f"most {MOST_LINES} lines of 'earned' (by name) and 'controls', and 'beyond' (numbers by name)"
        )
    said = extras.get("said", "")
    if not isinstance(said, str) or len(said) > MOST_SAID:
        raise ProtocolError(f"its message to the team is no text of at most {MOST_SAID} characters")
    return extras
