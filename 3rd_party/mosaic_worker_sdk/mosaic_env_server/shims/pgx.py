"""Games of Pgx with the interfaces of PettingZoo AEC and Gymnasium.

https://github.com/sotetsuk/pgx computes its games with JAX. One function computes everything between two
moves; it is compiled once for all instances of a game, before the first episode.
"""

# JAX and pgx are untyped.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import functools
import json
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from mosaic_env_server.shims.jax_keys import prng_key
from mosaic_env_server.shims.pgx_pictures import picture
from mosaic_env_server.shims.pgx_words import action_words, text
from mosaic_env_server.shims.shapes import box, discrete
from mosaic_env_server.shims.turns import AECGame
from mosaic_worker.spaces import Space

_SIZES = {"go_9x9": 9, "go_19x19": 19}
_MEN = 15
"""Number of men of one side in backgammon, the largest number in its observations."""


class PlayerView(NamedTuple):
    """Values of a game's state for the program that plays it, as arrays.

    Attributes:
        player: Number of the player who moves.
        observation: Observation of this player.
        mask: Mask of this player's legal actions.
        rewards: Rewards of the last move, by player.
        terminated: Whether the game is over.
        truncated: Whether the game was cut off.
    """

    player: Any
    observation: Any
    mask: Any
    rewards: Any
    terminated: Any
    truncated: Any


class CompiledGame:
    """Functions of a game, shared by all its instances and compiled at their first use.

    Args:
        name: Name of the game in Pgx.
        options: Arguments of the game's class.
    """

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        import jax
        import pgx

        self.name = name
        self.game: Any = pgx.make(name)  # type: ignore[arg-type]
        if options:
            size = {"size": _SIZES[name]} if name in _SIZES else {}
            self.game = type(self.game)(**{**size, **options})
        self._jax: Any = jax
        self._key = jax.ShapeDtypeStruct((2,), np.uint32)
        self._number = jax.ShapeDtypeStruct((), np.int32)
        self._state: Any
        self.shape: PlayerView
        """Shapes and types of the values of a state."""
        self._state, self.shape, _ = jax.eval_shape(self._begin, self._key)
        self.players = int(self.game.num_players)

    @functools.cached_property
    def begin(self) -> Any:
        """Function from a random key to a state, its :class:`PlayerView`, and the next random key."""
        return self._compile(self._begin, self._key)

    @functools.cached_property
    def play(self) -> Any:
        """Function from state, action, random key and its number of uses to the next state and its
        :class:`PlayerView`.
        """
        return self._compile(self._play, self._state, self._number, self._key, self._number)

    @functools.cached_property
    def observe(self) -> Any:
        """Function from a state and a player's number to the observation of this player."""
        # Pgx warns that its public form of this function will be removed.
        return self._compile(self.game._observe, self._state, self._number)

    def _compile(self, function: Any, *shapes: Any) -> Any:
        return self._jax.jit(function).lower(*shapes).compile()

    def _begin(self, key: Any) -> Any:
        first, rest = self._jax.random.split(key)
        state = self.game.init(first)
        return state, _shown(state), rest

    def _play(self, state: Any, action: Any, key: Any, count: Any) -> Any:
        state = self.game.step(state, action, self._jax.random.fold_in(key, count))
        return state, _shown(state)


def _shown(state: Any) -> PlayerView:
    return PlayerView(
        state.current_player,
        state.observation,
        state.legal_action_mask,
        state.rewards,
        state.terminated,
        state.truncated,
    )


@functools.lru_cache(maxsize=None)
def _compiled(name: str, options: str) -> CompiledGame:
    return CompiledGame(name, json.loads(options))


def make(game: str, render_mode: Optional[str] = None, **options: Any) -> Union[PgxAECEnv, PgxEnv]:
    """Create a game of Pgx.

    Args:
        game: Name of the game in Pgx, for example ``connect_four``.
        render_mode: ``rgb_array``, or ``None`` for no rendering.
        options: Arguments of the game's class, for example ``size`` of Go.
    """
    compiled = _compiled(game, json.dumps(options, sort_keys=True))
    return (PgxEnv if compiled.players == 1 else PgxAECEnv)(compiled, render_mode)


