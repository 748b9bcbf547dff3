"""Families of packages that register their environments with Gymnasium: MiniGrid, BabyAI, Atari."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.envs import index
from gym_gui.envs.documents import summaries
from gym_gui.envs.environment_source import EnvironmentSource, called
from gym_gui.envs.families.gymnasium import last_step
from gym_gui.envs.family import Family, enum_names
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import Pace
from gym_gui.envs.spec import EnvSpec, split_version

_WFC = "minigrid.envs.wfc.wfcenv:WFCEnv"
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


class IndexedFamily(Family):
    """Family of a package that registers its environments with Gymnasium at its import.

    The environments are listed from a stored index, without importing the package.

    Attributes:
        registers: Module that registers the environments; empty if the package itself does.
    """

    registers: ClassVar[str] = ""

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(
                row["id"],
                row["entry_point"],
                max_episode_steps=row["max_episode_steps"],
                **_made_with(row["kwargs"], self.facts_of(row["id"])),
            )
            for row in index.entries("gymnasium", self.registers or self.modules[0])
            if self.is_listed(row["id"], row["entry_point"])
        ]

    def is_listed(self, env_id: str, entry_point: str) -> bool:
        """Return whether a registered id belongs to the family."""
        return True

    def facts_of(self, env_id: str) -> Mapping[str, Any]:
        """Return additional fields for the :class:`EnvSpec` of an id."""
        return {}

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        import gymnasium

        importlib.import_module(self.registers or self.modules[0])
        return gymnasium.make(spec.id, render_mode=render_mode, disable_env_checker=True, **env_kwargs)

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        """Return the source of a single-agent environment.

        ``None`` for several agents, which get other names.
        """
        if spec.api != "gymnasium":
            return None
        imports = ("import gymnasium", f"import {self.registers or self.modules[0]}")
        return EnvironmentSource(
            imports, called("gymnasium.make", spec.id, disable_env_checker=True, **env_kwargs)
        )


def _made_with(given: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a spec, with the arguments that the package registered in ``traits["kwargs"]``."""
    return {**facts, "traits": {**facts.get("traits", {}), "kwargs": given}}


class MiniGridFamily(IndexedFamily):
    """Family of MiniGrid's and BabyAI's environments."""

    name: ClassVar[str] = "minigrid"
    title: ClassVar[str] = "MiniGrid and BabyAI"
    extra: ClassVar[str] = "minigrid"
    modules: ClassVar[tuple[str, ...]] = ("minigrid",)
    prefixes: ClassVar[tuple[str, ...]] = ("MiniGrid-", "BabyAI-")
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"babyai": "BabyAI-", "gymnasium": "", "gym": ""}
    described_by: ClassVar[str] = "gym_gui.envs.describers.minigrid:MiniGridDescriber"
    options_by: ClassVar[str] = "gym_gui.envs.options.grid:minigrid_options"

    def success(self, environment: Instance) -> bool | None:
        """Return whether the last step ended the episode with a reward, which only a solved task pays."""
        reward, terminated = last_step(environment)
        return terminated and reward > 0

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        return enum_names(environment.env.actions)

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        """Return the action ``done``, or ``None`` if the task's own ``step`` reacts to it."""
        from gym_gui.envs.describers import minigrid_rules

        game = environment.env
        return None if minigrid_rules.names(game, "step", "done") else int(game.actions.done)

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        return ("networkx",) if _generated(spec) else ()

    def documented_at(self, spec: EnvSpec) -> str | Callable[..., Any]:
        return _WFC if _generated(spec) else spec.entry_point

    def title_of(self, spec: EnvSpec) -> str:
        return split_version(spec.id)[0].replace("MiniGrid-", "").replace("-", " ")

    def summary(self, spec: EnvSpec) -> str:
        return summaries.MINIGRID.get(_class(spec), "")

    def doc_url(self, spec: EnvSpec) -> str:
        area = "babyai" if spec.id.startswith("BabyAI-") else "minigrid"
        return f"https://minigrid.farama.org/environments/{area}/{_class(spec)}/"


class AtariFamily(IndexedFamily):
    """Family of Atari 2600 games in the Arcade Learning Environment."""

    name: ClassVar[str] = "atari"
    title: ClassVar[str] = "Atari (ALE)"
    extra: ClassVar[str] = "atari"
    modules: ClassVar[tuple[str, ...]] = ("ale_py",)
    prefixes: ClassVar[tuple[str, ...]] = ("ALE/",)
    hints: ClassVar[Mapping[str, str]] = {"ale": "", "gymnasium": "", "gym": ""}
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=15)
    documented: ClassVar[bool] = False
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)

    def arguments(self, spec: EnvSpec) -> Mapping[str, Mapping[str, Any]]:
        """Return the descriptions of arguments except ``game``, which the id fixes."""
        return {name: about for name, about in super().arguments(spec).items() if name != "game"}

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        return tuple(environment.env.get_action_meanings())

    def title_of(self, spec: EnvSpec) -> str:
        return _WORDS.sub(" ", split_version(spec.id.removeprefix("ALE/"))[0])

    def doc_url(self, spec: EnvSpec) -> str:
        name = _WORDS.sub("_", split_version(spec.id.removeprefix("ALE/"))[0]).lower()
        return f"https://ale.farama.org/environments/{name}/"

    def summary(self, spec: EnvSpec) -> str:
        """Return a general sentence, because the package does not describe its games."""
        return f"{self.title_of(spec)} for the Atari 2600, played for its score."


def _generated(spec: EnvSpec) -> bool:
    """Return whether the environment generates its map at runtime, by wave function collapse."""
    return str(spec.entry_point).startswith("minigrid.envs.wfc:")


def _class(spec: EnvSpec) -> str:
    """Return the name of the environment's class."""
    return (_WFC if _generated(spec) else str(spec.entry_point)).rpartition(":")[2]
