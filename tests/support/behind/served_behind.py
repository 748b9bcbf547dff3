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
from hashlib import sha256
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


# --- Pgx -------------------------------------------------------------------------------------


def pgx(game: str, render_mode: Any = None, **options: Any) -> Any:
    """A game of cards or tiles; what another player holds is exchanged for what is still in the deck."""
    import jax
    import numpy as np

    from mosaic_env_server.shims.pgx import make

    env = make(game, render_mode, **options)
    if not hasattr(env, "possible_agents"):
        return env
    # As the package says it; the shim has functions of its own.
    observe = jax.jit(env._compiled.game._observe)

    def seen(state: Any, seat: int) -> Any:
        return np.asarray(observe(state, np.int32(seat)))

    def take(state: Any) -> None:
        env._state = state
        env._shown = env._shown._replace(observation=seen(state, int(env._shown.player)))

    def changes(seat: int) -> list[Change]:
        exchange = _other_tiles if game == "sparrow_mahjong" else _other_cards
        return [lambda state=state: take(state) for state in exchange(env._state, seat)]

    return _answering(env, changes, lambda seat: seen(env._state, seat).reshape(-1).tolist())


def _other_cards(state: Any, seat: int) -> list[Any]:
    """The position with another card in the other's hand, of those that are nowhere else."""
    import numpy as np

    # Kuhn poker has one card of each rank and Leduc hold'em two, of which the third lies on the table.
    cards = np.asarray(state._cards)
    found, of_a_rank = [], len(cards) - 1
    for card in range(3):
        changed = cards.copy()
        changed[1 - seat] = card
        if card != cards[1 - seat] and np.bincount(changed, minlength=3).max() <= of_a_rank:
            found.append(state.replace(_cards=changed))
    return found


_GREEN, _RED = 36, 40
"""First tile of each kind of dragon. Of every other kind the first is red, and of green dragons none."""


def _other_tiles(state: Any, seat: int) -> list[Any]:
    """The position with a tile of another player exchanged for one of the wall; neither is red."""
    import numpy as np

    hands, reds, wall = (np.asarray(part) for part in (state._hands, state._n_red_in_hands, state._wall))
    found = []
    for place, player in enumerate(np.asarray(state._shuffled_players)):
        held = np.flatnonzero(hands[place] > reds[place])
        if player == seat or not held.size:
            continue
        for at in range(int(state._draw_ix), len(wall)):
            tile, kind = int(wall[at]), int(wall[at]) // 4
            plain = tile < _RED and (tile % 4 != 0 or tile == _GREEN)
            if plain and kind != held[0]:
                mine, left = hands.copy(), wall.copy()
                mine[place, held[0]] -= 1
                mine[place, kind] += 1
                left[at] = 4 * held[0] + 1
                found.append(state.replace(_hands=mine, _wall=left))
                break
    return found


# --- Jumanji ---------------------------------------------------------------------------------


def jumanji(env: str, render_mode: Any = None, **options: Any) -> Any:
    """A team: what others see, what they may do, and which way they look."""
    import numpy as np

    from mosaic_env_server.shims.jumanji import make

    made = make(env, render_mode, **options)
    if not hasattr(made, "possible_agents"):
        return made
    count = len(made.possible_agents)  # pyright: ignore[reportAttributeAccessIssue]
    # What the package gives each agent apart has a row for each, by its own documentation.
    own = ("action_mask", "agents_view", "searcher_views")

    def shown(seat: int) -> str:
        seen = made._observation.items()
        return str([_listed(part[seat] if name in own else part) for name, part in seen])

    def alter(name: str, other: int) -> None:
        part = np.array(made._observation[name])
        part[other] = 1 - part[other]
        made._observation = {**made._observation, name: part}

    def turn(body: str, heading: str, by: float) -> None:
        bodies = getattr(made._state, body)
        turned = np.array(getattr(bodies, heading))
        turned[others] = (turned[others] + np.array(by, turned.dtype)) % 4
        changed = _with(bodies, **{heading: turned})
        made._state = _with(made._state, **{body: changed})

    others: list[int] = []

    def changes(seat: int) -> list[Change]:
        others[:] = [place for place in range(count) if place != seat]
        rows = [(name, other) for name in own if name in made._observation for other in others[:2]]
        found: list[Change] = [lambda name=name, other=other: alter(name, other) for name, other in rows]
        for body, heading in (("agents", "direction"), ("searchers", "heading")):
            if hasattr(getattr(made._state, body, None), heading):
                found.append(lambda body=body, heading=heading: turn(body, heading, 1))
        return found

    return _answering(made, changes, shown)


def _with(record: Any, **parts: Any) -> Any:
    """A record of JAX with other parts: a named tuple or a dataclass."""
    import dataclasses

    return record._replace(**parts) if hasattr(record, "_replace") else dataclasses.replace(record, **parts)


def _listed(part: Any) -> Any:
    return {name: _listed(each) for name, each in part.items()} if isinstance(part, dict) else part.tolist()


# --- Melting Pot -----------------------------------------------------------------------------


def melting_pot(substrate: str, render_mode: Any = None, **options: Any) -> Any:
    """A society: the pictures and numbers of others, and the picture of the whole world."""
    import numpy as np

    from mosaic_env_server.shims.melting_pot import MeltingPot

    env = MeltingPot(substrate, render_mode, **options)
    count = len(env.possible_agents)

    def alter(places: list[int], *names: str) -> None:
        seen = [dict(each) for each in env._step.observation]
        for place in places:
            for name in names or tuple(seen[place]):
                part = np.array(seen[place][name])
                seen[place][name] = 255 - part if part.dtype == np.uint8 else part + 1
        env._step = env._step._replace(observation=seen)

    def changes(seat: int) -> list[Change]:
        others = [place for place in range(count) if place != seat]
        whole = lambda: alter(list(range(count)), "WORLD.RGB")  # noqa: E731  # of what no player sees
        return [whole, *(lambda other=other: alter([other]) for other in (others[0], others[-1]))]

    def shown(seat: int) -> str:
        mine = env._step.observation[seat]
        return str([sha256(np.asarray(mine[name]).tobytes()).hexdigest() for name in env._seen])

    return _answering(env, changes, shown)
