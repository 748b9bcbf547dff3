"""Describes Gymnasium's toy text environments: decoded numbers, and maps."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode, Renaming
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Describer
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.other_words import Terms, letters
from gym_gui.envs.describers.value_words import number
from gym_gui.envs.facts import Fact, atom, fact
from mosaic_worker.renaming import Names

Cell = tuple[int, int]
_STEPS: Mapping[str, Cell] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
_COUNTED = "Rows are counted from the top and columns from the left, both from 1."


def _cell(place: Cell) -> str:
    return f"row {place[0] + 1}, column {place[1] + 1}"


def _cell_fact(predicate: str, place: Cell) -> Fact:
    """Return a fact about a cell, with row and column counted from 1 as in :func:`_cell`."""
    return fact(predicate, place[0] + 1, place[1] + 1)


def _towards(start: Cell, end: Cell, names: tuple[str, str, str, str]) -> str:
    """Return the way between two cells as text, with given names for up, down, left and right."""
    rows, columns = end[0] - start[0], end[1] - start[1]
    parts = [f"{abs(n)} {names[i + (n > 0)]}" for n, i in ((rows, 0), (columns, 2)) if n]
    return ", ".join(parts) or "here"


class ToyDescriber(SpaceDescriber):
    """Base class of the describers of toy text environments.

    Attributes:
        meanings: Meaning of each action by its name, in the order of the actions.
    """

    meanings: ClassVar[Mapping[str, str]] = {}

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        return [ActionWord(each.word, self.meanings.get(each.word, "")) for each in super().actions(agent)]

    def game(self, agent: AgentID) -> str:
        return " ".join(filter(None, (super().game(agent), self.rules())))

    def rules(self) -> str:
        """Return sentences about rewards and the end of a game; ``""`` by default."""
        return ""

    def _how_to_act(self, agent: AgentID) -> str:
        form = super()._how_to_act(agent)
        if self.actions(agent):
            return form
        numbers = ", ".join(f"{i} is {word}" for i, word in enumerate(self.meanings))
        return f"{form} {numbers}."  # the JAX versions have actions without words


_GROUND: Mapping[bytes, str] = {b"H": "hole", b"G": "goal"}
"""Kinds of cells other than ice on FrozenLake's map."""
_SIGNS = "SFHG"
"""Letters of FrozenLake's map: start, ice, hole, goal."""


class _Lake(NamedTuple):
    """Parsed map of FrozenLake.

    Attributes:
        ground: Kind of each cell, by row and column.
        found: Cells of each kind other than ice.
    """

    ground: Mapping[Cell, str]
    found: Mapping[str, Sequence[Cell]]


@lru_cache(maxsize=16)
def _read_map(letters: bytes, columns: int) -> _Lake:
    """Return a parsed map with one letter per cell; cached, because the map stays the same."""
    cells = [(divmod(i, columns), letters[i : i + 1]) for i in range(len(letters))]
    return _Lake(
        {place: _GROUND.get(letter, "ice") for place, letter in cells},
        {name: [place for place, letter in cells if letter == kind] for kind, name in _GROUND.items()},
    )


