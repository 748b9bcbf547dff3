"""Families that make training environments from other families' tasks, under ids with a prefix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from gym_gui.core.errors import UsageError
from gym_gui.envs.environment import Environment
from gym_gui.envs.family import Family
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec


class DerivedFamily(Family):
    """Family ``<prefix><task>``: single-agent environments made from other families' tasks.

    Its environments are found by id and are not listed. A derived environment has the attributes
    ``environment``, the task's environment, and ``agent``, the agent that is trained.

    Args:
        families: Families of the tasks.

    Attributes:
        behind: Interface with which the task's environment is made.
    """

    behind: ClassVar[str]
    closed: ClassVar[bool] = True

    def __init__(self, families: Sequence[Family]) -> None:
        self._families = tuple(families)

    @property
    def prefix(self) -> str:
        """Prefix of ids, before the name of a task."""
        return self.prefixes[0]

    def specs(self) -> Sequence[EnvSpec]:
        return ()

    def ids(self) -> list[str]:
        """Return the ids for all tasks whose packages are installed."""
        specs = [spec for family in self._families if family.installed for spec in family.specs()]
        return [f"{self.prefix}{spec.id}" for spec in specs if self.behind in spec.apis]

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        for name in names:
            task = name.removeprefix(self.prefix)
            found = None if task == name else self._task(task)
            if found is not None:
                return replace(
                    found,
                    id=f"{self.prefix}{found.id}",
                    family=self.name,
                    api=self.apis[0],
                    apis=self.apis,
                    traits={"behind": replace(found, api=self.behind)},
                )
        return None

    def _task(self, task: str) -> EnvSpec | None:
        for family in self._families:
            if family.owns([task]):
                found = family.lookup(family.candidates(task))
                return found if found is not None and self.behind in found.apis else None
        return None

    def _task_of(self, spec: EnvSpec) -> tuple[Family, EnvSpec]:
        task: EnvSpec = spec.traits["behind"]
        return next(family for family in self._families if family.name == task.family), task

    def title_of(self, spec: EnvSpec) -> str:
        family, task = self._task_of(spec)
        return family.title_of(task)

    def doc_url(self, spec: EnvSpec) -> str:
        family, task = self._task_of(spec)
        return family.doc_url(task)

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        family, task = self._task_of(spec)
        return (*family.modules, *family.needs(task))

    def pace(self, spec: EnvSpec) -> Pace:
        family, task = self._task_of(spec)
        return family.pace(task)

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        family, task = self._task_of(spec)
        env = family.build(task, render_mode=render_mode, env_kwargs=env_kwargs)
        environment = Environment(task, family.adapter(task, env), family)
        try:
            return self.derive(environment)
        except UsageError:
            environment.close()
            raise

    def derive(self, environment: Environment) -> Any:
        """Return the training environment made from a task's environment.

        Raises:
            UsageError: The task is not suitable.
        """
        raise NotImplementedError

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        inner = environment.env.environment
        return inner.family.action_meanings(inner, environment.env.agent)

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        inner = environment.env.environment
        return inner.family.keys(inner, environment.env.agent, player)
