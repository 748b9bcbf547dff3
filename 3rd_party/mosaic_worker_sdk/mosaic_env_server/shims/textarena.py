"""Games of TextArena: observations are the game's messages to a player, actions are texts.

https://github.com/LeonGuertler/TextArena uses Python's and NumPy's global random generators; this module
gives each episode its own state of them. Observations and moves pass through the wrappers with which a game
is registered.
"""

# TextArena is untyped.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import sys
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from mosaic_env_server.shims.global_random import GlobalRandom
from mosaic_env_server.shims.turns import AECGame
from mosaic_worker.spaces import Space

_PLANES = (
    *((0x20, 0x7E), (0xA0, 0xFF), (0x2010, 0x2027), (0x2190, 0x22FF), (0x2460, 0x27BF), (0x2B00, 0x2BFF)),
    *((0x1F0A0, 0x1F0FF), (0x1F300, 0x1F6FF), (0x1F7E0, 0x1F7EB), (0x1F900, 0x1FAFF), (0xFE0F, 0xFE0F)),
)
LETTERS = "\n" + "".join(chr(code) for first, last in _PLANES for code in range(first, last + 1))
"""Characters of texts: Latin letters, and symbols, cards and faces that games draw."""
LONGEST, LONGEST_MOVE = 1 << 17, 4000
_KNOWN = frozenset(LETTERS)
_WORDS = ("words", "averaged_perceptron_tagger_eng")


def make(
    game: str,
    seats: int,
    teams: Sequence[Sequence[str]] = (),
    render_mode: Optional[str] = None,
    **options: Any,
) -> Union[TextArenaEnv, TextArenaAECEnv]:
    """Create a game of TextArena.

    Args:
        game: Name of the game in TextArena, for example ``KuhnPoker-v0``.
        seats: Number of players.
        teams: Players of each team; empty if each player plays alone.
        render_mode: ``ansi``, or ``None`` for no rendering.
        options: Arguments of the game's class.

    Raises:
        LookupError: The game needs word lists of NLTK that are not installed.
    """
    game_of = _Game(game, seats, options, render_mode)
    return TextArenaEnv(game_of, render_mode) if seats == 1 else TextArenaAECEnv(game_of, teams, render_mode)


class _Game:
    """A game of TextArena with its own random numbers."""

    def __init__(self, game: str, seats: int, options: Mapping[str, Any], render_mode: Optional[str]) -> None:
        self._name, self._options = game, dict(options)
        self.seats = seats
        self._random = GlobalRandom(0)
        self._env: Any = None
        self.said = ""
        """The last move with its player, for spectators."""
        self.told: List[str] = [""] * seats
        # Created here, so that missing data and invalid options are reported before the first episode.
        self.begin(0)

    def begin(self, seed: Optional[int]) -> None:
        """Begin an episode."""
        import textarena

        self._random = GlobalRandom(seed)
        with self._playing():
            try:
                self._env = textarena.make(self._name, **self._options)
                self._env.reset(num_players=self.seats, seed=seed)
            except LookupError as exc:
                if "nltk" in str(exc).lower():
                    raise LookupError(_missing(self._name)) from None
                raise
            except AssertionError as exc:
                raise ValueError(f"{self._name} for {self.seats} players: {exc}") from exc
            self.told = [""] * self.seats
            self._look()

    @property
    def mover(self) -> int:
        """Number of the player who moves."""
        return int(self._env.state.current_player_id)

    def move(self, text: str) -> Tuple[bool, List[float], List[Dict[str, Any]]]:
        """Make a move of the player whose turn it is.

        Returns:
            Whether the game is over, and then the reward and the info of each player.
        """
        with self._playing():
            self.said = f"player_{self.mover}: {text}"
            over, _ = self._env.step(action=text)
            if not over:
                self._look()
                return False, [0.0] * self.seats, []
            paid, facts = self._env.close()
            for player in range(self.seats):
                self.told[player] = self._last_words(player)
        rows = [_plain((facts or {}).get(player) or {}) for player in range(self.seats)]
        return True, [_earned((paid or {}).get(player), rows[player]) for player in range(self.seats)], rows

    def _look(self) -> None:
        """Store the observation of the player whose turn it is."""
        player, seen = self._env.get_observation()
        self.told[int(player)] = readable(seen)

    def _last_words(self, player: int) -> str:
        """Return a player's observation since its last move; after its end, a game no longer provides
        observations.
        """
        state, say = self._env.state, getattr(self._env, "observation", None)
        new, state.observations[player] = state.observations.get(player, []), []
        return readable(say(player, new)) if new and say is not None else self.told[player]

    @contextlib.contextmanager
    def _playing(self) -> Any:
        # Games print to stdout, which is redirected to stderr.
        with self._random.in_force(), contextlib.redirect_stdout(sys.stderr):
            yield


