"""OpenSpiel games through Shimmy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.envs import index
from gym_gui.envs.boards.openspiel import READERS
from gym_gui.envs.family import Family, Teams, each_alone, ranked, team_returns
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.core.live import Board
    from gym_gui.envs.environment import Environment

_HEAD = "open_spiel/"


class OpenSpielFamily(Family):
    """Games that load without parameters; ``env_kwargs={"config": {…}}`` sets those."""

    name: ClassVar[str] = "openspiel"
    title: ClassVar[str] = "OpenSpiel"
    extra: ClassVar[str] = "openspiel"
    modules: ClassVar[tuple[str, ...]] = ("pyspiel", "shimmy", "pettingzoo")
    prefixes: ClassVar[tuple[str, ...]] = (_HEAD,)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"open_spiel": "", "pettingzoo": "", "shimmy": ""}

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            EnvSpec(
                id=_HEAD + row["id"],
                family=self.name,
                api="aec",
                apis=("aec",),
                package="pyspiel",
                extra=self.extra,
                entry_point="gym_gui.envs.families.openspiel_env:OpenSpielEnv",
                traits=row,
            )
            for row in index.entries("openspiel", "pyspiel")
        ]

    def candidates(self, task: str) -> Iterable[str]:
        return (_HEAD + task.removeprefix(_HEAD).removeprefix("openspiel/"),)

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gym_gui.envs.families.openspiel_env import OpenSpielEnv

        return OpenSpielEnv(game_name=spec.id.removeprefix(_HEAD), render_mode=render_mode, **env_kwargs)

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        if spec.traits["utility"] == "IDENTICAL" or len(adapter.possible_agents) == 1:
            return super().teams(spec, adapter)
        return each_alone(adapter)

    def outcome(self, environment: Environment, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """By returns, once the game is over: one that a limit cut off is no draw."""
        if not environment.adapter.is_episode_done():
            return None
        return ranked(team_returns(environment.teams, returns))

    def pace(self, spec: EnvSpec) -> Pace:
        return Pace(rate=2)

    def keys(self, environment: Environment, agent: str, player: int) -> KeyScheme:
        scheme = super().keys(environment, agent, player)
        if environment.spec.id == f"{_HEAD}tic_tac_toe":
            return replace(scheme, bindings={key: i for i, key in enumerate(LAYOUTS[player].square)})
        return scheme

    def has_board(self, spec: EnvSpec) -> bool:
        return spec.id.removeprefix(_HEAD) in READERS

    def board(self, environment: Environment) -> Board | None:
        reader = READERS.get(environment.spec.id.removeprefix(_HEAD))
        return None if reader is None else reader(environment)
