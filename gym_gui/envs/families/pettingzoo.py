"""Environments that PettingZoo registers itself."""

# PettingZoo brings no stubs.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.core.live import Board
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.envs import index
from gym_gui.envs.boards import openspiel_text
from gym_gui.envs.boards import pettingzoo as boards
from gym_gui.envs.boards.board_game_words import result_words
from gym_gui.envs.boards.pettingzoo import READERS
from gym_gui.envs.describers import Describer
from gym_gui.envs.documents import summaries
from gym_gui.envs.documents.markdown import title
from gym_gui.envs.environment_source import EnvironmentSource, called
from gym_gui.envs.families.gymnasium import WALKER
from gym_gui.envs.family import Family, Teams, one_team_per_agent, ranked, team_returns
from gym_gui.envs.index_child import pettingzoo_rows
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

_AREAS = ("classic", "butterfly", "sisl", "atari")
_TURNS = frozenset({"classic"})
"""Areas whose environments use AEC by default, even if they also have the Parallel interface."""
_RIVALS = frozenset({"classic", "atari"})
_COOPERATIVE = ("classic/hanabi", "atari/entombed_cooperative")
_DRAWN = ("butterfly/",)
"""Environments that always get a render mode, because their agents observe the screen.

Without one, the observations of pistonball and cooperative_pong are black.
"""
_OPEN = frozenset({"chess", "connect_four", "cooperative_pong", "go", "tictactoe"})
"""Games in which all players see the same board or screen."""
_OWN_EXTRA = frozenset({"atari", "sisl"})

_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "connect_four": tuple(f"column {i + 1}" for i in range(7)),
    "tictactoe": tuple(f"column {i // 3 + 1} row {i % 3 + 1}" for i in range(9)),
    "leduc_holdem": ("call", "raise", "fold", "check"),
    "texas_holdem": ("call", "raise", "fold", "check"),
    "texas_holdem_no_limit": ("fold", "check or call", "raise half the pot", "raise the pot", "all in"),
    "knights_archers_zombies": ("forward", "backward", "turn left", "turn right", "attack", "noop"),
    "pistonball": ("down", "noop", "up"),
    "cooperative_pong": ("noop", "up", "down"),
    "pursuit": ("left", "right", "down", "up", "noop"),
}
# The console's 18 actions, in the numbering of the Arcade Learning Environment.
FULL_ATARI = (
    *("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT"),
    *("UPFIRE", "RIGHTFIRE", "LEFTFIRE", "DOWNFIRE"),
    *("UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"),
)
_WORDS: Mapping[str, str] = {
    "connect_four": "four in a row",
    "tictactoe": "noughts and crosses",
    "go": "baduk weiqi stones",
    "texas_holdem": "poker cards",
    "texas_holdem_no_limit": "poker cards",
    "leduc_holdem": "poker cards",
    "hanabi": "cards fireworks cooperative",
    "gin_rummy": "cards",
    "rps": "rock paper scissors",
}
"""Additional words by which the environment search finds a game."""
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "atari": ("multi_agent_ale_py", "pygame"),
    "chess": ("chess", "pygame"),
    "hanabi": ("shimmy", "pyspiel"),
    "leduc_holdem": ("rlcard", "pygame"),
    "texas_holdem": ("rlcard", "pygame"),
    "texas_holdem_no_limit": ("rlcard", "pygame"),
    "pistonball": ("pygame", "pymunk"),
    "multiwalker": ("Box2D", "pygame"),
    "pursuit": ("pygame", "scipy"),
}
"""Import names of required packages, by game or else by area."""
_PACES: Mapping[str, Pace] = {
    "atari": Pace(realtime=True, rate=60),  # every frame of the console is a step
    "butterfly": Pace(realtime=True, rate=15),
    "sisl/multiwalker": Pace(realtime=True, rate=20),
    "classic": Pace(rate=2),
}


def underscored(env_id: str) -> str:
    """Return an id with an underscore before its version: ``chess_v6`` for ``chess-v6``."""
    base, dash, version = env_id.rpartition("-v")
    return f"{base}_v{version}" if dash and version.isdigit() else env_id


BOARDS = "gym_gui.envs.describers.boards:BoardDescriber"
CHESS = "gym_gui.envs.describers.chess_words:ChessDescriber"
POKER = "gym_gui.envs.describers.cards:PokerDescriber"
DESCRIBED_BY: Mapping[str, str] = {
    "cooperative_pong": "gym_gui.envs.describers.screens:PongDescriber",
    "hanabi": "gym_gui.envs.describers.hanabi_words:HanabiDescriber",
    "knights_archers_zombies": "gym_gui.envs.describers.zombies:ZombiesDescriber",
    "multiwalker": "gym_gui.envs.describers.pursuit:WalkerDescriber",
    "pistonball": "gym_gui.envs.describers.screens:PistonDescriber",
    "pursuit": "gym_gui.envs.describers.pursuit:PursuitDescriber",
    "rps": "gym_gui.envs.describers.cards:RockPaperScissorsDescriber",
}
"""Describer class by game, for games without a board."""


