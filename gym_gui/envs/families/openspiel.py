"""OpenSpiel's games through Shimmy."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.core.errors import UsageError
from gym_gui.core.live import Board
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.envs import index
from gym_gui.envs.boards import openspiel as boards
from gym_gui.envs.boards import openspiel_text
from gym_gui.envs.boards.board_game_words import result_words
from gym_gui.envs.boards.openspiel import READERS
from gym_gui.envs.describers import Describer
from gym_gui.envs.family import Family, Teams, one_team_per_agent, ranked, team_returns
from gym_gui.envs.index_child import openspiel_row
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

_HEAD = "open_spiel/"
# These games name their actions only in a position and not in general.
_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "kuhn_poker": ("pass", "bet"),
    "blackjack": ("hit", "stand"),
    "catch": ("left", "stay", "right"),
    "connect_four": tuple(f"column {i + 1}" for i in range(7)),
}


class OpenSpielFamily(Family):
    """Family of OpenSpiel's games; ``env_kwargs={"config": {…}}`` sets a game's parameters."""

    name: ClassVar[str] = "openspiel"
    title: ClassVar[str] = "OpenSpiel"
    extra: ClassVar[str] = "openspiel"
    modules: ClassVar[tuple[str, ...]] = ("pyspiel", "shimmy", "pettingzoo")
    prefixes: ClassVar[tuple[str, ...]] = (_HEAD,)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"open_spiel": "", "pettingzoo": "", "shimmy": ""}
    apis: ClassVar[tuple[str, ...]] = ("aec",)
    web_page: ClassVar[str] = "https://openspiel.readthedocs.io/en/latest/games.html"
    modes: ClassVar[tuple[str, ...] | None] = ("ansi",)
    usual_pace: ClassVar[Pace] = Pace(rate=2)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [self._listed(row) for row in index.entries("openspiel", "pyspiel")]

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        """Return a game by its id, which may contain parameters in OpenSpiel's syntax.

        An example is ``open_spiel/misere(game=nim())``.

        Raises:
            UsageError: OpenSpiel cannot make the game.
        """
        wanted = list(names)
        found = super().lookup(wanted)
        written = [name for name in wanted if name.startswith(_HEAD) and _MADE.fullmatch(name[len(_HEAD) :])]
        if found is not None or not written:
            return found
        self.require()
        return self._listed(_row(written[0].removeprefix(_HEAD)))

    def _listed(self, row: Mapping[str, Any]) -> EnvSpec:
        return self.spec(_HEAD + row["id"], "gym_gui.envs.families.openspiel_env:OpenSpielEnv", traits=row)

    def candidates(self, task: str) -> Iterable[str]:
        return (_HEAD + task.removeprefix(_HEAD).removeprefix("openspiel/"),)

    def arguments(self, spec: EnvSpec) -> Mapping[str, Mapping[str, Any]]:
        """Return no arguments: ids contain the parameters, as in ``open_spiel/hanabi(players=3)``."""
        return {}

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        return spec.load()(game_name=spec.id.removeprefix(_HEAD), render_mode=render_mode, **env_kwargs)

    def hidden_information(self, spec: EnvSpec) -> bool:
        """Return whether OpenSpiel states that something is hidden; simultaneous actions count as hidden."""
        return str(spec.traits["information"]) != "PERFECT_INFORMATION"

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        if spec.traits["utility"] == "IDENTICAL" or len(adapter.possible_agents) == 1:
            return super().teams(spec, adapter)
        return one_team_per_agent(adapter)

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return each player's outcome by returns; ``None`` for a game that a limit cuts off."""
        if not environment.adapter.is_episode_done():
            return None
        return ranked(team_returns(environment.teams, returns))

    def seat_names(self, environment: Instance) -> Mapping[str, str]:
        """Return the colors of players in board games; in other games, "Player 1", "Player 2", …."""
        game = environment.spec.id.removeprefix(_HEAD)
        if game in READERS:
            return boards.seat_names(environment, game)
        agents = environment.adapter.possible_agents
        return {a: f"Player {i}" for i, a in enumerate(agents, 1)} if len(agents) > 1 else {}

    def result(self, environment: Instance, outcome: Mapping[str, Outcome]) -> str:
        game = environment.spec.id.removeprefix(_HEAD)
        if game not in READERS:
            said = super().result(environment, outcome)
            names = list(self.seat_names(environment).values())
            return f"{said} {openspiel_text.stakes(boards.state_of(environment), game, names)}".strip()
        how = boards.how_it_ended(environment, game)
        return result_words(game, self.seat_names(environment), outcome, how)

    def achieved(self, environment: Instance) -> str:
        if _name(environment) != "hanabi" or not environment.adapter.is_episode_done():
            return ""
        return openspiel_text.fireworks(boards.state_of(environment))

    def notates(self, spec: EnvSpec) -> bool:
        """Return ``True`` for board games and for games in which all players learn each move."""
        return self.has_board(spec) or _is_open(spec)

    def notation(self, environment: Instance, played: Sequence[tuple[str, Any]], since: int) -> Sequence[str]:
        if not self.has_board(environment.spec):
            names = list(self.seat_names(environment).values())
            return openspiel_text.moves_since(boards.state_of(environment), names, since)
        return boards.words_since(environment, environment.spec.id.removeprefix(_HEAD), since)

    def legal_words(self, environment: Instance) -> Mapping[int, str]:
        if self.has_board(environment.spec):
            return super().legal_words(environment)
        return openspiel_text.may_be_said(
            boards.state_of(environment), list(self.seat_names(environment).values())
        )

    def title_of(self, spec: EnvSpec) -> str:
        return str(spec.traits["title"])

    def summary(self, spec: EnvSpec) -> str:
        return f"{spec.traits['title']}: {_kind(spec.traits)}."

    def game(self, spec: EnvSpec) -> str:
        name = spec.id.removeprefix(_HEAD)
        return name if name in READERS or name == "hanabi" else ""

    def documentation(self, spec: EnvSpec) -> str:
        """Return a table of the game's parameters; OpenSpiel's code does not document games."""
        parameters: Mapping[str, str] = spec.traits["parameters"]
        if not parameters:
            return ""
        rows = "\n".join(f"| `{name}` | {default} |" for name, default in parameters.items())
        example = next(iter(parameters))
        return (
            f"## Parameters\n\nSet with `env_kwargs`, for example "
            f'`{{"config": {{"{example}": …}}}}`.\n\n| Parameter | Default |\n| --- | --- |\n{rows}\n'
        )

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        spec = environment.spec
        words: tuple[str, ...] = _MEANINGS.get(spec.id.removeprefix(_HEAD)) or tuple(spec.traits["words"])
        return words if getattr(environment.adapter.action_space(agent), "n", None) == len(words) else ()

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        scheme = super().keys(environment, agent, player)
        if environment.spec.id == f"{_HEAD}tic_tac_toe":
            return replace(scheme, bindings={key: i for i, key in enumerate(LAYOUTS[player].square)})
        return scheme

    def describer(self, environment: Instance) -> Describer:
        from gym_gui.envs.describers.boards import BoardDescriber
        from gym_gui.envs.describers.openspiel import OpenSpielDescriber

        name = environment.spec.id.removeprefix(_HEAD)
        return BoardDescriber(environment, name) if name in READERS else OpenSpielDescriber(environment)

    def has_board(self, spec: EnvSpec) -> bool:
        return spec.id.removeprefix(_HEAD) in READERS

    def board(self, environment: Instance) -> Board | None:
        reader = READERS.get(environment.spec.id.removeprefix(_HEAD))
        return None if reader is None else reader(environment)


