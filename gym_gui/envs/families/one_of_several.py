"""Environments for one agent of several, in which policies for a slot are trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gym_gui.envs.environment import Environment
from gym_gui.envs.families.derived import DerivedFamily
from gym_gui.envs.instance import Instance
from gym_gui.envs.spec import EnvSpec


class SingleAgentFamily(DerivedFamily):
    """Family ``SingleAgent/<task>``: the first agent of a task is trained; the other agents do nothing."""

    name: ClassVar[str] = "single_agent"
    title: ClassVar[str] = "One agent of several"
    prefixes: ClassVar[tuple[str, ...]] = ("SingleAgent/",)
    behind: ClassVar[str] = "parallel"
    hints: ClassVar[Mapping[str, str]] = {"gymnasium": "SingleAgent/", "gym": "SingleAgent/"}

    def title_of(self, spec: EnvSpec) -> str:
        return f"One agent of {super().title_of(spec)}"

    def summary(self, spec: EnvSpec) -> str:
        family, task = self._task_of(spec)
        return family.summary(task)

    def shaped_rewards(self, spec: EnvSpec) -> bool:
        family, task = self._task_of(spec)
        return family.shaped_rewards(task)

    def derive(self, environment: Environment) -> Any:
        from gym_gui.envs.families.one_of_several_env import SingleAgentEnv

        return SingleAgentEnv(environment)

    def success(self, environment: Instance) -> bool | None:
        """Return whether the task's own environment counts as solved; ``None`` without a report."""
        return environment.env.environment.success()
