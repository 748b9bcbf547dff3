"""What is rewarded in MuJoCo's tasks, and what ends them."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

from gym_gui.envs.describers.spaces import bounds_of, number


class _Body(NamedTuple):
    """One task.

    Attributes:
        wanted: What is rewarded.
        height: Heights in metres at which the game goes on.
        angle: Angles in radians at which it does.
    """

    wanted: str
    height: tuple[float, float] | None = None
    angle: tuple[float, float] | None = None


_FORWARD = "Each step pays {_forward_reward_weight} x the speed along the x-axis{_costs}."
_UPRIGHT = f"{_FORWARD} Every step that the game goes on pays {{_healthy_reward}}."
_BODIES: Mapping[str, _Body] = {
    "ant": _Body(_UPRIGHT, (0.2, 1.0)),
    "half_cheetah": _Body(_FORWARD),
    "hopper": _Body(_UPRIGHT, (0.7, inf), (-0.2, 0.2)),
    "humanoid": _Body(_UPRIGHT, (1.0, 2.0)),
    "humanoidstandup": _Body("The height of the torso is rewarded, force costs a little."),
    "inverted_double_pendulum": _Body(
        "Every step is rewarded until the upper end is no more than 1 m high; leaving the middle, sinking "
        "and speed cost a part of it."
    ),
    "inverted_pendulum": _Body("Every step is rewarded with 1 until the pole leans more than 0.2 rad."),
    "pusher": _Body(
        "Each step costs how far the object is from its goal, and half of how far the fingertip is from the "
        "object; force costs a little."
    ),
    "reacher": _Body("Each step costs how far the fingertip is from the target; force costs a little."),
    "swimmer": _Body(_FORWARD),
    "walker2d": _Body(_UPRIGHT, (0.8, 2.0), (-1.0, 1.0)),
}


def about(name: str, env: Any) -> str:
    """What is wanted in the task of a module, with the bounds that ``env`` was made with."""
    body = _BODIES.get(name)
    if body is None:
        return ""
    ends: list[str] = []
    if getattr(env, "_terminate_when_unhealthy", True):
        for what, unit, usual in (("height", "m", body.height), ("angle", "rad", body.angle)):
            if usual is not None:
                low, high = getattr(env, f"_healthy_{'z' if what == 'height' else what}_range", usual)
                ends.append(f"the {what} of the torso is not {bounds_of(low, high)} {unit}")
    wanted = body.wanted.format_map(_Numbers(env))
    return f"{wanted} The game ends as soon as {' or '.join(ends)}." if ends else wanted


class _Numbers(dict[str, str]):
    """What a task's sentences are filled with: numbers that an environment was made with."""

    def __init__(self, env: Any) -> None:
        super().__init__()
        self._env = env

    def __missing__(self, name: str) -> str:
        if name != "_costs":
            return number(getattr(self._env, name, 1.0))
        force = getattr(self._env, "_ctrl_cost_weight", 0.0)
        touch = getattr(self._env, "_contact_cost_weight", 0.0)
        parts = [f"{number(force)} x the squares of the forces"] if force else []
        parts += [f"{number(touch)} x those of forces from outside, clipped"] if touch else []
        return f" and costs {' and '.join(parts)}" if parts else ""