class LakeDescriber(ToyDescriber):
    """Describes FrozenLake: the agent's cell on the map and the cells around it."""

    meanings: ClassVar[Mapping[str, str]] = {
        way: f"one cell {way}" for way in ("left", "down", "right", "up")
    }
    _signs: Mapping[str, str] = {sign: sign for sign in _SIGNS}

    def terms(self, agent: AgentID) -> Terms:
        return (
            super()
            .terms(agent)
            ._replace(things=("frozen lake", "ice", "hole", "goal", self.environment.title))
        )

    def other_names(self, agent: AgentID, rename: Renaming, seed: int) -> Names:
        names = super().other_names(agent, rename, seed)
        return replace(names, marks=letters(_SIGNS, seed)) if names.things else names

    def retold(self, names: Names, hide_legal: bool) -> Describer:
        twin = copy.copy(self)
        twin._signs = {**self._signs, **names.marks}
        return twin

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        at, lake = self._read(observation)
        names = ("up", "down", "left", "right")
        goals = "; ".join(_towards(at, goal, names) for goal in lake.found["goal"])
        around = ", ".join(f"{way} {ground}" for way, ground in self._around(at, lake))
        lines = [f"You are at {_cell(at)}. Goal: {goals}.", f"Next to you: {around}."]
        return "\n".join(lines if self._shared() else [*self._map(), *lines])

    def _read(self, observation: Any) -> tuple[Cell, _Lake]:
        """Return the agent's cell and the parsed map."""
        desc = self.environment.env.desc
        columns = int(desc.shape[1])
        return divmod(int(observation), columns), _read_map(desc.tobytes(), columns)

    def _around(self, at: Cell, lake: _Lake) -> Iterator[tuple[str, str]]:
        """Yield each direction with the kind of the neighboring cell."""
        for way, (rows, columns) in _STEPS.items():
            yield way, lake.ground.get((at[0] + rows, at[1] + columns), "edge")

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        at, lake = self._read(observation)
        found = [_cell_fact("at", at), *(fact("next", *each) for each in self._around(at, lake))]
        for name, places in lake.found.items():
            found += [_cell_fact(name, place) for place in places]
        return [*found, fact("size", *(int(side) for side in self.environment.env.desc.shape))]

    def rules(self) -> str:
        chance = self._chance()
        slips = (
            f"The ice is slippery: a move goes where you want with probability {number(chance)}, else to "
            "one of its two sides, each as likely. "
            if chance < 1
            else "You always go where you want. "
        )
        pays = self._rewards()
        ice = f" Every other step pays {number(pays[b'F'])}." if pays.get(b"F") else ""
        return (
            f"{slips}The goal pays {number(pays.get(b'G', 0))} and a hole {number(pays.get(b'H', 0))}; both "
            f"end the game.{ice} Against the edge you stay."
        )

    def _rewards(self) -> dict[bytes, float]:
        """Return the reward for stepping onto each kind of cell, by letter."""
        env, paid = self.environment.env, dict[bytes, float]()
        ground = env.desc.reshape(-1)
        for start, moves in env.P.items():
            if ground[start] not in b"GH":
                for outcomes in moves.values():
                    for _, there, reward, _ in outcomes:
                        kind = bytes(ground[there])
                        paid[kind if kind in _GROUND else b"F"] = float(reward)
        return paid

    def _chance(self) -> float:
        """Return the probability that a move goes where the agent wants, from the transition table."""
        for moves in self.environment.env.P.values():
            if len(moves[0]) == 3:
                return float(moves[0][1][0])
        return 1.0

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        told = "\n".join(("The map:", *self._map())) if self._shared() else "You are shown the map."
        start, ice, hole, goal = (self._signs[sign] for sign in _SIGNS)
        return f"{told}\n{start} is the start, {ice} ice, {hole} a hole, {goal} the goal. {_COUNTED}"

    def _map(self) -> list[str]:
        signs = self._signs
        return [
            "".join(signs.get(sign := cell.decode(), sign) for cell in row)
            for row in self.environment.env.desc
        ]

    def _shared(self) -> bool:
        """Return whether all instances have the same map, so that the briefing can contain it."""
        spec: Any = getattr(self.environment.env, "spec", None)
        asked: Mapping[str, Any] = spec.kwargs if spec is not None else {}
        return asked.get("desc") is not None or asked.get("map_name", "4x4") is not None


class CliffDescriber(ToyDescriber):
    """Describes CliffWalking: a cell in 4 rows of 12 columns, the last row with the cliff."""

    meanings: ClassVar[Mapping[str, str]] = {
        way: f"one cell {way}" for way in ("up", "right", "down", "left")
    }
    _SHAPE: ClassVar[Cell] = (4, 12)
    _GOAL: ClassVar[Cell] = (3, 11)

    def terms(self, agent: AgentID) -> Terms:
        return super().terms(agent)._replace(things=("cliff", "goal", self.environment.title))

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        at = divmod(int(np.asarray(observation).reshape(-1)[0]), self._SHAPE[1])
        around = ", ".join(f"{way} {self._ground((at[0] + r, at[1] + c))}" for way, (r, c) in _STEPS.items())
        goal = _towards(at, self._GOAL, ("up", "down", "left", "right"))
        return f"You are at {_cell(at)}. Goal: {goal}.\nNext to you: {around}."

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        at = divmod(int(np.asarray(observation).reshape(-1)[0]), self._SHAPE[1])
        around = ((way, self._ground((at[0] + r, at[1] + c))) for way, (r, c) in _STEPS.items())
        return [
            _cell_fact("at", at),
            _cell_fact("goal", self._GOAL),
            *(fact("next", *each) for each in around),
        ]

    def _ground(self, place: Cell) -> str:
        if not (0 <= place[0] < self._SHAPE[0] and 0 <= place[1] < self._SHAPE[1]):
            return "edge"
        if place == self._GOAL:
            return "goal"
        return "cliff" if place[0] == self._GOAL[0] and place[1] else "free"

    def rules(self) -> str:
        slips = (
            " It is slippery: a move goes where you want in one of three cases, else to one of its two sides."
            if getattr(self.environment.env, "is_slippery", False)
            else ""
        )
        return (
            "Every step costs 1; one into the cliff costs 100 and leads back to the start. The game ends at "
            f"the goal. Against the edge you stay.{slips}"
        )

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            "There are 4 rows of 12 columns. You start at row 4, column 1; the goal is at row 4, column 12, "
            f"and all between them is the cliff. {_COUNTED}"
        )


