"""Changes to what only others know, one small function for each kind of environment.

Each yields functions that change one thing in an environment, for a seat that should not notice. Some of
them a seat does see (a ball may lie in its view): who uses them looks at what the environment itself shows.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.envs.family import Family
from gym_gui.envs.spec import EnvSpec

Change = Callable[[], object]

BEHIND = ("textarena", "pgx", "jumanji", "melting_pot")
"""Families with an interpreter of their own, in which ``served_behind`` changes what is hidden."""
ALONE = ("babaisai", "balrog", "bsuite", "procgen")
"""Families with an interpreter of their own whose environments have one seat."""
SEEN_BY_ALL = ("overcooked",)
"""Families with an interpreter of their own whose seats hide nothing: each sees all that there is."""
SEALED = {
    "airsim": "each seat has the sensors of its own vehicle; no registry has the simulator",
    "unreal": "each seat has the camera of its own vehicle; no registry has the simulator",
    "smac": "each unit has the array that the package makes for it; no registry has StarCraft II",
}
"""Families of simulators, which cannot be tried: their clients install, and have nothing to connect to."""


class Hidden(NamedTuple):
    """How to change what a seat does not know.

    Attributes:
        changes: Of an environment, for a seat that is to move; each call of it lists the same changes. One
            that returns ``False`` has found nothing to change.
        sees: What the environment itself shows a seat at this moment, to be compared.
        excused: Whether an observation that differs is what the environment shows; not where a shim of ours
            makes it.
    """

    changes: Callable[[Environment, AgentID], Iterator[Change]]
    sees: Callable[[Environment, AgentID], Any]
    excused: bool = True


@contextlib.contextmanager
def reachable(family: Family) -> Iterator[None]:
    """Have the servers of a family make what ``served_behind`` can reach into."""
    kind: Any = type(family)
    place, wanted = kind.place, kind.wanted
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "place", lambda self, spec: replace(place(self, spec), path=(_BEHIND,)))
        entry = f"served_behind:{family.name}"
        patch.setattr(kind, "wanted", lambda *given: replace(wanted(*given), entry=entry))
        yield


def hidden(spec: EnvSpec) -> Hidden | None:
    """What is known of how to change an environment behind a seat's back."""
    if spec.family == "pettingzoo":
        return _PETTINGZOO.get(spec.id.rpartition("/")[2].rpartition("_v")[0])
    return _FAMILIES.get(spec.family)


def _index(environment: Environment, seat: AgentID) -> int:
    return environment.adapter.possible_agents.index(seat)


def _observe(environment: Environment, seat: AgentID) -> Any:
    env = environment.env
    return getattr(env, "aec_env", env).observe(seat)


# --- particles -------------------------------------------------------------------------------


