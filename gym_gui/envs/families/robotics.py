"""Gymnasium-Robotics: arms, hands, mazes and a kitchen in MuJoCo, most with a goal in the observation."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

from gym_gui.envs import mujoco_gl
from gym_gui.envs.describers import Describer
from gym_gui.envs.environment_source import EnvironmentSource
from gym_gui.envs.families.gymnasium import last_step, success_in_info
from gym_gui.envs.families.minigrid import IndexedFamily
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import Pace
from gym_gui.envs.spec import EnvSpec, split_version

_LEFT_OUT = ("MujocoPy", "envs.mujoco.", "ant_maze_v3")
"""Substrings of entry points that are left out, because they need mujoco-py, which is unmaintained."""
_SUMMARIES: Mapping[str, str] = {
    "fetch.reach": "Bring the gripper of an arm to a place.",
    "fetch.push": "Push a box to a place on the table with a closed gripper.",
    "fetch.slide": "Hit a puck so that it slides to a place out of reach.",
    "fetch.pick_and_place": "Take up a box and bring it to a place, which may be in the air.",
    "shadow_dexterous_hand.reach": "Bring the fingertips of a hand to their places.",
    "shadow_dexterous_hand.manipulate_block": "Turn a block in a hand until it lies as it should.",
    "shadow_dexterous_hand.manipulate_egg": "Turn an egg in a hand until it lies as it should.",
    "shadow_dexterous_hand.manipulate_pen": "Turn a pen in a hand until it lies as it should.",
    "maze.point_maze": "Push a ball through a maze to its goal.",
    "maze.ant_maze": "Walk through a maze to the goal on four legs.",
    "adroit_hand.adroit_door": "Undo the latch of a door with a hand and swing it open.",
    "adroit_hand.adroit_hammer": "Take a hammer with a hand and drive a nail in.",
    "adroit_hand.adroit_pen": "Turn a pen in a hand until it points as it should.",
    "adroit_hand.adroit_relocate": "Take a ball with a hand and bring it to a place.",
    "franka_kitchen": "Do what is asked for in a kitchen with an arm: open, switch on, move.",
}
"""Summary by the first part of a module's name."""
_PARTS: Mapping[str, tuple[str, ...]] = {
    "fetch": ("x", "y", "z", "gripper"),
    "maze.point_maze": ("x", "y"),
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class RoboticsFamily(IndexedFamily):
    """Family of Gymnasium-Robotics: Fetch, the shadow hand, Adroit, mazes and the Franka kitchen."""

    name: ClassVar[str] = "robotics"
    title: ClassVar[str] = "Gymnasium-Robotics"
    extra: ClassVar[str] = "gymnasium-robotics"
    modules: ClassVar[tuple[str, ...]] = ("gymnasium_robotics",)
    prefixes: ClassVar[tuple[str, ...]] = (
        *("Fetch", "HandReach", "HandManipulate", "AntMaze_", "PointMaze_", "AdroitHand", "FrankaKitchen"),
    )
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"gymnasium_robotics": "", "gymnasium": "", "gym": ""}
    web_page: ClassVar[str] = "https://robotics.farama.org/"
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=20)

    def is_listed(self, env_id: str, entry_point: str) -> bool:
        return not any(part in entry_point for part in _LEFT_OUT)

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        """Make the environment, after choosing a rendering library that works without a display too."""
        if render_mode is not None:
            mujoco_gl.choose()
        with contextlib.redirect_stderr(io.StringIO()):  # each import prints news about other versions
            importlib.import_module("gymnasium_robotics")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*is out of date")
            made = super().build(spec, render_mode=render_mode, env_kwargs=env_kwargs)
        from gym_gui.envs.families.robotics_env import StatePreservingRender

        return StatePreservingRender(made)

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        """Return ``None``: rendering with the package alone changes episodes."""
        return None

    def success(self, environment: Instance) -> bool | None:
        """Return success as ``info`` states it; in the kitchen, whether all tasks ended the episode."""
        if _area(environment.spec) == "franka_kitchen":
            return last_step(environment)[1]
        return success_in_info(environment)

    def shaped_rewards(self, spec: EnvSpec) -> bool:
        return "Dense" in spec.id or (spec.id.startswith("Adroit") and "Sparse" not in spec.id)

    def title_of(self, spec: EnvSpec) -> str:
        return _CAMEL.sub(" ", split_version(spec.id)[0].replace("_", " "))

    def summary(self, spec: EnvSpec) -> str:
        area = _area(spec)
        return next((said for head, said in _SUMMARIES.items() if area.startswith(head)), "")

    def components(self, spec: EnvSpec) -> tuple[str, ...]:
        area = _area(spec)
        known = next((parts for head, parts in _PARTS.items() if area.startswith(head)), ())
        return known or tuple(f"joint {i}" for i in range(1, 7))

    def describer(self, environment: Instance) -> Describer:
        from gym_gui.envs.describers import goals, vectors

        text = self.documentation(environment.spec)
        if hasattr(environment.adapter.observation_space("agent_0"), "spaces"):
            return goals.GoalDescriber(environment, text, self.components(environment.spec))
        return vectors.documented(environment, text)


def _area(spec: EnvSpec) -> str:
    """Return the environment's module within the package, such as ``fetch.reach``."""
    return spec.module.removeprefix("gymnasium_robotics.envs.")
