"""Runs in a served family's own interpreter: changes what only others know, and says what a seat was shown.

A server makes ``served_behind:textarena`` in place of the family's own entry. What is made is the
family's own environment; it answers three more questions, by which a test reaches behind a seat's back:
``changes`` (how many there are), ``change_0`` … (make one), ``shown`` (all that the package itself has
addressed to the seat).
"""

# The packages are untyped, and not installed where this is checked.
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from mosaic_env_server import instances

Change = Callable[[], Any]
MOST = 8
"""Changes that can be asked for, at each moment."""
_QUESTIONS = ("changes", "shown", *(f"change_{number}" for number in range(MOST)))
instances.ANSWERS = (*instances.ANSWERS, *_QUESTIONS)
instances._OF_AN_AGENT = instances._OF_AN_AGENT | set(_QUESTIONS)


def _answering(
    env: Any, changes: Callable[[int], list[Callable[[], Any]]], shown: Callable[[int], Any]
) -> Any:
    """The environment, with answers to our questions."""

    def seat(agent: str) -> int:
        return env.possible_agents.index(agent)

    def change(number: int) -> Callable[[str], bool]:
        return lambda agent: changes(seat(agent))[number]() is not False

    env.mosaic_changes = lambda agent: min(len(changes(seat(agent))), MOST)
    env.mosaic_shown = lambda agent: shown(seat(agent))
    for number in range(MOST):
        setattr(env, f"mosaic_change_{number}", change(number))
    return env


# --- TextArena -------------------------------------------------------------------------------


def textarena(game: str, seats: int, teams: Any = (), render_mode: Any = None, **options: Any) -> Any:
    """A game of words; each message of the package has an addressee."""
    from textarena import core

    from mosaic_env_server.shims.textarena import make

    if not hasattr(core.State, "behind"):
        core.State.behind = True
        core.State.add_observation = _kept(core.State.add_observation)
    env = make(game, seats, teams, render_mode, **options)
    if seats == 1:
        return env

    def state() -> Any:
        return env._game._env.state

    def changes(seat: int) -> list[Change]:
        others = [player for player in range(seats) if player != seat]
        noted = [lambda player=player: _note(state(), player) for player in (others[0], others[-1])]
        return [*noted, *_redealt(game, seats, options, state(), seat)]

    return _answering(env, changes, lambda seat: state().addressed[seat])


def _kept(add_observation: Any) -> Any:
    """What is addressed to whom is kept, beside the package's own lists, which it empties."""

    def kept(self: Any, message: str, *arguments: Any, **named: Any) -> None:
        before = {player: len(messages) for player, messages in self.observations.items()}
        add_observation(self, message, *arguments, **named)
        if not any(before.values()) and not self.logs[1:]:
            self.addressed = {player: [] for player in self.observations}
        for player, messages in self.observations.items():
            self.addressed[player] += [str(each[1]) for each in messages[before[player] :]]

    return kept


def _note(state: Any, player: int) -> None:
    """Another player is told something that is for it alone."""
    import textarena

    message = f"Only player {player} may know this: the plums are ripe."
    state.add_observation(message, textarena.ObservationType.GAME_MESSAGE, to_id=player)


def _redealt(game: str, seats: int, options: dict[str, Any], state: Any, seat: int) -> list[Change]:
    """What others hold, word for word as another deal of the game has it."""
    import textarena

    tables = state.game_state if isinstance(state.game_state, dict) else {}
    held = [name for name, table in tables.items() if _by_player(table, seats)]
    if not held:
        return []
    other = textarena.make(game, **options)
    other.reset(num_players=seats, seed=99)
    others = other.state.game_state

    def deal(name: str) -> bool:
        mine, theirs, changed = tables[name], others[name], False
        for player in range(seats):
            same_kind = type(mine[player]) is type(theirs[player])
            if player != seat and same_kind and mine[player] != theirs[player]:
                mine[player], changed = copy.deepcopy(theirs[player]), True
        return changed

    return [lambda name=name: deal(name) for name in held if _by_player(others.get(name), seats)]


def _by_player(table: Any, seats: int) -> bool:
    """Whether it holds a value, or a hand of them, for each player; places on a board hang together."""
    if not isinstance(table, dict) or set(table) != set(range(seats)):
        return False
    hands = [each if isinstance(each, (list, tuple)) else [each] for each in table.values()]
    return all(isinstance(value, (str, int, float)) for hand in hands for value in hand)
