"""TextArena's games: a player observes the game's messages to it, and its text is its move.

https://github.com/LeonGuertler/TextArena draws from the global generators of Python and NumPy; here each
episode has its own. Observations and moves go through the wrappers with which a game is registered.
"""

# TextArena is untyped.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import sys
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from mosaic_env_server.shims.global_random import GlobalRandom
from mosaic_env_server.shims.turns import TakesTurns
from mosaic_worker.spaces import Space

_PLANES = (
    *((0x20, 0x7E), (0xA0, 0xFF), (0x2010, 0x2027), (0x2190, 0x22FF), (0x2460, 0x27BF), (0x2B00, 0x2BFF)),
    *((0x1F0A0, 0x1F0FF), (0x1F300, 0x1F6FF), (0x1F7E0, 0x1F7EB), (0x1F900, 0x1FAFF), (0xFE0F, 0xFE0F)),
)
LETTERS = "\n" + "".join(chr(code) for first, last in _PLANES for code in range(first, last + 1))
"""Latin letters, and the marks, cards and faces with which games draw."""
LONGEST, LONGEST_MOVE = 1 << 17, 4000
_KNOWN = frozenset(LETTERS)
_WORDS = ("words", "averaged_perceptron_tagger_eng")


def make(
    game: str,
    seats: int,
    teams: Sequence[Sequence[str]] = (),
    render_mode: Optional[str] = None,
    **options: Any,
) -> Union[Alone, Turns]:
    """A game of TextArena.

    Args:
        game: Its name there, ``KuhnPoker-v0``.
        seats: How many play.
        teams: Players by team, where they do not play each for themselves.
        render_mode: ``ansi``, or nothing is drawn.
        options: As its class there takes them.

    Raises:
        LookupError: It needs words of NLTK's, which are not here.
    """
    game_of = _Game(game, seats, options, render_mode)
    return Alone(game_of, render_mode) if seats == 1 else Turns(game_of, teams, render_mode)


class _Game:
    """A game that is played, with random numbers of its own."""

    def __init__(self, game: str, seats: int, options: Mapping[str, Any], render_mode: Optional[str]) -> None:
        self._name, self._options = game, dict(options)
        self.seats = seats
        self._random = GlobalRandom(0)
        self._env: Any = None
        self.said = ""
        """What was written last, by whom and to whomever: for those who watch."""
        self.told: List[str] = [""] * seats
        self.begin(0)  # what it lacks, or does not take, is said before an episode begins

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
        """One move.

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
        """Keep the observation of the player who moves."""
        player, seen = self._env.get_observation()
        self.told[int(player)] = readable(seen)

    def _last_words(self, player: int) -> str:
        """What a player was told since its last move; the game itself does not tell it once it is over."""
        state, say = self._env.state, getattr(self._env, "observation", None)
        new, state.observations[player] = state.observations.get(player, []), []
        return readable(say(player, new)) if new and say is not None else self.told[player]

    @contextlib.contextmanager
    def _playing(self) -> Any:
        # Games print to stdout; that goes to stderr.
        with self._random.in_force(), contextlib.redirect_stdout(sys.stderr):
            yield


class _Told:
    """What both interfaces have in common."""

    def __init__(self, game: _Game, render_mode: Optional[str]) -> None:
        self.render_mode = render_mode
        self._game = game
        self._sees = Space("Text", charset=LETTERS, min_length=0, max_length=LONGEST)
        self._does = Space("Text", charset=LETTERS, min_length=0, max_length=LONGEST_MOVE)
        self.metadata: Mapping[str, Any] = {"render_modes": ["ansi"]}

    def mosaic_text(self, agent: str) -> str:
        """What the game has told a player."""
        return self._game.told[_number(agent)]

    def mosaic_briefing(self, agent: str) -> str:
        """The rest the game says itself."""
        return (
            f"You are Player {_number(agent)} of a text game. It tells you its rules, what has happened and "
            "how to write your move. A move that it does not take may be tried once more as a rule; another "
            "one loses."
        )

    def render(self) -> str:
        """What was written last."""
        return self._game.said

    def close(self) -> None:
        """Nothing is held."""


class Alone(_Told):
    """A game for one player: Gymnasium's interface. The full reward, 1, is success."""

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
        """One move."""
        over, rewards, infos = self._game.move(action)
        self._earned = rewards[0]
        return self._game.told[0], rewards[0], over, False, infos[0] if infos else {}

    def mosaic_success(self) -> bool:
        """Whether all was reached that there is."""
        return self._earned >= 1.0


class Turns(TakesTurns, _Told):
    """A game for several: PettingZoo's AEC interface. All is paid when it is over."""

    def __init__(self, game: _Game, teams: Sequence[Sequence[str]], render_mode: Optional[str]) -> None:
        TakesTurns.__init__(self, [f"player_{i}" for i in range(game.seats)])
        _Told.__init__(self, game, render_mode)
        if teams:
            named = {f"team_{i}": list(players) for i, players in enumerate(teams)}
            self.metadata = {**self.metadata, "teams": named}

    def observation_space(self, agent: str) -> Space:
        """The same for all."""
        return self._sees

    def action_space(self, agent: str) -> Space:
        """The same for all."""
        return self._does

    def reset(self, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None) -> None:
        """Begin an episode."""
        self._game.begin(seed)
        self.begun(self._game.mover)

    def play(self, action: str) -> None:
        """A move of the selected player; one that is not taken leaves it selected."""
        over, rewards, infos = self._game.move(action)
        self.moved(rewards, self._game.mover, over)
        if over:
            self.infos = dict(zip(self.possible_agents, infos))

    def observe(self, agent: str) -> str:
        """What a player was told when it was last asked, and at the end."""
        return self._game.told[self.possible_agents.index(agent)]


def readable(seen: Any) -> str:
    """What a game says, in the characters of its space; of what is too long, the beginning and the end."""
    text = str(seen).replace("\t", "    ").strip("\n")
    text = "".join(each if each in _KNOWN else "?" for each in text)
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2 - 8
    return f"{text[:half]}\n[...]\n{text[-half:]}"


def _number(agent: str) -> int:
    return int(agent.rpartition("_")[2]) if agent else 0


def _plain(facts: Mapping[str, Any]) -> Dict[str, Any]:
    """What the game says of its end, without who was what."""
    return {name: facts[name] for name in ("reason", "invalid_move", "turn_count") if name in facts}


def _earned(reward: Any, facts: Dict[str, Any]) -> float:
    """Some games name the reward of an invalid move where its reason belongs, and the other way round."""
    if not isinstance(reward, str):
        return float(reward or 0.0)
    number, facts["reason"] = str(facts.get("reason", "")).rpartition(" ")[2], reward
    try:
        return float(number)
    except ValueError:
        return 0.0


def _missing(game: str) -> str:
    return (
        f"{game} needs words that NLTK downloads, and they are not here. Where there is a network, run: "
        f"{sys.executable} -m nltk.downloader {' '.join(_WORDS)}"
    )
