"""Rules of MiniGrid games beyond their missions: ends and rewards, read from the environments' classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def sentences(env: Any) -> Iterator[str]:
    """Yield sentences about rules that only some MiniGrid environments have.

    Args:
        env: The innermost environment, which need not have been reset.
    """
    if _has_lava(env):
        yield "Stepping onto lava ends the game without reward."
    for cls in type(env).__mro__:
        if (rule := _RULES.get(cls.__name__)) is not None:
            yield rule(env) if callable(rule) else rule
            return


def actions(env: Any) -> Mapping[str, str]:
    """Return the meanings of actions that differ from those of other MiniGrid environments."""
    for cls in type(env).__mro__:
        if cls.__name__ in _ACTIONS:
            return _ACTIONS[cls.__name__]
    return _ACTIONS[""]


def names(env: Any, method: str, word: str) -> bool:
    """Return whether a class below ``MiniGridEnv`` uses the name ``word`` in the code of ``method``."""
    for cls in type(env).__mro__:
        if cls.__name__ == "MiniGridEnv":
            return False
        written: Any = vars(cls).get(method)
        if written is not None and word in written.__code__.co_names:
            return True
    return False


def pays(env: Any) -> bool:
    """Return whether a MiniGrid environment can pay a reward: by a goal square, or in its own ``step``."""
    return names(env, "_gen_grid", "Goal") or names(env, "step", "_reward")


def _has_lava(env: Any) -> bool:
    kind = getattr(env, "obstacle_type", None)
    return names(env, "_gen_grid", "Lava") if kind is None else kind.__name__ == "Lava"


def _moving(env: Any) -> str:
    return (
        f"{env.n_obstacles} balls move, each by at most one cell (also diagonally), before you do. Going "
        f"forward with a ball or a wall directly ahead of you ends the game with a reward of "
        f"{env.reward_range[0]:g}."
    )


def _strict(what: str) -> Callable[[Any], str]:
    def told(env: Any) -> str:
        strict = getattr(env, "debug", False) or getattr(env, "strict", False)
        return f"{what} ends the game without reward." if strict else ""

    return told


_DOORS = _strict("Toggling a door other than the one that is due")
_RULES: Mapping[str, str | Callable[[Any], str]] = {
    "DynamicObstaclesEnv": _moving,
    "GoToDoorEnv": (
        '"done" and "toggle" end the game: "done" with reward if you stand in a cell that shares a side with '
        'that door, whichever way you look; "toggle" never.'
    ),
    "GoToObjectEnv": (
        '"done" and "toggle" end the game: "done" with reward if you stand in a cell that shares a side with '
        'the one where that object was at the beginning, whichever way you look; "toggle" never.'
    ),
    "FetchEnv": "Picking up anything ends the game, without reward if it is something else.",
    "PutNearEnv": (
        '"Near" is any of the eight cells around. Picking up something else ends the game without reward; '
        'so does "drop" with the object in your hands anywhere else.'
    ),
    "RedBlueDoorEnv": (
        "The game ends when the blue door is open: with reward if the red one was open before, else without."
    ),
    "MemoryEnv": (
        "At the fork, stepping onto the cell next to one of the two objects ends the game, with reward if it "
        "is the one that is equal, else without."
    ),
    "OpenDoor": _DOORS,
    "OpenTwoDoors": _DOORS,
    "OpenDoorsOrder": _DOORS,
    "PickupDist": _strict("Picking up something else"),
}
"""Sentences about rules by class; a function returns the sentence for an instance."""

_STOPS: Mapping[str, str] = {
    "toggle": "end the game without reward",
    "done": "say that you are there: ends the game",
}
_ACTIONS: Mapping[str, Mapping[str, str]] = {
    "GoToDoorEnv": _STOPS,
    "GoToObjectEnv": _STOPS,
    "": {},
    "MemoryEnv": {"pickup": "of no use here"},
}
