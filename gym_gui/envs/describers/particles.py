"""Describes particle worlds (MPE2): objects by relative position, decoded from an agent's vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.spaces import to_space
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.mpe2_actions import LETTERS, MOVES
from gym_gui.envs.describers.particle_games import COLORS, Goals
from gym_gui.envs.describers.particle_picture import MESH, drawn
from gym_gui.envs.describers.value_words import number
from gym_gui.envs.instance import Instance
from gym_gui.envs.pictures import Picture

_MEANINGS = {
    "noop": "no push",
    "left": "push yourself to the left",
    "right": "push yourself to the right",
    "down": "push yourself down",
    "up": "push yourself up",
}
_STILL = 0.005
"""Distances below this count as zero, because texts have two decimals."""


class Vector:
    """Reader that takes numbers from an observation vector one after the other."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._values: list[float] = values.tolist()
        self._at = 0

    def take(self, count: int) -> list[float]:
        """Return the next ``count`` numbers."""
        start, self._at = self._at, self._at + count
        return self._values[start : self._at]

    def pairs(self, count: int) -> list[list[float]]:
        """Return the next ``count`` pairs of numbers: positions or velocities."""
        return [self.take(2) for _ in range(count)]


def offset_text(dx: float, dy: float) -> str:
    """Return a relative position with its distance as text: ``0.52 right, 0.31 up (0.61 away)``."""
    sides = _sides(dx, dy)
    return f"{sides} ({hypot(dx, dy):.2f} away)" if sides else "here"


class SeenObject(NamedTuple):
    """Object in a particle world's observation, with its relative position; as text, one line.

    Attributes:
        name: Name of the object.
        place: Distances to the right and up.
        more: Further text after the position.
    """

    name: str
    place: Sequence[float]
    more: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {offset_text(*self.place)}{self.more}"


Line = str | SeenObject


def _sides(dx: float, dy: float) -> str:
    """Return a relative position as ``0.52 right, 0.31 up``.

    Fast, because it runs hundreds of times per second.
    """
    across = "" if -_STILL < dx < _STILL else f"{dx:.2f} right" if dx > 0 else f"{-dx:.2f} left"
    along = "" if -_STILL < dy < _STILL else f"{dy:.2f} up" if dy > 0 else f"{-dy:.2f} down"
    return f"{across}, {along}" if across and along else across or along


def _moving(velocity: Sequence[float]) -> str:
    sides = _sides(*velocity)
    return f"; moves {sides}" if sides else ""


def one_hot(values: Sequence[float]) -> int | None:
    """Return the index of the only value that is 1 while all others are 0; ``None`` if there is none."""
    which = None
    for i, value in enumerate(values):
        if value:
            if value != 1 or which is not None:
                return None
            which = i
    return which


def _letter(values: Sequence[float]) -> str:
    """Return an agent's message as text: its letter, its numbers if it is no letter, or "nothing yet"."""
    if not any(values):
        return "nothing yet"
    which = one_hot(values)
    return LETTERS[which] if which is not None else f"[{', '.join(map(number, values))}]"