class _TextGame:
    """Base class of the two interfaces: spaces, texts and rendering."""

    def __init__(self, game: _Game, render_mode: Optional[str]) -> None:
        self.render_mode = render_mode
        self._game = game
        self._sees = Space("Text", charset=LETTERS, min_length=0, max_length=LONGEST)
        self._does = Space("Text", charset=LETTERS, min_length=0, max_length=LONGEST_MOVE)
        self.metadata: Mapping[str, Any] = {"render_modes": ["ansi"]}

    def mosaic_text(self, agent: str) -> str:
        """Return a player's last observation."""
        return self._game.told[_number(agent)]

    def mosaic_briefing(self, agent: str) -> str:
        """Return a briefing on how to play; the game itself sends its rules."""
        return (
            f"You are Player {_number(agent)} of a text game. It tells you its rules, what has happened and "
            "how to write your move. A move that it does not take may be tried once more as a rule; another "
            "one loses."
        )

    def render(self) -> str:
        """Return the last move."""
        return self._game.said

    def close(self) -> None:
        """Do nothing; the environment holds no resources."""


class TextArenaEnv(_TextGame):
    """A game for one player with Gymnasium's interface; a return of 1 is success."""

    def __init__(self, game: _Game, render_mode: Optional[str]) -> None:
        super().__init__(game, render_mode)
        self.observation_space, self.action_space = self._sees, self._does
        self._earned = 0.0

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[str, Dict[str, Any]]:
        """Begin an episode."""
        self._earned = 0.0
        self._game.begin(seed)
        return self._game.told[0], {}

    def step(self, action: str) -> Tuple[str, float, bool, bool, Dict[str, Any]]:
        """Make one move."""
        over, rewards, infos = self._game.move(action)
        self._earned = rewards[0]
        return self._game.told[0], rewards[0], over, False, infos[0] if infos else {}

    def mosaic_success(self) -> bool:
        """Return whether the full reward was reached."""
        return self._earned >= 1.0


class TextArenaAECEnv(AECGame, _TextGame):
    """A game for several players with PettingZoo's AEC interface; rewards are given at the end of the
    game.
    """

    def __init__(self, game: _Game, teams: Sequence[Sequence[str]], render_mode: Optional[str]) -> None:
        AECGame.__init__(self, [f"player_{i}" for i in range(game.seats)])
        _TextGame.__init__(self, game, render_mode)
        if teams:
            named = {f"team_{i}": list(players) for i, players in enumerate(teams)}
            self.metadata = {**self.metadata, "teams": named}

    def observation_space(self, agent: str) -> Space:
        """Return the observation space, which is the same for all agents."""
        return self._sees

    def action_space(self, agent: str) -> Space:
        """Return the action space, which is the same for all agents."""
        return self._does

    def reset(self, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None) -> None:
        """Begin an episode."""
        self._game.begin(seed)
        self.begun(self._game.mover)

    def play(self, action: str) -> None:
        """Make a move of the selected player; after a refused move, the same player stays selected."""
        over, rewards, infos = self._game.move(action)
        self.moved(rewards, self._game.mover, over)
        if over:
            self.infos = dict(zip(self.possible_agents, infos))

    def observe(self, agent: str) -> str:
        """Return a player's last observation: from its last turn, or from the end of the game."""
        return self._game.told[self.possible_agents.index(agent)]


def readable(seen: Any) -> str:
    """Convert a game's text to the characters of the space; shorten a long text to its beginning and end."""
    text = str(seen).replace("\t", "    ").strip("\n")
    text = "".join(each if each in _KNOWN else "?" for each in text)
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2 - 8
    return f"{text[:half]}\n[...]\n{text[-half:]}"


def _number(agent: str) -> int:
    return int(agent.rpartition("_")[2]) if agent else 0


def _plain(facts: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the facts on a game's end without those that reveal the players' roles."""
    return {name: facts[name] for name in ("reason", "invalid_move", "turn_count") if name in facts}


def _earned(reward: Any, facts: Dict[str, Any]) -> float:
    """Return the final reward as a number; some games exchange the reward of an invalid move and its
    reason.
    """
    if not isinstance(reward, str):
        return float(reward or 0.0)
    number, facts["reason"] = str(facts.get("reason", "")).rpartition(" ")[2], reward
    try:
        return float(number)
    except ValueError:
        return 0.0


def _missing(game: str) -> str:
    return (
        f"{game} needs word lists of NLTK, which are not installed. On a machine with a network, run: "
        f"{sys.executable} -m nltk.downloader {' '.join(_WORDS)}"
    )
