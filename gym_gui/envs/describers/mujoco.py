"""Describes rewards and ends of Gymnasium's MuJoCo tasks."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

from gym_gui.envs.describers.value_words import bounds_of, number


class _Body(NamedTuple):
    """Reward and healthy ranges of one MuJoCo task.

    Attributes:
        wanted: Sentences about the reward.
        height: Range of heights in meters within which the game continues.
        angle: Range of angles in radians within which the game continues.
        usual: Numbers by attribute that are fixed in the code of environments without such arguments.
    """

    wanted: str
    height: tuple[float, float] | None = None
    angle: tuple[float, float] | None = None
    usual: Mapping[str, Any] = {}


_FORWARD = "Each step pays {_forward_reward_weight} x the speed along the x-axis{_costs}."
_UPRIGHT = f"{_FORWARD} Every step that the game goes on pays {{_healthy_reward}}."
_FORCE = "{_reward_control_weight} x the squares of the forces"
_BODIES: Mapping[str, _Body] = {
    "ant": _Body(_UPRIGHT, (0.2, 1.0)),
    "half_cheetah": _Body(_FORWARD),
    "hopper": _Body(_UPRIGHT, (0.7, inf), (-0.2, 0.2)),
    "humanoid": _Body(_UPRIGHT, (1.0, 2.0)),
    "humanoidstandup": _Body(
        "Each step pays 1 and the height of the torso in metres divided by {_timestep}{_costs}. Nothing ends "
        "the game before its last step.",
        usual={"_ctrl_cost_weight": 0.1, "_impact_cost_weight": 5e-7, "_impact_cost_range": (-inf, 10.0)},
    ),
    "inverted_double_pendulum": _Body(
        "Each step pays {_healthy_reward} and costs 0.01 x the square of how far the upper end is from the "
        "middle along x, the square of how far its height is from 2 (both in metres), 0.001 x the square of "
        "the speed of the lower joint and 0.005 x that of the upper one (in rad/s). The game ends as soon as "
        "the upper end is no more than 1 m high{_last}.",
        usual={"_healthy_reward": 10.0},
    ),
    "inverted_pendulum": _Body(
        "Each step pays 1. The game ends as soon as the pole leans more than 0.2 rad{_last}."
    ),
    "pusher": _Body(
        "Each step costs {_reward_dist_weight} x how far the object is from its goal and "
        "{_reward_near_weight} x how far the fingertip is from the object, in metres, and "
        f"{_FORCE}. Nothing ends the game before its last step."
    ),
    "reacher": _Body(
        "Each step costs {_reward_dist_weight} x how far the fingertip is from the target in metres and "
        f"{_FORCE}. Nothing ends the game before its last step."
    ),
    "swimmer": _Body(_FORWARD),
    "walker2d": _Body(_UPRIGHT, (0.8, 2.0), (-1.0, 1.0)),
}
_PARTS = {
    "cinert": "mass and inertia of the bodies",
    "cvel": "their velocities",
    "qfrc_actuator": "the forces of the joints",
    "cfrc_ext": "forces from outside on the bodies",
}
"""Descriptions of a MuJoCo observation's numbers after positions and velocities, by the package's name."""


def about(name: str, env: Any) -> str:
    """Return sentences about a MuJoCo task's reward and end, with the numbers of ``env``.

    ``""`` if unknown.
    """
    body = _BODIES.get(name)
    if body is None:
        return ""
    ends: list[str] = []
    if getattr(env, "_terminate_when_unhealthy", True):
        for what, unit, usual in (("height", "m", body.height), ("angle", "rad", body.angle)):
            if usual is not None:
                low, high = getattr(env, f"_healthy_{'z' if what == 'height' else what}_range", usual)
                ends.append(f"the {what} of the torso is not {bounds_of(low, high)} {unit}")
    wanted = body.wanted.format_map(_Numbers(env, body.usual))
    return f"{wanted} The game ends as soon as {' or '.join(ends)}." if ends else wanted


def further(env: Any) -> str:
    """Return a sentence about a MuJoCo observation's unnamed numbers; ``""`` if ``env`` declares none."""
    sizes: Mapping[str, int] = getattr(env, "observation_structure", {})
    parts = [f"{said} ({sizes[part]})" for part, said in _PARTS.items() if sizes.get(part)]
    return f"The numbers without a name are, in this order: {', '.join(parts)}." if parts else ""


class _Numbers(dict[str, str]):
    """Mapping from names in a task's sentences to the numbers of an environment instance."""

    def __init__(self, env: Any, usual: Mapping[str, Any]) -> None:
        super().__init__()
        self._env, self._usual = env, usual

    def __missing__(self, name: str) -> str:
        match name:
            case "_costs":
                return self._costs()
            case "_last":  # since version 5
                later = hasattr(self._env, "_reset_noise_scale")
                return "; the step that ends it pays nothing" if later else ""
            case "_timestep":
                return number(self._env.model.opt.timestep)
            case _:
                return number(self._value(name, 1.0))

    def _value(self, name: str, otherwise: Any = None) -> Any:
        return getattr(self._env, name, self._usual.get(name, otherwise))

    def _costs(self) -> str:
        force = self._value("_ctrl_cost_weight", 0.0)
        parts = [f"{number(force)} x the squares of the forces"] if force else []
        for kind in ("contact", "impact"):
            touch = self._value(f"_{kind}_cost_weight", 0.0)
            if touch and getattr(self._env, "_use_contact_forces", True):
                parts.append(f"{number(touch)} x those of forces from outside{self._bounds(kind)}")
        return f" and costs {' and '.join(parts)}" if parts else ""

    def _bounds(self, kind: str) -> str:
        if each := self._value(f"_{kind}_force_range"):
            return f" (each held {bounds_of(*each)})"
        whole = self._value(f"_{kind}_cost_range")
        return f" ({bounds_of(*whole)} in all)" if whole else ""
