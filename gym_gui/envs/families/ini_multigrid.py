"""INI MultiGrid: MiniGrid's rooms for several agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from gym_gui.core.paradigms import ParadigmAdapter, SequentialAdapter, SimultaneousAdapter
from gym_gui.envs.documents import summaries
from gym_gui.envs.families.minigrid import IndexedFamily
from gym_gui.envs.family import enum_names
from gym_gui.envs.instance import Instance
from gym_gui.envs.spec import EnvSpec, split_version

_AGENTS = 2
"""Number of agents unless ``env_kwargs`` sets ``agents``; the package's own default is 1."""
_SOLVED: Mapping[str, Callable[[Any], bool]] = {
    "EmptyEnv": lambda game: bool(game.agent_states.terminated.all()),
    "BlockedUnlockPickupEnv": lambda game: any(each.state.carrying is game.obj for each in game.agents),
    "RedBlueDoorsEnv": lambda game: game.red_door.is_open and game.blue_door.is_open,
    "LockedHallwayEnv": lambda game: len(game.unlocked_doors) == len(game.rooms),
}
"""Functions that return whether a game is solved, by the name of the game's class."""


class IniMultiGridFamily(IndexedFamily):
    """Family of rooms with doors and keys, for agents ``agent_0``, ``agent_1``, … of one team."""

    name: ClassVar[str] = "ini_multigrid"
    title: ClassVar[str] = "INI MultiGrid"
    extra: ClassVar[str] = "ini-multigrid"
    modules: ClassVar[tuple[str, ...]] = ("multigrid",)
    registers: ClassVar[str] = "multigrid.envs"
    prefixes: ClassVar[tuple[str, ...]] = ("MultiGrid-",)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"multigrid": "", "gymnasium": "", "gym": "", "pettingzoo": ""}
    apis: ClassVar[tuple[str, ...]] = ("parallel", "aec")
    compiled: ClassVar[tuple[str, ...]] = ("multigrid.utils.obs:gen_obs_grid_encoding",)
    described_by: ClassVar[str] = "gym_gui.envs.describers.ini_multigrid:IniMultiGridDescriber"
    options_by: ClassVar[str] = "gym_gui.envs.options.grid:ini_multigrid_options"
    web_page: ClassVar[str] = "https://github.com/ini/multigrid"

    def arguments(self, spec: EnvSpec) -> Mapping[str, Mapping[str, Any]]:
        """Return the descriptions of arguments, with this family's default number of agents."""
        own = super().arguments(spec)
        agents = {"type": "integer", "minimum": 1, "default": _AGENTS, "description": "How many there are"}
        return {"agents": agents, **{name: about for name, about in own.items() if name != "agents"}}

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        kwargs = {"agents": _AGENTS, **env_kwargs}
        game = super().build(spec, render_mode=render_mode, env_kwargs=kwargs)
        from gym_gui.envs.families.ini_multigrid_env import IniMultiGridParallel
        from gym_gui.envs.families.multigrid_aec import as_aec

        env = IniMultiGridParallel(game)
        return env if spec.api == "parallel" else as_aec(env)

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        kind = SimultaneousAdapter if spec.api == "parallel" else SequentialAdapter
        return kind(env, rename="agent_{}".format)

    def success(self, environment: Instance) -> bool | None:
        """Return whether the room's task is solved; ``None`` for the playground, which has no task."""
        game = environment.env
        return next(
            (_SOLVED[cls.__name__](game) for cls in type(game).__mro__ if cls.__name__ in _SOLVED), None
        )

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        return enum_names(environment.env.actions)

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        """Return the action ``done``, which has no effect in any room."""
        return int(environment.env.actions.done)

    def title_of(self, spec: EnvSpec) -> str:
        return split_version(spec.id)[0].removeprefix("MultiGrid-").replace("-", " ")

    def summary(self, spec: EnvSpec) -> str:
        return summaries.INI_MULTIGRID.get(str(spec.entry_point).rpartition(":")[2], "")
