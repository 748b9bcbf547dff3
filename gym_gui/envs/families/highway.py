"""HighwayEnv: driving among other cars, with one or several controlled cars."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from gym_gui.core.paradigms import ParadigmAdapter, SimultaneousAdapter, adapt
from gym_gui.envs.families.gymnasium import success_in_info
from gym_gui.envs.families.minigrid import IndexedFamily
from gym_gui.envs.families.tuple_parallel import TupleParallel
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace, of_pushes
from gym_gui.envs.spec import EnvSpec, split_version

_SUMMARIES: Mapping[str, str] = {
    "highway": "Drive fast on a highway with several lanes, keep to the right, and hit no other car.",
    "exit": "Change to the rightmost lane through the traffic in time to take the exit.",
    "merge": "Drive on while others join from a ramp: keep your speed, and make room for them.",
    "roundabout": "Pass a roundabout on your route as fast as you can without hitting another car.",
    "intersection": "Pass a crossing without lights on your route, without hitting another car.",
    "parking": "Park in the marked place, turned the right way round.",
    "racetrack": "Stay on a winding track and avoid the other car, by steering alone.",
    "two_way": "Overtake on a road whose left lane belongs to those who come towards you.",
    "u_turn": "Take a U-turn through slower cars, as fast as you can.",
    "lane_keeping": "Keep to the middle of a winding lane, by steering alone, with noisy instruments.",
}
"""Summary of an environment by its module in the package."""
_PACES: Mapping[str, Pace] = {
    "parking": Pace(realtime=True, rate=5),
    "racetrack": Pace(realtime=True, rate=5),
    "lane_keeping": Pace(realtime=True, rate=10),
}
"""Speed of play by module, for tasks with continuous steering; other tasks wait for each action."""
_ROLES: Mapping[str, str] = {
    "lane left": "up",
    "lane right": "down",
    "faster": "right",
    "slower": "left",
    "idle": "wait",
}
"""Key role of each action, as in the package's own window, in which cars drive to the right."""
_STEERING = (("left", -1.0, "steer left"), ("right", 1.0, "steer right"))
_GAS = (("up", 0, 1.0, "gas"), ("down", 0, -1.0, "brake"))
_IDLE = 1
"""Action of cars that have crashed or arrived while others still drive."""
_AVERAGED = "intersection-multi-agent-v0"
"""Id of an environment that is left out, because its two agents share one averaged reward and one end."""


def _render_offscreen(game: Any) -> None:
    """Make the package render into memory; by default it opens a window."""
    game.config["offscreen_rendering"] = True
    game.viewer = importlib.import_module("highway_env.envs.common.graphics").EnvViewer(game)
    game.viewer.enabled = True


class HighwayFamily(IndexedFamily):
    """Family of driving tasks seen from above: highways, crossings, roundabouts, race tracks, car parks."""

    name: ClassVar[str] = "highway"
    title: ClassVar[str] = "HighwayEnv"
    extra: ClassVar[str] = "highway"
    modules: ClassVar[tuple[str, ...]] = ("highway_env",)
    prefixes: ClassVar[tuple[str, ...]] = tuple(f"{name.replace('_', '-')}-" for name in _SUMMARIES)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"highway_env": "", "highway-env": "", "gymnasium": "", "gym": ""}
    described_by: ClassVar[str] = "gym_gui.envs.describers.highway_words:HighwayDescriber"
    web_page: ClassVar[str] = "https://highway-env.farama.org/"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)

    def is_listed(self, env_id: str, entry_point: str) -> bool:
        return env_id != _AVERAGED

    def facts_of(self, env_id: str) -> Mapping[str, Any]:
        return {"apis": ("parallel",) if "multi-agent" in env_id else self.apis}

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        import gymnasium

        importlib.import_module("highway_env")
        with warnings.catch_warnings():
            # Its v0 and v1 are different roads, but Gymnasium warns that v0 is out of date.
            warnings.filterwarnings("ignore", message=".*is out of date")
            made: Any = gymnasium.make(spec.id, disable_env_checker=True, **env_kwargs)
        # Not as an argument: some of its classes do not accept it, although they can draw.
        made.unwrapped.render_mode = render_mode
        if render_mode is not None:
            _render_offscreen(made.unwrapped)
        return made if spec.api == "gymnasium" else TupleParallel(made, _IDLE)

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        return adapt(env) if spec.api == "gymnasium" else SimultaneousAdapter(env)

    def success(self, environment: Instance) -> bool | None:
        """Return whether all cars arrived undamaged at a crossing; elsewhere, success in ``info``."""
        game = environment.env
        if hasattr(game, "has_arrived"):
            return all(game.has_arrived(car) and not car.crashed for car in game.controlled_vehicles)
        return success_in_info(environment)

    def shaped_rewards(self, spec: EnvSpec) -> bool:
        """Return ``True`` for parking and lane keeping, whose rewards depend on a distance."""
        return _road(spec) in ("parking", "lane_keeping")

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        kind = environment.env.action_type
        words: Mapping[int, str] = getattr(getattr(kind, "agents_action_types", [kind])[0], "actions", {})
        return tuple(word.lower().replace("_", " ") for _, word in sorted(words.items()))

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        words = self.action_meanings(environment, agent)
        return words.index("idle") if "idle" in words else None

    def title_of(self, spec: EnvSpec) -> str:
        kind = str(spec.entry_point).rpartition(":")[2]
        name = split_version(spec.id)[0].replace("-", " ").replace("ActionRepeat", "action repeat")
        further = ", connected lanes" if kind.startswith("ConnectedLane") else ""
        further = ", continuous" if kind.startswith("Continuous") else further
        return f"{name[:1].upper()}{name[1:]}{further}"

    def summary(self, spec: EnvSpec) -> str:
        return _SUMMARIES.get(_road(spec), "")

    def pace(self, spec: EnvSpec) -> Pace:
        return _PACES.get(_road(spec), Pace())

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        words = self.action_meanings(environment, agent)
        if set(words) <= set(_ROLES) and words:
            bindings = {LAYOUTS[player].roles[_ROLES[word]]: i for i, word in enumerate(words)}
            return replace(super().keys(environment, agent, player), bindings=bindings)
        kind = environment.env.action_type
        if not getattr(kind, "lateral", False) or words:
            return super().keys(environment, agent, player)
        gas = _GAS if kind.longitudinal else ()
        steering = tuple((role, kind.size - 1, value, word) for role, value, word in _STEERING)
        return of_pushes((*gas, *steering), player, self.pace(environment.spec))


def _road(spec: EnvSpec) -> str:
    """Return the road's name from the module: ``two_way`` for ``highway_env.envs.two_way_env:TwoWayEnv``."""
    return spec.module.rpartition(".")[2].removesuffix("_env")
