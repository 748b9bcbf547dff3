"""Multi-agent particle environments (mpe2, the successor of ``pettingzoo.mpe``).

The package has no registry. Each environment is a module ``mpe2/<name>_v<n>.py``, so its ids come from the
file names.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.envs.describers.mpe2_actions import LETTERS, MOVES
from gym_gui.envs.documents import summaries
from gym_gui.envs.documents.markdown import title
from gym_gui.envs.environment_source import EnvironmentSource, called
from gym_gui.envs.families.pettingzoo import underscored
from gym_gui.envs.family import Family, Teams
from gym_gui.envs.index import package_dir
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import Pace
from gym_gui.envs.spec import EnvSpec, split_version

_MODULE = re.compile(r"^\w+_v\d+$")


class Mpe2Family(Family):
    """Family of particle worlds: agents that move and communicate on a plane."""

    name: ClassVar[str] = "mpe2"
    title: ClassVar[str] = "Multi-agent particles (MPE2)"
    extra: ClassVar[str] = "mpe2"
    modules: ClassVar[tuple[str, ...]] = ("mpe2",)
    prefixes: ClassVar[tuple[str, ...]] = ("mpe2/",)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"mpe": "", "pettingzoo": "", "pettingzoo_mpe": ""}
    apis: ClassVar[tuple[str, ...]] = ("parallel", "aec")
    described_by: ClassVar[str] = "gym_gui.envs.describers.particles:ParticleDescriber"
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=10)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        place = package_dir("mpe2")
        names = sorted(path.stem for path in place.glob("*_v*.py")) if place else []
        return [
            self.spec(f"mpe2/{name}", f"mpe2.{name}:parallel_env") for name in names if _MODULE.match(name)
        ]

    def candidates(self, task: str) -> Iterable[str]:
        name = underscored(task.replace(".", "/"))
        for prefix in ("pettingzoo/", "mpe2/", "mpe/"):
            name = name.removeprefix(prefix)
        yield f"mpe2/{name}"

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        module = importlib.import_module(spec.module)
        factory = module.parallel_env if spec.api == "parallel" else module.env
        return factory(render_mode=render_mode, **env_kwargs)

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        function = f"{spec.module}.{'parallel_env' if spec.api == 'parallel' else 'env'}"
        return EnvironmentSource((f"import {spec.module}",), called(function, **env_kwargs))

    def hidden_information(self, spec: EnvSpec) -> bool:
        """Return ``False`` for two worlds; in the others, the other agents' actions are hidden."""
        return _world(spec) not in ("simple", "collect_treasure")

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        """Return adversaries and other agents as two teams, by the attribute ``adversary`` of each agent."""
        against = [a.name for a in adapter.env.unwrapped.world.agents if getattr(a, "adversary", False)]
        if not against:
            return super().teams(spec, adapter)
        good = tuple(a for a in adapter.possible_agents if a not in against)
        return {"adversaries": tuple(a for a in adapter.possible_agents if a in against), "good": good}

    def title_of(self, spec: EnvSpec) -> str:
        return title(self.documentation(spec)) or super().title_of(spec)

    def summary(self, spec: EnvSpec) -> str:
        return summaries.MPE2.get(_world(spec), "")

    def doc_url(self, spec: EnvSpec) -> str:
        return f"https://mpe2.farama.org/environments/{_world(spec)}/"

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        """Return words for moves and messages; an agent that does both has one phrase per pair."""
        world = environment.env.world
        body = next(a for a in world.agents if a.name == agent)
        said = () if body.silent else tuple(f"say {letter}" for letter in LETTERS[: world.dim_c])
        words = MOVES if body.movable else said
        if body.movable and said:  # the package counts moves within letters
            words = tuple(f"{move}, {letter}" for letter in said for move in MOVES)
        return words if getattr(environment.adapter.action_space(agent), "n", 0) == len(words) else ()


def _world(spec: EnvSpec) -> str:
    """Return the name of the world: ``simple_tag`` for ``mpe2/simple_tag_v3``."""
    return split_version(spec.id.removeprefix("mpe2/"))[0]