_MADE = re.compile(r"\w+\(.*\)")


def _row(name: str) -> dict[str, Any]:
    """Return the index entry of a game that is written with parameters.

    Raises:
        UsageError: OpenSpiel cannot make the game, or it needs a file or has no players.
    """
    spiel: Any = importlib.import_module("pyspiel")
    if "filename" in name:
        raise UsageError(f"OpenSpiel reads {name} from a file, and MOSAIC does not support such games")
    try:
        game = spiel.load_game(name)
    except spiel.SpielError as exc:
        raise UsageError(f"OpenSpiel cannot make {name}: {exc}") from None
    if game.get_type().dynamics == spiel.GameType.Dynamics.MEAN_FIELD:
        raise UsageError(f"{name} is a mean-field game, in which no single agent acts")
    return openspiel_row(name, game)


_CHANCE = {"DETERMINISTIC": "without chance", "EXPLICIT_STOCHASTIC": "with chance"}
_SEEN = {
    "PERFECT_INFORMATION": "everything is seen",
    "IMPERFECT_INFORMATION": "something is hidden",
    "ONE_SHOT": "all choose once",
}
_PAID = {
    "ZERO_SUM": "one wins what the other loses",
    "CONSTANT_SUM": "what is won is shared out",
    "IDENTICAL": "all win or lose together",
}


def _is_open(spec: EnvSpec) -> bool:
    """Return whether players move in turn and learn all moves."""
    if spec.id.removeprefix(_HEAD).partition("(")[0] in openspiel_text.HEARD:
        return True
    traits = spec.traits
    return (
        traits["dynamics"] == "SEQUENTIAL"
        and traits["information"] == "PERFECT_INFORMATION"
        and traits["players"][1] > 1
    )


def _name(environment: Instance) -> str:
    """Return the name of the game without its parameters."""
    return environment.spec.id.removeprefix(_HEAD).partition("(")[0]


def _kind(traits: Mapping[str, Any]) -> str:
    """Return a phrase for the kind of game, made from OpenSpiel's facts about it."""
    least, most = traits["players"]
    many = str(least) if least == most else f"{least} to {most}"
    parts = [
        f"a game for {many} player{'' if most == 1 else 's'}",
        "who move at once" if traits["dynamics"] == "SIMULTANEOUS" and most > 1 else "",
        _CHANCE.get(traits["chance"], "with chance"),
    ]
    rest = [_SEEN.get(traits["information"], ""), _PAID.get(traits["utility"], "") if most > 1 else ""]
    return "; ".join(part for part in (" ".join(filter(None, parts)), *rest) if part)