class _Play:
    """Base class of the two interfaces: the state of a game and its rendering."""

    def __init__(self, compiled: CompiledGame, render_mode: Optional[str]) -> None:
        self.render_mode = render_mode
        self._compiled = compiled
        self._state: Any = None
        self._key: Any = None
        self._shown: PlayerView = compiled.shape
        self._moves = 0
        self.metadata: Mapping[str, Any] = {
            "render_modes": ["rgb_array"],
            "action_meanings": action_words(compiled.name, compiled.game, self._actions),
        }
        self.mosaic_text: Any = self._text if text(compiled.name) else None
        """Method that describes an observation as text; ``None`` for games without a description."""

    @property
    def _actions(self) -> int:
        return int(self._compiled.shape.mask.shape[0])

    def _begin(self, seed: Optional[int]) -> None:
        compiled = self._compiled
        play, look = compiled.play, compiled.observe  # compiled now, so that steps do not wait for it
        del play, look
        self._state, shown, self._key = compiled.begin(prng_key(seed))
        self._moves, self._shown = 0, PlayerView(*map(np.asarray, shown))

    def _move(self, action: Any) -> None:
        self._moves += 1
        played = np.int32(action), self._key, np.int32(self._moves)
        self._state, shown = self._compiled.play(self._state, *played)
        self._shown = PlayerView(*map(np.asarray, shown))

    def _seen_by(self, player: int) -> Any:
        shown = self._shown
        if player == int(shown.player):
            return shown.observation
        return np.asarray(self._compiled.observe(self._state, np.int32(player)))

    def _text(self, agent: str) -> str:
        """Return the observation as text."""
        player = int(agent.rpartition("_")[2]) if agent else 0
        say = text(self._compiled.name)
        assert say is not None
        return say(self._seen_by(player))

    def render(self) -> Any:
        """Return an image of the whole position."""
        return None if self._state is None else picture(self._compiled.name, self._state, self._shown)

    def close(self) -> None:
        """Drop the state."""
        self._state = None


class PgxEnv(_Play):
    """A game for one player (2048 or a MinAtar game) with Gymnasium's interface."""

    def __init__(self, compiled: CompiledGame, render_mode: Optional[str]) -> None:
        super().__init__(compiled, render_mode)
        # A game in which all actions are always legal has no mask.
        self._masked = not compiled.name.startswith("minatar")
        seen = _observed(compiled)
        self.observation_space = _with_mask(seen, self._actions) if self._masked else seen
        self.action_space = discrete(self._actions)

    def _observation(self) -> Any:
        shown = self._shown
        seen = _plain(shown.observation)
        return {"observation": seen, "action_mask": shown.mask.astype(np.int8)} if self._masked else seen

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Any, Dict[str, Any]]:
        """Begin an episode."""
        self._begin(seed)
        return self._observation(), {}

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Make one move."""
        self._move(action)
        shown = self._shown
        over, cut = bool(shown.terminated), bool(shown.truncated)
        return self._observation(), float(shown.rewards[0]), over, cut and not over, {}


class PgxAECEnv(AECGame, _Play):
    """A game for several players with PettingZoo's AEC interface; the first player is random."""

    def __init__(self, compiled: CompiledGame, render_mode: Optional[str]) -> None:
        AECGame.__init__(self, [f"player_{i}" for i in range(compiled.players)])
        _Play.__init__(self, compiled, render_mode)
        self._sees, self._does = _with_mask(_observed(compiled), self._actions), discrete(self._actions)

    def observation_space(self, agent: str) -> Space:
        """Return the observation space, which is the same for all agents."""
        return self._sees

    def action_space(self, agent: str) -> Space:
        """Return the action space, which is the same for all agents."""
        return self._does

    def reset(self, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None) -> None:
        """Begin an episode."""
        self._begin(seed)
        self.begun(int(self._shown.player))

    def play(self, action: Any) -> None:
        """Make a move of the selected player."""
        self._move(action)
        shown = self._shown
        self.moved(list(shown.rewards), int(shown.player), bool(shown.terminated), bool(shown.truncated))

    def observe(self, agent: str) -> Dict[str, Any]:
        """Return a player's observation, with the legal actions if it is the player's turn."""
        player, shown = self.possible_agents.index(agent), self._shown
        moves = player == int(shown.player) and not (shown.terminated or shown.truncated)
        mask = shown.mask if moves else np.zeros(self._actions)
        return {"observation": _plain(self._seen_by(player)), "action_mask": mask.astype(np.int8)}


def _plain(observation: Any) -> Any:
    """Return an observation with booleans as 0 and 1."""
    return observation.astype(np.int8) if observation.dtype == np.bool_ else observation


def _observed(compiled: CompiledGame) -> Space:
    shape, dtype = tuple(compiled.shape.observation.shape), np.dtype(compiled.shape.observation.dtype)
    if dtype == np.bool_:
        return box(shape, np.dtype(np.int8), 0, 1)
    if dtype.kind == "i":
        return box(shape, dtype, -_MEN, _MEN)
    return box(shape, dtype, -np.inf, np.inf)


def _with_mask(seen: Space, actions: int) -> Space:
    mask = box((actions,), np.dtype(np.int8), 0, 1)
    return Space("Dict", spaces={"observation": seen, "action_mask": mask})