class PettingZooFamily(Family):
    """Family of PettingZoo's board and card games, Butterfly, SISL and multi-player Atari."""

    name: ClassVar[str] = "pettingzoo"
    title: ClassVar[str] = "PettingZoo"
    extra: ClassVar[str] = "pettingzoo"
    modules: ClassVar[tuple[str, ...]] = ("pettingzoo",)
    prefixes: ClassVar[tuple[str, ...]] = tuple(f"{area}/" for area in _AREAS)
    hints: ClassVar[Mapping[str, str]] = {
        **{area: f"{area}/" for area in _AREAS},
        **{f"pettingzoo_{area}": f"{area}/" for area in _AREAS},
    }

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        rows = index.registered("pettingzoo", "pettingzoo", pettingzoo_rows)
        return [self._spec(row["id"], row["points"]) for row in rows]

    def _spec(self, raw_id: str, points: Mapping[str, str]) -> EnvSpec:
        area = raw_id.partition("/")[0]
        apis = sorted(points, reverse=area not in _TURNS)  # "aec", "parallel"
        return self.spec(
            underscored(raw_id),
            points.get("aec") or points["parallel"],
            apis=tuple(apis),
            requirements=(f"pettingzoo[{area}]",) if area in _OWN_EXTRA else (),
            traits={"registered_as": raw_id},
        )

    def candidates(self, task: str) -> Iterable[str]:
        name = underscored(task.removeprefix("pettingzoo/").replace("pettingzoo.", "").replace(".", "/"))
        yield name
        if "/" not in name:
            yield from (f"{area}/{name}" for area in _AREAS)

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        import pettingzoo

        if render_mode is None and spec.id.startswith(_DRAWN):
            render_mode = "rgb_array"
        kwargs = dict(env_kwargs) if render_mode is None else {"render_mode": render_mode, **env_kwargs}
        make: Any = pettingzoo.make
        return make(spec.api, spec.traits["registered_as"], **kwargs)

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        kwargs: dict[str, Any] = dict(env_kwargs)
        if spec.id.startswith(_DRAWN):
            kwargs = {"render_mode": "rgb_array", **kwargs}
        call = called("pettingzoo.make", spec.api, spec.traits["registered_as"], **kwargs)
        return EnvironmentSource(("import pettingzoo",), call)

    def reusable(self, spec: EnvSpec) -> bool:
        """Return ``False`` for knights_archers_zombies, whose ``reset`` does not remove all zombies."""
        return "knights_archers_zombies" not in spec.id

    def hidden_information(self, spec: EnvSpec) -> bool:
        """Return ``False`` for games in which all players see the same board or screen."""
        return _game(spec) not in _OPEN and not spec.id.startswith("atari/")

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        return one_team_per_agent(adapter) if _rivals(spec) else super().teams(spec, adapter)

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return each player's outcome by its return, if players compete and the episode has ended.

        A game that a limit truncated has no winner and is no draw either.
        """
        if not _rivals(environment.spec) or not environment.adapter.is_episode_done():
            return None
        return ranked(team_returns(environment.teams, returns))

    def seat_names(self, environment: Instance) -> Mapping[str, str]:
        """Return the colors of players in board games; in other classic games, "Player 1", …."""
        spec = environment.spec
        if self.has_board(spec):
            return boards.seat_names(environment, _game(spec))
        agents = environment.adapter.possible_agents
        return {a: f"Player {i}" for i, a in enumerate(agents, 1)} if spec.id.startswith("classic/") else {}

    def result(self, environment: Instance, outcome: Mapping[str, Outcome]) -> str:
        if not self.has_board(environment.spec):
            return super().result(environment, outcome) + self._poker_end(environment, outcome)
        game = _game(environment.spec)
        how = boards.how_it_ended(environment, game)
        return result_words(boards.KINDS[game], self.seat_names(environment), outcome, how)

    def achieved(self, environment: Instance) -> str:
        if _game(environment.spec) != "hanabi" or not environment.adapter.is_episode_done():
            return ""
        return openspiel_text.fireworks(environment.env.hanabi_env.game_state)

    def _poker_end(self, environment: Instance, outcome: Mapping[str, Outcome]) -> str:
        """Return how a hand of poker ended, by folding or at the showdown; empty for other games."""
        moved: tuple[str, Any] | None = getattr(environment.adapter, "last_move", None)
        if not _game(environment.spec).startswith(("leduc", "texas")) or moved is None:
            return ""
        agent, action = moved
        words = self.action_meanings(environment, agent)
        folded = bool(words) and words[int(action)] == "fold"
        return f": {self.seat_names(environment)[agent]} folds" if folded else " at the showdown"

    def notates(self, spec: EnvSpec) -> bool:
        """Return ``True`` for board games, and for poker and Hanabi, in which all players learn each move."""
        return self.has_board(spec) or _game(spec).startswith(("leduc", "texas", "hanabi"))

    def notation(self, environment: Instance, played: Sequence[tuple[str, Any]], since: int) -> Sequence[str]:
        if self.has_board(environment.spec):
            actions = [int(action) for _, action in played]
            return boards.words_since(environment, _game(environment.spec), actions, since)
        if _game(environment.spec) == "hanabi":
            names = list(self.seat_names(environment).values())
            return openspiel_text.moves_since(environment.env.hanabi_env.game_state, names, since)
        return [self.action_meanings(environment, agent)[int(action)] for agent, action in played[since:]]

    def legal_words(self, environment: Instance) -> Mapping[int, str]:
        if _game(environment.spec) != "hanabi":
            return super().legal_words(environment)
        return openspiel_text.may_be_said(
            environment.env.hanabi_env.game_state, list(self.seat_names(environment).values())
        )

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        area = spec.id.partition("/")[0]
        return _NEEDS.get(_game(spec), _NEEDS.get(area, ("pygame",)))

    def title_of(self, spec: EnvSpec) -> str:
        return title(self.documentation(spec)) or _game(spec).replace("_", " ").capitalize()

    def summary(self, spec: EnvSpec) -> str:
        return summaries.PETTINGZOO.get(_game(spec), "")

    def search_words(self, spec: EnvSpec) -> str:
        return _WORDS.get(_game(spec), "")

    def game(self, spec: EnvSpec) -> str:
        if self.has_board(spec):
            return boards.KINDS[_game(spec)]
        return "hanabi" if _game(spec) == "hanabi" else ""

    def doc_url(self, spec: EnvSpec) -> str:
        return f"https://pettingzoo.farama.org/environments/{spec.id.partition('/')[0]}/{_game(spec)}/"

    def pace(self, spec: EnvSpec) -> Pace:
        return next((pace for head, pace in _PACES.items() if spec.id.startswith(head)), Pace())

    def components(self, spec: EnvSpec) -> tuple[str, ...]:
        return {"multiwalker": WALKER, "pistonball": ("piston",)}.get(_game(spec), ())

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        scheme = super().keys(environment, agent, player)
        if _game(environment.spec) == "tictactoe":  # tictactoe numbers its squares down the columns
            squares = {key: i % 3 * 3 + i // 3 for i, key in enumerate(LAYOUTS[player].square)}
            return replace(scheme, bindings=squares)
        return scheme

    def has_board(self, spec: EnvSpec) -> bool:
        return spec.id.startswith("classic/") and _game(spec) in READERS

    def board(self, environment: Instance) -> Board | None:
        return READERS[_game(environment.spec)](environment) if self.has_board(environment.spec) else None

    def describer(self, environment: Instance) -> Describer:
        game = _game(environment.spec)
        if self.has_board(environment.spec):
            kind = resolve_name(CHESS if game == "chess" else BOARDS)
            return kind(environment, "tic_tac_toe" if game == "tictactoe" else game)
        if game.startswith(("leduc", "texas")):
            return resolve_name(POKER)(environment, game)
        return resolve_name(DESCRIBED_BY.get(game, self.described_by))(environment)

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        spec = environment.spec
        words = FULL_ATARI if spec.id.startswith("atari/") else _MEANINGS.get(_game(spec), ())
        if _game(spec) == "rps":  # rock, paper, scissors can have more than three choices
            words = tuple(str(move).lower() for move in environment.env._moves[:-1])
        return words if getattr(environment.adapter.action_space(agent), "n", None) == len(words) else ()


def _rivals(spec: EnvSpec) -> bool:
    return spec.id.partition("/")[0] in _RIVALS and not spec.id.startswith(_COOPERATIVE)


def _game(spec: EnvSpec) -> str:
    """Return the name of the game: ``connect_four`` for ``classic/connect_four_v3``."""
    return spec.id.rpartition("/")[2].rpartition("_v")[0]