def _particles(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Targets, messages and keys; how others move and what they have said."""
    world = environment.env.world
    for name in ("goal_a", "goal_b", "_goal_a", "_goal_b", "key", "_key"):
        bodies = [body for body in world.agents if vars(body).get(name) is not None]
        old = {id(vars(body)[name]): vars(body)[name] for body in bodies}
        for target in old.values():
            yield lambda name=name, bodies=bodies, target=target: _another(world, bodies, name, target)
    others = [each for each in world.agents if each.name != seat]
    for body in {id(each): each for each in (others[0], others[-1])}.values():
        yield lambda body=body: body.state.p_vel.__iadd__(0.5)
        yield lambda body=body: body.state.p_pos.__iadd__(0.25)
        if not body.silent:
            yield lambda body=body: setattr(body.state, "c", np.roll(body.state.c, 1))


def _another(world: Any, bodies: Sequence[Any], name: str, target: Any) -> None:
    """Another target for all who have this one."""
    others = _other_targets(world, target)
    for body in bodies:
        if vars(body)[name] is target:
            setattr(body, name, others)


def _other_targets(world: Any, target: Any) -> Any:
    if isinstance(target, np.ndarray):
        return np.roll(target, 1)  # a key
    kind = world.agents if target in world.agents else world.landmarks
    return next(each for each in kind if each is not target)


# --- grids -----------------------------------------------------------------------------------


def _grid(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Where others stand, which way they look, what they carry; where balls lie; who may steal."""
    from mosaic_multigrid.core.world_object import Ball

    env = environment.env
    own = env.agents[_index(environment, seat)]
    free = [
        (x, y)
        for x, y in itertools.product(range(1, env.width - 1), range(1, env.height - 1))
        if env.grid.get(x, y) is None and not any(tuple(a.state.pos) == (x, y) for a in env.agents)
    ]
    far = sorted(free, key=lambda cell: -abs(cell[0] - own.state.pos[0]) - abs(cell[1] - own.state.pos[1]))
    for x, y in itertools.product(range(env.width), range(env.height)):
        thing = env.grid.get(x, y)
        if thing is not None and thing.type.value == "ball":
            yield lambda thing=thing, x=x, y=y: (env.grid.set(x, y, None), env.put_obj(thing, *far[0]))
            yield lambda x=x, y=y: env.grid.set(x, y, None)
    yield lambda: getattr(env, "team_scores", {}).update({0: 1, 1: 1})
    others = [each for each in env.agents if each is not own]
    for body in (others[0], others[-1]):
        yield lambda body=body: setattr(body.state, "pos", far[0])
        yield lambda body=body: setattr(body.state, "dir", (int(body.state.dir) + 1) % 4)
        yield lambda body=body: setattr(body.state, "carrying", Ball(color="red", index=0))
        yield lambda body=body: setattr(body, "action_cooldown", 7)


def _rooms(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Where others stand, which way they look, what they carry; doors, and things that lie about."""
    from multigrid.core.world_object import Key

    env = environment.env
    for x, y in itertools.product(range(env.width), range(env.height)):
        thing = env.grid.get(x, y)
        if thing is None or thing.type.value == "wall":
            continue
        if thing.type.value == "door":
            yield lambda thing=thing, x=x, y=y: (setattr(thing, "is_open", True), env.grid.update(x, y))
        yield lambda x=x, y=y: env.grid.set(x, y, None)
    own = env.agents[_index(environment, seat)]
    free = [
        (x, y)
        for x, y in itertools.product(range(1, env.width - 1), range(1, env.height - 1))
        if env.grid.get(x, y) is None
    ]
    far = max(free, key=lambda cell: abs(cell[0] - own.state.pos[0]) + abs(cell[1] - own.state.pos[1]))
    for body in (each for each in env.agents if each is not own):
        yield lambda body=body: setattr(body.state, "carrying", Key("purple"))
        yield lambda body=body: setattr(body.state, "pos", far)
        yield lambda body=body: setattr(body.state, "dir", (int(body.state.dir) + 1) % 4)


def _grid_view(environment: Environment, seat: AgentID) -> Any:
    return environment.env.gen_obs()[_index(environment, seat)]


# --- cards -----------------------------------------------------------------------------------


def _cards(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Another hand for the other player, out of the deck."""
    game = environment.env.env.game
    for number, player in enumerate(game.players):
        if number != _index(environment, seat):
            for place in range(3):
                yield lambda player=player, place=place: _deal_another(game, player, place)
    yield lambda: game.dealer.deck.reverse()


def _hand(environment: Environment, seat: AgentID) -> Any:
    """What a player sees, and the open cards with their suits, which Leduc's numbers leave out."""
    game = environment.env.env.game
    cards = getattr(game, "public_cards", None) or [getattr(game, "public_card", None)]
    return {"seen": _observe(environment, seat), "open": [str(card) for card in cards]}


def _deal_another(game: Any, player: Any, place: int) -> None:
    deck = game.dealer.deck
    if isinstance(player.hand, list):
        player.hand[0], deck[place] = deck[place], player.hand[0]
    else:
        player.hand, deck[place] = deck[place], player.hand


def _choices(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """What the others have chosen while this one is still to choose."""
    env = environment.env
    for other in (each for each in env.possible_agents if each != seat):
        for move in range(3):
            yield lambda other=other, move=move: env.state.__setitem__(other, move)


# --- OpenSpiel -------------------------------------------------------------------------------

_TRIED = 120


def _games(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Other deals and other private moves, under which this player knows just the same."""
    env = _spiel(environment)
    for seed in range(4):
        yield lambda seed=seed: _replace(env, _index(environment, seat), seed)


def _spiel(environment: Environment) -> Any:
    env = environment.env
    return getattr(env, "hanabi_env", env)


def _replace(env: Any, player: int, seed: int) -> bool:
    state = like(env.game_state, player, np.random.default_rng(seed))
    if state is None:
        return False
    env.game_state = state
    env._update_action_masks()
    env._update_observations()
    return True


def like(state: Any, player: int, draw: np.random.Generator) -> Any | None:
    """Another state of the game that ``player`` cannot tell from this one; ``None`` where none is found."""
    for _ in range(_TRIED):
        found = _varied(state, player, draw)
        if found is not None and str(found) != str(state) and knows(found, player) == knows(state, player):
            return found
    return None


def knows(state: Any, player: int) -> Any:
    """All that the game gives a program that plays ``player``, in numbers."""
    kind = state.get_game().get_type()
    return (
        state.current_player(),
        state.observation_tensor(player) if kind.provides_observation_tensor else None,
        state.information_state_tensor(player) if kind.provides_information_state_tensor else None,
        state.information_state_string(player) if kind.provides_information_state_string else None,
        state.legal_actions(player),
        state.returns(),
    )


def _varied(state: Any, player: int, draw: np.random.Generator) -> Any | None:
    """The state after a history in which one move of another player, or of chance, is changed.

    Where that move deals a card that is dealt again later, the two cards change places.
    """
    history = [(each.player, each.action) for each in state.full_history()]
    others = [i for i, (who, _) in enumerate(history) if who != player]
    if not others:
        return None
    at = int(draw.choice(others))
    varied = state.get_game().new_initial_state()
    for i, (_, action) in enumerate(history):
        if varied.is_terminal() or varied.is_simultaneous_node():
            return None
        legal = varied.legal_actions()
        if i == at:
            before, action = action, int(draw.choice(legal))
            later = [(w, before if a == action else a) for w, a in history[i + 1 :]]
            history[i + 1 :] = later if history[i][0] < 0 else history[i + 1 :]
        elif i > at:
            action = history[i][1]
        if action not in legal:
            return None
        varied.apply_action(action)
    return None if varied.is_terminal() or varied.is_chance_node() else varied


def _spiel_view(environment: Environment, seat: AgentID) -> Any:
    return _spiel(environment).observations[seat]


# --- others ----------------------------------------------------------------------------------


def _pursuit(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Where evaders and other pursuers are."""
    game = environment.env.env
    for layer, row in ((game.evader_layer, 2), (game.pursuer_layer, 1)):
        for number, body in enumerate(layer.allies):
            if layer is game.evader_layer or number != _index(environment, seat):
                yield lambda layer=layer, row=row, body=body: _placed(game, layer, row, body)


def _placed(game: Any, layer: Any, row: int, body: Any) -> None:
    old = tuple(body.current_position())
    free = [at for at in itertools.product(range(16), repeat=2) if not game.map_matrix[at]]
    body.set_position(*next(at for at in reversed(free) if at != old))
    game.model_state[row] = layer.get_state_matrix()


def _knights(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Where zombies and others are and look, all of which numbers show; when others may strike again."""
    from pettingzoo.butterfly.knights_archers_zombies.src.interval import Interval

    env = environment.env
    others = [body for name, body in env.agent_map.items() if name != seat]
    for body in others:
        yield lambda body=body: setattr(body, "score", body.score + 1)
        yield lambda body=body: setattr(body, "timeout", Interval(30))
    for body in (*reversed(others), *env.zombie_list):
        yield lambda body=body: (body.rect.move_ip(30, 0), env.draw())
    for body in others:
        yield lambda body=body: (body.direction.rotate_ip(90), body._update_image(), env.draw())


def _pistons(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Where the ball is, and pistons are: most of the screen is out of a piston's view."""
    env, own = environment.env, _index(environment, seat)
    for far in (-60, 60):
        yield lambda far=far: (_shifted(env.ball, far, -20), env.draw())
    for number in sorted(range(env.n_pistons), key=lambda each: -abs(each - own)):
        yield lambda number=number: (_shifted(env.pistonList[number], 0, -16), env.draw())


def _shifted(body: Any, right: float, down: float) -> None:
    body.position = (body.position[0] + right, body.position[1] + down)


def _walkers(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """How others move and hold their legs; who is not next to the seat is not seen by it at all."""
    game = environment.env.env
    own = _index(environment, seat)
    for number in sorted(range(game.n_walkers), key=lambda each: -abs(each - own)):
        walker = game.walkers[number]
        if number != own and walker.hull is not None:
            yield lambda walker=walker: _shifted(walker.hull, 0.5, 0.2)
            yield lambda walker=walker: setattr(walker.hull, "linearVelocity", (1.5, 0.5))
            yield lambda walker=walker: setattr(walker.legs[1], "angularVelocity", 2.0)


def _fields(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Where others stand and of which level they are, what food takes, and what has been earned so far."""
    game = environment.env
    others = [each for i, each in enumerate(game.players) if i != _index(environment, seat)]
    free = [
        (x, y)
        for x, y in itertools.product(range(game.rows), range(game.cols))
        if not game.field[x, y] and all(tuple(each.position) != (x, y) for each in game.players)
    ]
    for other in others:
        for place in (free[0], free[-1]):
            yield lambda other=other, place=place: (
                setattr(other, "position", place),
                game._gen_valid_moves(),
            )
        yield lambda other=other: setattr(other, "level", 3 - int(other.level))
        yield lambda other=other: setattr(other, "score", other.score + 1)
    for x, y in np.argwhere(game.field):
        level = int(game.field[x, y])  # the package refuses more than players have between them
        yield lambda x=x, y=y, level=level: game.field.__setitem__((x, y), level - 1 if level > 1 else 2)
    yield lambda: setattr(game, "_food_spawned", 2 * game._food_spawned)


def _stands(game: Any, player: Any, place: tuple[int, int]) -> None:
    player.position = place
    game._gen_valid_moves()


def _field_view(environment: Environment, seat: AgentID) -> Any:
    return environment.env.test_make_gym_obs()[_index(environment, seat)]


def _warehouse(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """What is asked for, what others carry, and which way they look."""
    game = environment.env
    for place in range(len(game.request_queue)):
        for shelf in (game.shelfs[0], game.shelfs[-1]):
            if shelf not in game.request_queue:
                yield lambda place=place, shelf=shelf: game.request_queue.__setitem__(place, shelf)
    for other in (each for i, each in enumerate(game.agents) if i != _index(environment, seat)):
        for way in type(other.dir):
            yield lambda other=other, way=way: setattr(other, "dir", way)


def _warehouse_view(environment: Environment, seat: AgentID) -> Any:
    game = environment.env
    return game._make_obs(game.agents[_index(environment, seat)])


def _traffic(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """How fast others want to drive, and where to."""
    game = environment.env
    own = game.controlled_vehicles[_index(environment, seat)]
    for car in game.road.vehicles:
        if car is not own:
            yield lambda car=car: setattr(car, "target_speed", car.target_speed + 5)
            yield lambda car=car: setattr(car, "route", car.route[:1] if car.route else car.route)


def _traffic_view(environment: Environment, seat: AgentID) -> Any:
    kinds = environment.env.observation_type.agents_observation_types
    return kinds[_index(environment, seat)].observe()


def _bodies(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """Where others are, and how they move."""
    for body in environment.env.world.agents:
        if body.name != seat:
            yield lambda body=body: setattr(body.state, "vel", body.state.vel + 0.5)
            yield lambda body=body: setattr(body.state, "pos", body.state.pos + 0.7)


def _bodies_view(environment: Environment, seat: AgentID) -> Any:
    env = environment.env._env
    return env.scenario.observation(env.agents[_index(environment, seat)])


# --- in an interpreter of their own ----------------------------------------------------------

_BEHIND = Path(__file__).parent / "behind"


def _behind(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """What the family's own entry of ``served_behind`` finds to change."""
    env = environment.env
    for number in range(env.ask("changes", seat)):
        yield lambda number=number: env.ask(f"change_{number}", seat)


def _shown(environment: Environment, seat: AgentID) -> Any:
    return environment.env.ask("shown", seat)


_GRIDS = Hidden(_grid, _grid_view)
_ROOMS = Hidden(_rooms, _grid_view)
_PARTICLES = Hidden(_particles, _observe)
_POKER = Hidden(_cards, _hand)
_SPIEL = Hidden(_games, _spiel_view)
# --- screens ---------------------------------------------------------------------------------


def _screens(environment: Environment, seat: AgentID) -> Iterator[Change]:
    """What others see on their screens, and what the numbers under these say."""
    match = environment.env
    for other in (each for each in match.possible_agents if each != seat):
        seen = match.observe(other)
        yield lambda seen=seen: np.subtract(255, seen["screen"], out=seen["screen"])
        yield lambda seen=seen: np.add(seen["gamevariables"], 7, out=seen["gamevariables"])


_FAMILIES = {
    "mpe2": _PARTICLES,
    "multigrid": _GRIDS,
    "ini_multigrid": _ROOMS,
    "openspiel": _SPIEL,
    "lbforaging": Hidden(_fields, _field_view),
    "rware": Hidden(_warehouse, _warehouse_view),
    "highway": Hidden(_traffic, _traffic_view),
    "vmas": Hidden(_bodies, _bodies_view),
    "vizdoom": Hidden(_screens, _observe),
    **dict.fromkeys(BEHIND, Hidden(_behind, _shown, excused=False)),
}
_PETTINGZOO = {
    "leduc_holdem": _POKER,
    "texas_holdem": _POKER,
    "texas_holdem_no_limit": _POKER,
    "rps": Hidden(_choices, _observe),
    "hanabi": _SPIEL,
    "pursuit": Hidden(_pursuit, _observe),
    "knights_archers_zombies": Hidden(_knights, _observe),
    "pistonball": Hidden(_pistons, _observe),
    "multiwalker": Hidden(_walkers, _observe),
}
