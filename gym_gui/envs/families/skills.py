"""One option of a manager as an episode: where controllers learn their skills."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.core.errors import UsageError
from gym_gui.envs.family import Family
from gym_gui.envs.keymaps import KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.instance import Instance

PREFIX = "Skills/"


class SkillFamily(Family):
    """``Skills/<task>``: the options of a task for one agent, one after the other.

    They are found by name and not listed: each task of a family with options has its own.

    Args:
        managed: Families whose tasks have options.
    """

    name: ClassVar[str] = "skills"
    title: ClassVar[str] = "Skills: one option of a manager"
    prefixes: ClassVar[tuple[str, ...]] = (PREFIX,)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"gymnasium": PREFIX, "gym": PREFIX}

    def __init__(self, managed: Sequence[Family]) -> None:
        self._managed = tuple(managed)

    def specs(self) -> Sequence[EnvSpec]:
        return ()

    def ids(self) -> list[str]:
        """Of all tasks that have skills, whose package is installed."""
        specs = [spec for family in self._managed if family.installed for spec in family.specs()]
        return [f"{PREFIX}{spec.id}" for spec in specs if spec.api == "gymnasium"]

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        for name in names:
            task = name.removeprefix(PREFIX)
            found = None if task == name else self._task(task)
            if found is not None:
                return replace(
                    found,
                    id=f"{PREFIX}{found.id}",
                    family=self.name,
                    traits={"task": found.id, **found.traits},
                )
        return None

    def _task(self, task: str) -> EnvSpec | None:
        for family in self._managed:
            if family.owns([task]):
                found = family.lookup(family.candidates(task))
                return found if found is not None and found.api == "gymnasium" else None
        return None

    def _behind(self, spec: EnvSpec) -> tuple[Family, EnvSpec]:
        task = str(spec.traits["task"])
        family = next(each for each in self._managed if each.owns([task]))
        return family, replace(spec, id=task, family=family.name)

    def title_of(self, spec: EnvSpec) -> str:
        family, task = self._behind(spec)
        return f"Skills of {family.title_of(task)}"

    def summary(self, spec: EnvSpec) -> str:
        return "Carry out what a manager asks for, chosen at random among what can be asked"

    def doc_url(self, spec: EnvSpec) -> str:
        family, task = self._behind(spec)
        return family.doc_url(task)

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        family, task = self._behind(spec)
        return (*family.modules, *family.needs(task))

    def pace(self, spec: EnvSpec) -> Pace:
        family, task = self._behind(spec)
        return family.pace(task)

    def shaped_rewards(self, spec: EnvSpec) -> bool:
        return True

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gym_gui.envs.environment import Environment
        from gym_gui.envs.families.skills_env import SkillEnv

        family, task = self._behind(spec)
        env = family.build(task, render_mode=render_mode, env_kwargs=env_kwargs)
        environment = Environment(task, family.adapter(task, env), family)
        try:
            return SkillEnv(environment.with_manager())
        except UsageError:
            environment.close()
            raise

    def success(self, environment: Instance) -> bool | None:
        """Whether the option reached its end."""
        return environment.env.reached

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        inner = environment.env.environment
        return inner.family.action_meanings(inner, agent)

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        inner = environment.env.environment
        return inner.family.keys(inner, agent, player)
