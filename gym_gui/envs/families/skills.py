"""Episodes that consist of one option, in which controllers are trained to execute options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gym_gui.envs.environment import Environment
from gym_gui.envs.families.derived import DerivedFamily
from gym_gui.envs.instance import Instance
from gym_gui.envs.spec import EnvSpec


class SkillFamily(DerivedFamily):
    """Family ``Skills/<task>``: each episode is one option in a single-agent task."""

    name: ClassVar[str] = "skills"
    title: ClassVar[str] = "Skills: one option of a manager"
    prefixes: ClassVar[tuple[str, ...]] = ("Skills/",)
    behind: ClassVar[str] = "gymnasium"
    hints: ClassVar[Mapping[str, str]] = {"gymnasium": "Skills/", "gym": "Skills/"}

    def title_of(self, spec: EnvSpec) -> str:
        return f"Skills of {super().title_of(spec)}"

    def summary(self, spec: EnvSpec) -> str:
        return "Carry out what a manager asks for, chosen at random among what can be asked"

    def shaped_rewards(self, spec: EnvSpec) -> bool:
        return True

    def derive(self, environment: Environment) -> Any:
        from gym_gui.envs.families.skills_env import SkillEnv

        return SkillEnv(environment.with_manager())

    def success(self, environment: Instance) -> bool | None:
        """Return whether the option reached its end; ``None`` while the option lasts."""
        return environment.env.reached
