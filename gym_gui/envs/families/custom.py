"""The user's own environments: registered in this process, or given as ``module:factory``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from gym_gui.core.enums import Outcome, SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms import ParadigmAdapter, adapt
from gym_gui.core.paradigms.select import APIS
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.types import Plan
from gym_gui.envs import mujoco_gl, mujoco_plans
from gym_gui.envs.describers import Describer
from gym_gui.envs.environment_source import EnvironmentSource, called
from gym_gui.envs.factories import Factory
from gym_gui.envs.families.gymnasium import success_in_info
from gym_gui.envs.family import Family, Teams, one_team_per_agent, ranked, team_returns
from gym_gui.envs.instance import Instance
from gym_gui.envs.simulator import Simulator, mujoco_in, simulator_in
from gym_gui.envs.spec import EnvSpec

_POINT = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")


class Registered:
    """Environments registered with :func:`gym_gui.envs.register` in this process."""

    def __init__(self) -> None:
        self._specs: dict[str, EnvSpec] = {}
        self._families: dict[str, Family] = {}

    def add(self, spec: EnvSpec, family: Family | None) -> None:
        """Register an environment, with a family of its own if it has one.

        Raises:
            UsageError: An environment with this id is registered already.
        """
        if spec.id in self._specs:
            raise UsageError(f"an environment {spec.id!r} is registered already")
        self._specs[spec.id] = spec
        if family is not None:
            self._families[spec.id] = family

    def remove(self, env_id: str) -> None:
        """Remove a registered environment; do nothing if the id is unknown."""
        self._specs.pop(env_id, None)
        self._families.pop(env_id, None)

    def family_of(self, env_id: str) -> Family | None:
        """Return the family registered together with ``env_id``, or ``None``."""
        return self._families.get(env_id)

    def all(self) -> list[EnvSpec]:
        """Return all registered environments, in the order of their registration."""
        return list(self._specs.values())


registered = Registered()


class CustomFamily(Family):
    """Family of the user's own environments, whose interface is known only once one is made."""

    name: ClassVar[str] = "custom"
    title: ClassVar[str] = "Own environments"
    apis: ClassVar[tuple[str, ...]] = APIS

    def specs(self) -> Sequence[EnvSpec]:
        return registered.all()

    def pattern_id(self, spec: EnvSpec) -> str:
        return ""  # its author may have chosen any name

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        """Return a registered environment, or an unchecked spec for a name ``module:factory``."""
        known = {spec.id: spec for spec in registered.all()}
        for name in names:
            if name in known:
                return known[name]
            if _POINT.match(name):
                package = name.partition(":")[0].partition(".")[0]
                return self.spec(name, name, package=package, traits={"api_unknown": True})
        return None

    def named_by(self, spec: EnvSpec, origin: Origin) -> EnvSpec:
        """Return the spec with its factory looked up from ``origin``, the file that names the environment.

        A registered environment is returned unchanged.

        Raises:
            UsageError: The module does not exist.
        """
        if callable(spec.entry_point) or spec.id != spec.entry_point:
            return spec
        factory = Factory(spec.entry_point, origin)
        factory.locate()
        return replace(spec, traits={**spec.traits, "factory": factory})

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        factory = spec.entry_point if callable(spec.entry_point) else self._factory(spec).load()
        kwargs = dict(env_kwargs)
        if render_mode is not None and _accepts(factory, "render_mode"):
            kwargs.setdefault("render_mode", render_mode)
        if len(spec.apis) > 1 and _accepts(factory, "api", by_name=True):
            kwargs.setdefault("api", spec.api)
        made = factory(**kwargs)
        inside = getattr(made, "unwrapped", made)
        return mujoco_gl.drawable(made) if render_mode is not None and mujoco_in(inside) else made

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        """Return the source of ``module:factory``.

        Its module may be in the folder of the file that names it.
        """
        if callable(spec.entry_point):
            return None
        module, _, path = spec.entry_point.partition(":")
        folder = self._factory(spec).origin.folder
        beside = ("import sys", f"sys.path.append({folder!r})") if folder else ()
        kwargs = dict(env_kwargs)
        if len(spec.apis) > 1 and _accepts(self._factory(spec).load(), "api", by_name=True):
            kwargs.setdefault("api", spec.api)
        return EnvironmentSource((*beside, f"import {module}"), called(f"{module}.{path}", **kwargs))

    def _factory(self, spec: EnvSpec) -> Factory:
        """Return the spec's factory; a spec without one was registered by the user's Python code."""
        return spec.traits.get("factory") or Factory(str(spec.entry_point), TYPED)

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        return adapt(env, None if spec.traits.get("api_unknown") else spec.api)

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        """Return one team per agent if agents can only act in turns, else the default teams."""
        metadata: Mapping[str, Any] = getattr(adapter.env, "metadata", None) or {}
        in_turns = adapter.paradigm is SteppingParadigm.SEQUENTIAL
        if len(adapter.possible_agents) > 1 and in_turns and not metadata.get("is_parallelizable"):
            return one_team_per_agent(adapter)
        return super().teams(spec, adapter)

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return each team's outcome by its return at the end of an episode; ``None`` before."""
        if not environment.adapter.is_episode_done():
            return None
        return ranked(team_returns(environment.teams, returns))

    def describer(self, environment: Instance) -> Describer:
        """Return a describer made from the class's documentation, if that has a table like Gymnasium's."""
        from gym_gui.envs.describers import vectors

        return vectors.documented(environment, self.documentation(environment.spec))

    def simulator(self, environment: Instance) -> Simulator | None:
        """Return MuJoCo's simulator if the environment has Gymnasium's MuJoCo class, else ``None``."""
        return simulator_in(environment.env)

    def draw_plans(self, environment: Instance, plans: Sequence[Plan]) -> None:
        """Draw plans as lines in MuJoCo's scene, if the environment uses MuJoCo."""
        if mujoco_in(environment.env):
            mujoco_plans.mark(environment.env, plans)

    def success(self, environment: Instance) -> bool | None:
        alone = environment.adapter.possible_agents == ("agent_0",)
        return success_in_info(environment) if alone else None


def _accepts(factory: Callable[..., Any], name: str, *, by_name: bool = False) -> bool:
    """Return whether ``factory`` accepts a keyword argument; with ``by_name``, ``**kwargs`` is not enough."""
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or (not by_name and any(p.kind is p.VAR_KEYWORD for p in parameters.values()))