class ParticleDescriber(SpaceDescriber):
    """Describes particle worlds.

    Decodes each world's vector in the order in which ``observation`` writes it.
    """

    def __init__(self, environment: Instance) -> None:
        super().__init__(environment)
        self._world: Any = environment.env.world
        self._scenario: Any = environment.env.scenario
        self._name = type(self._scenario).__module__.rpartition(".")[2]
        self._bodies = {body.name: body for body in self._world.agents}
        self._goals = Goals(self._name, self._scenario, self._world, environment.env.local_ratio)

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        said = getattr(self, f"_{self._name}", None)
        if said is None or agent not in self._bodies:
            return super().text(agent, observation, mode)
        return "\n".join(map(str, said(self._bodies[agent], Vector(np.asarray(observation)))))

    def can_draw(self, agent: AgentID) -> bool:
        """Return whether the observation contains positions, unlike those of pure speakers and listeners."""
        body = self._bodies.get(agent)
        return body is not None and body.movable and hasattr(self, f"_{self._name}")

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture:
        """Return a picture of the objects in the observation, centered on the agent."""
        body = self._bodies[agent]
        lines: list[Line] = [*getattr(self, f"_{self._name}")(body, Vector(np.asarray(observation)))]
        things = [(each.name, each.place) for each in lines if isinstance(each, SeenObject)]
        notes = [each for each in lines if not isinstance(each, SeenObject)]
        sizes = {self._sort(each.name): float(each.size) for each in self._world.entities}
        return drawn(things, notes, sizes, float(body.size))

    def legend(self, agent: AgentID) -> str:
        return (
            f"In the picture you are the black ring in the middle; its lines are {MESH:g} apart. What you do "
            "not see is not drawn."
        )

    def game(self, agent: AgentID) -> str:
        _, mates, others = self.environment.team_and_others(agent)
        with_whom = f", with {', '.join(mates)}" if mates else ""
        against = f", against {', '.join(others)}" if others else ""
        company = f"You are {agent}{with_whom}{against}."
        told = self._goals.of(self._bodies[agent]) if agent in self._bodies else ""
        return " ".join(filter(None, (super().game(agent), company, told)))

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env.max_cycles))

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        body = self._bodies.get(agent)
        if body is None or self._name == "simple_crypto" or not body.movable:
            return ""
        world = self._world
        push = (5.0 if body.accel is None else body.accel) * world.dt / body.mass
        return (
            "Places are told from where you are: right is +x, up is +y. The world reaches about 1 from its "
            f"middle. In a step you move by {number(world.dt)} of your velocity, lose "
            f"{number(world.damping * 100)} % of it, and a push adds {number(push)} to it. "
            f"Radius: {', '.join(self._sizes())}."
        )

    def _sizes(self) -> Iterator[str]:
        """Yield the name and the size of each kind of object, with its top speed if it has one."""
        kinds = {self._sort(body.name): body for body in self._world.entities}
        for kind, body in kinds.items():
            speed = "" if body.max_speed is None else f" (speed at most {number(body.max_speed)})"
            yield f"{kind} {number(body.size)}{speed}"

    def _sort(self, name: str) -> str:
        """Return an object's kind: its name without its number."""
        kind = name.replace("_", " ").rpartition(" ")[0]
        hard = self._name in ("simple_tag", "simple_world_comm")
        return "obstacle" if hard and kind == "landmark" else kind

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        words = self.environment.action_meanings(agent)
        return [ActionWord(word, _MEANINGS.get(word, "")) for word in words]

    def _how_to_act(self, agent: AgentID) -> str:
        body = self._bodies.get(agent)
        if body is None:
            return super()._how_to_act(agent)
        letters = LETTERS[: self._world.dim_c]
        if self.environment.env.continuous_actions:
            return self._continuous(agent, body, letters)
        if not (body.movable and not body.silent):
            return super()._how_to_act(agent)
        moves = "\n".join(f"- {word}: {_MEANINGS[word]}" for word in MOVES)
        return (
            f"Your action is a push and a letter that the others see, from {letters[0]} to {letters[-1]}, "
            f'written like "left, say {letters[1]}". The pushes:\n{moves}'
        )

    def _continuous(self, agent: AgentID, body: Any, letters: str) -> str:
        form = super()._how_to_act(agent)
        space = to_space(self.environment.adapter.action_space(agent))
        parts = [*(("nothing", *MOVES[1:]) if body.movable else ()), *(() if body.silent else letters)]
        if space.shape != (len(parts),):
            return form
        named = ", ".join(f"letter {part}" if part in letters else part for part in parts)
        return f"{form.rstrip('.')}: how strong each is of {named}."

    # -- one method for each world, named like its module

    def _simple(self, body: Any, seen: Vector) -> Iterator[Line]:
        yield _own_motion(velocity=seen.take(2))
        yield from self._landmarks(seen, ["landmark"])

    def _simple_adversary(self, body: Any, seen: Vector) -> Iterator[Line]:
        landmarks = self._numbered("landmark")
        target = None if body.adversary else seen.take(2)
        if target is not None:
            yield SeenObject("target", target)
        shown, places = self._nearest(seen, landmarks, "num_landmark_neighbors")
        for name, place in zip(shown, places, strict=True):
            if place != target:
                yield SeenObject(name, place)
        others, places = self._nearest(seen, self._other_agents(body), "num_agent_neighbors")
        yield from _listed(others, places)

    def _simple_crypto(self, body: Any, seen: Vector) -> Iterator[Line]:
        width = self._world.dim_c
        if body.speaker:
            yield f"The message for Bob: {_letter(seen.take(width))}"
        if not body.adversary:
            yield f"The key that only Alice and Bob know: {_letter(seen.take(width))}"
        if not body.speaker:
            yield f"Alice says: {_letter(seen.take(width))}"

    def _simple_formation(self, body: Any, seen: Vector) -> Iterator[Line]:
        yield _own_motion(seen.take(2), seen.take(2))
        yield from self._landmarks(seen, ["landmark"])

    def _simple_line(self, body: Any, seen: Vector) -> Iterator[Line]:
        yield _own_motion(seen.take(2), seen.take(2))
        yield from self._landmarks(seen, ["one end of the line", "other end of the line"])

    def _simple_push(self, body: Any, seen: Vector) -> Iterator[Line]:
        names = ["green landmark", "blue landmark"]
        yield _own_motion(velocity=seen.take(2))
        if not body.adversary:
            yield SeenObject("target", target := seen.take(2))
            seen.take(3)  # the agent's color, which is its target's
            places = seen.pairs(len(names))
            seen.take(3 * len(names))
            shown = [(n, p) for n, p in zip(names, places, strict=True) if p != target]
            yield from (SeenObject(name, place) for name, place in shown)
        else:
            yield from self._landmarks(seen, names)
        yield from self._landmarks(seen, self._other_agents(body))

    def _simple_reference(self, body: Any, seen: Vector) -> Iterator[Line]:
        (other,) = self._other_agents(body)
        yield _own_motion(velocity=seen.take(2))
        yield from self._landmarks(seen, [f"{color} landmark" for color in COLORS])
        yield f"the target of {other}: the {_color(seen.take(3))} landmark"
        yield f"{other} says: {_letter(seen.take(self._world.dim_c))}"

    def _simple_speaker_listener(self, body: Any, seen: Vector) -> Iterator[Line]:
        if not body.movable:
            yield f"the target of listener_0: the {_color(seen.take(3))} landmark"
            return
        yield _own_motion(velocity=seen.take(2))
        yield from self._landmarks(seen, [f"{color} landmark" for color in COLORS])
        yield f"speaker_0 says: {_letter(seen.take(self._world.dim_c))}"

    def _simple_spread(self, body: Any, seen: Vector) -> Iterator[Line]:
        yield _own_motion(seen.take(2), seen.take(2))
        for names, limit in (
            (self._numbered("landmark"), "num_landmark_neighbors"),
            (self._other_agents(body), "num_agent_neighbors"),
        ):
            shown, places = self._nearest(seen, names, limit)
            yield from _listed(shown, places)

    def _simple_tag(self, body: Any, seen: Vector) -> Iterator[Line]:
        yield _own_motion(seen.take(2), seen.take(2))
        obstacles, places = self._nearest(seen, self._numbered("obstacle"), "num_landmark_neighbors")
        yield from _listed(obstacles, places)
        names = self._other_agents(body)
        others, places = self._nearest(seen, names, "num_agent_neighbors")
        near = getattr(self._scenario, "num_agent_neighbors", None)
        fast = [name for name in names if not self._bodies[name].adversary] if near is None else others
        speeds = dict(zip(fast, seen.pairs(len(fast)), strict=True))
        for name, place in zip(others, places, strict=True):
            yield SeenObject(name, place, _moving(speeds.get(name, (0, 0))))

    def _simple_world_comm(self, body: Any, seen: Vector) -> Iterator[Line]:
        world, others = self._world, self._other_agents(body)
        yield _own_motion(seen.take(2), seen.take(2))
        rocks = len(world.landmarks) - len(world.food) - len(world.forests)
        kinds = (("obstacle", rocks), ("food", len(world.food)), ("forest", len(world.forests)))
        yield from self._landmarks(seen, [f"{kind} {i}" for kind, n in kinds for i in range(n)])
        places = seen.pairs(len(others))
        fast = [name for name in others if not self._bodies[name].adversary]
        if body.adversary:
            speeds, inside = seen.pairs(len(fast)), seen.take(len(world.forests))
        else:
            inside, speeds = seen.take(len(world.forests)), seen.pairs(len(fast))
        moving = dict(zip(fast, speeds, strict=True))
        for name, place in zip(others, places, strict=True):
            moves = _moving(moving.get(name, (0, 0)))
            yield SeenObject(name, place, moves) if any(place) else f"{name}: out of sight"
        hidden = [f"forest {i}" for i, flag in enumerate(inside) if flag > 0]
        if hidden:
            yield f"You are inside {' and '.join(hidden)}."
        if body.adversary:
            leader = "You said" if body.leader else f"{world.agents[0].name} says"
            yield f"{leader}: {_letter(seen.take(world.dim_c))}"

    def _collect_treasure(self, body: Any, seen: Vector) -> Iterator[Line]:
        kinds = len(self._world.treasure_types)
        yield _own_motion(place=seen.take(2), velocity=seen.take(2))
        if body.collector:
            held = one_hot(seen.take(kinds))
            yield f"You carry {'nothing' if held is None else f'{self._kind(held)} treasure'}."
        for _ in range(len(self._bodies) - 1):
            place, velocity = seen.pairs(2)
            takes, held = one_hot(seen.take(kinds)), one_hot(seen.take(kinds))
            if takes is not None:
                who = f"{self._kind(takes)} deposit"
            else:
                who = "collector" if held is None else f"collector with {self._kind(held)} treasure"
            yield SeenObject(who, place, _moving(velocity))
        for _ in self._world.landmarks:
            place, kind = seen.take(2), one_hot(seen.take(kinds))
            if kind is not None:  # a treasure that was just taken has no kind
                yield SeenObject(f"{self._kind(kind)} treasure", place)

    # -- shared by all worlds

    def _kind(self, index: int) -> str:
        return self._goals.treasures[index]

    def _other_agents(self, body: Any) -> list[AgentID]:
        return [name for name in self._bodies if name != body.name]

    def _numbered(self, kind: str) -> list[str]:
        return [f"{kind} {i}" for i in range(len(self._world.landmarks))]

    def _landmarks(self, seen: Vector, names: Sequence[str]) -> Iterator[SeenObject]:
        yield from _listed(names, seen.pairs(len(names)))

    def _nearest(self, seen: Vector, names: Sequence[str], limit: str) -> tuple[list[str], list[list[float]]]:
        """Return names and positions of visible objects; if only the nearest are visible, names are ranks."""
        near: int | None = getattr(self._scenario, limit, None)
        if near is None:
            return list(names), seen.pairs(len(names))
        kind = names[0].split()[0] if names and " " in names[0] else "other agent"
        places = seen.pairs(near)[: len(names)]
        return [f"{kind} ({i + 1}. nearest)" for i in range(len(places))], places


def _listed(names: Sequence[str], places: Sequence[Sequence[float]]) -> Iterator[SeenObject]:
    yield from map(SeenObject, names, places)


def _own_motion(velocity: Sequence[float], place: Sequence[float] | None = None) -> str:
    """Return a sentence about the agent's motion and, if known, its position."""
    sides = _sides(*velocity)
    moves = f"You move {sides}" if sides else "You are at rest"
    if place is None:
        return f"{moves}."
    at = _sides(*place)
    return f"{moves}; you are {f'{at} of' if at else 'in'} the middle."


def _color(values: Sequence[float]) -> str:
    """Return the color of a landmark from three values, of which the largest decides."""
    return COLORS[values.index(max(values))] if values else ""