class TaxiDescriber(ToyDescriber):
    """Describes Taxi: taxi, passenger and destination, decoded from one number."""

    meanings: ClassVar[Mapping[str, str]] = {
        "south": "drive one cell down",
        "north": "drive one cell up",
        "east": "drive one cell right",
        "west": "drive one cell left",
        "pickup": "let the passenger in, who waits where the taxi is",
        "dropoff": "let the passenger out, at a stand",
    }
    _NAMES: ClassVar[tuple[str, ...]] = ("R", "G", "Y", "B")
    _WAYS: ClassVar[tuple[str, str, str, str]] = ("north", "south", "west", "east")

    def terms(self, agent: AgentID) -> Terms:
        things = ("taxi", "passenger", "stand", "destination", self.environment.title)
        return super().terms(agent)._replace(things=things)

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        env = self.environment.env
        row, column, passenger, destination = (int(part) for part in env.decode(int(observation)))
        at = (row, column)
        waits = "in the taxi" if passenger == 4 else f"waits at {self._stand(at, passenger)}"
        return (
            f"Taxi: {_cell(at)}. Passenger: {waits}. Destination: {self._stand(at, destination)}.\n"
            f"Open ways: {', '.join(self._open(at))}."
        )

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        env = self.environment.env
        row, column, passenger, destination = (int(part) for part in env.decode(int(observation)))
        stands = [(atom(name), place) for name, place in zip(self._NAMES, env.locs, strict=True)]
        waits = "taxi" if passenger == len(stands) else stands[passenger][0]
        return [
            _cell_fact("at", (row, column)),
            fact("passenger", waits),
            fact("destination", stands[destination][0]),
            *(fact("stand", name, place[0] + 1, place[1] + 1) for name, place in stands),
            *(fact("open", way) for way in self._open((row, column))),
        ]

    def _stand(self, at: Cell, index: int) -> str:
        place: Cell = self.environment.env.locs[index]
        return f"{self._NAMES[index]} ({_cell(place)}; {_towards(at, place, self._WAYS)})"

    def _open(self, at: Cell) -> Iterator[str]:
        desc, (row, column) = self.environment.env.desc, at
        if row > 0:
            yield "north"
        if row < desc.shape[0] - 3:
            yield "south"
        if desc[1 + row, 2 * column] == b":":
            yield "west"
        if desc[1 + row, 2 * column + 2] == b":":
            yield "east"

    def rules(self) -> str:
        env = self.environment.env
        slips = ""
        if len(env.P[0][0]) > 1:
            slips = (
                f" It rains: a drive goes where you want with probability {number(env.P[0][0][0][0])}, else "
                "to one of its two sides; against a wall you stay."
            )
        fickle = (
            " With your first drive after they got in, the passenger may want to go elsewhere, with "
            f"probability {number(env.fickle_probability)}."
            if getattr(env, "fickle_passenger", False)
            else ""
        )
        return (
            "Every step costs 1, letting the passenger in or out where that is not possible 10. At the "
            "destination letting them out pays 20 and ends the game; at another stand they only get out."
            f"{slips}{fickle}"
        )

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        drawn = "\n".join("".join(cell.decode() for cell in row) for row in self.environment.env.desc)
        return (
            f"The map:\n{drawn}\nR (red), G (green), Y (yellow) and B (blue) are the stands. A | between two "
            "cells is a wall, a : is none; there are no walls across. How far a stand is, is counted without "
            f"walls. {_COUNTED}"
        )


class BlackjackDescriber(ToyDescriber):
    """Describes Blackjack: the player's sum, whether an ace counts as 11, and the dealer's open card."""

    meanings: ClassVar[Mapping[str, str]] = {
        "stick": "take no more; the dealer draws up to 17 or more",
        "hit": "take another card",
    }

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        total, card, ace = (int(each) for each in np.asarray(observation).reshape(-1))
        counted = "an ace among them counts as 11" if ace else "no ace counts as 11"
        return f"Your cards make {total}; {counted}.\nThe dealer shows {'an ace' if card == 1 else card}."

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        total, card, ace = (int(each) for each in np.asarray(observation).reshape(-1))
        return [
            fact("sum", total),
            fact("dealer_shows", card),
            fact("usable_ace", "yes" if ace else "no"),
        ]

    def rules(self) -> str:
        env = self.environment.env
        natural = ""
        if getattr(env, "sab", False):
            natural = " An ace and a ten as your first two cards win, unless the dealer has such two as well."
        elif getattr(env, "natural", False):
            natural = " Winning with an ace and a ten as your first two cards is rewarded with 1.5."
        return (
            "Kings, queens and jacks count 10, an ace 11 where that does not lead above 21 and else 1. Above "
            f"21 you lose at once. Winning is rewarded with 1, losing with -1, a draw with 0.{natural}"
        )


DESCRIBERS: Mapping[str, type[ToyDescriber]] = {
    "toy_text.frozen_lake": LakeDescriber,
    "toy_text.cliffwalking": CliffDescriber,
    "toy_text.taxi": TaxiDescriber,
    "toy_text.blackjack": BlackjackDescriber,
    "tabular.cliffwalking": CliffDescriber,
    "tabular.blackjack": BlackjackDescriber,
}
"""Describer classes of toy text environments, by module within Gymnasium."""
