"""Describes Crafter: the player's state, inventory and surroundings."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Frame, Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.directions import nearest, offset_text
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.facts import Fact, atom, fact

NEEDS = ("health", "food", "drink", "energy")
_WAYS = (("left", (-1, 0)), ("right", (1, 0)), ("up", (0, -1)), ("down", (0, 1)))
_LISTED = 3
"""Largest number of positions that are listed for one kind of object."""
_SIGNS: Mapping[str, str] = {
    "grass": ".",
    "sand": ":",
    "path": "_",
    "water": "w",
    "lava": "L",
    "stone": "#",
    "tree": "T",
    "coal": "c",
    "iron": "i",
    "diamond": "d",
    "table": "t",
    "furnace": "f",
    "young plant": "p",
    "ripe plant": "P",
    "cow": "C",
    "zombie": "Z",
    "skeleton": "S",
    "arrow flying left": "<",
    "arrow flying right": ">",
    "arrow flying up": "^",
    "arrow flying down": "v",
}
"""Sign on the text map for each content of a cell in Crafter."""
_SELF, _UNSEEN, _UNKNOWN = "@", "?", "*"
HIDDEN = 0.7
"""Share of night noise from which a cell is left out, because the picture does not show the cell either."""
_EDGE = "the edge of the world"

Place = tuple[int, int]


class CrafterDescriber(SpaceDescriber):
    """Describes what Crafter's picture shows, read from the world from which the picture is drawn."""

    def can_say(self, agent: AgentID) -> bool:
        return True

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return "\n".join(self._lines())

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        player = self._game._player
        around = self.seen()
        facing, looks = _facing(player)
        found = [fact("have", atom(name), int(n)) for name, n in player.inventory.items()]
        found += [fact("looking", looks), fact("facing", atom(around.get(facing, _EDGE)))]
        found.append(fact("night" if float(self._game._world.daylight) < 0.5 else "day"))
        if player.sleeping:
            found.append(fact("asleep"))
        # Position: columns to the right of the player, rows down.
        return found + [fact(atom(name), *place) for place, name in around.items()]

    def _lines(self) -> Iterator[str]:
        player = self._game._player
        has: Mapping[str, int] = player.inventory
        yield f"{', '.join(f'{need} {has[need]}' for need in NEEDS).capitalize()} (of 9 each)."
        things = [f"{n} {_word(name)}" for name, n in has.items() if n and name not in NEEDS]
        yield f"You carry {', '.join(things) or 'nothing'}."
        around = self.seen()
        daylight = float(self._game._world.daylight)
        dark = ": what is further away is lost in the dark" if self._hidden(daylight) else ""
        sky = f"It is night{dark}." if daylight < 0.5 else "It is day."
        yield f"{sky} {self._sleeps(has)}" if player.sleeping else sky
        facing, looks = _facing(player)
        yield f"You look {looks}, at {_a(around.get(facing, _EDGE))}."
        beside = [f"{name} {around.get(step, _EDGE)}" for name, step in _WAYS if step != facing]
        yield f"Beside you: {', '.join(beside)}."
        yield "In view:"
        yield from self._listed(around)
        yield "Map:"
        yield from self._map(around)

    def _map(self, around: Mapping[Place, str]) -> Iterator[str]:
        """Yield the rows of the text map from the top, which shows all objects, not only the nearest."""
        (west, north), (east, south) = self._corners
        for y in range(north, south + 1):
            cells = ((x, y) for x in range(west, east + 1))
            yield "".join(
                _SELF if cell == (0, 0) else _SIGNS.get(around[cell], _UNKNOWN) if cell in around else _UNSEEN
                for cell in cells
            )

    def _listed(self, around: Mapping[Place, str]) -> Iterator[str]:
        """Yield a line for each kind of object, with its nearest positions."""
        kinds: dict[str, list[Place]] = {}
        for place in self._nearest:
            if (kind := around.get(place)) is not None:
                kinds.setdefault(kind, []).append(place)
        for kind, places in kinds.items():
            if kind == "grass" and abs(places[0][0]) + abs(places[0][1]) == 1:
                continue  # grass is everywhere, and the cells beside the player are described already
            more = f" ({len(places)} in all)" if len(places) > _LISTED else ""
            yield f"- {kind}: {'; '.join(offset_text(*place) for place in places[:_LISTED])}{more}"

    def _sleeps(self, has: Mapping[str, int]) -> str:
        """Return a sentence on how being asleep affects the next action."""
        if has["energy"] < _rules().items["energy"]["max"]:
            return "You are asleep: whatever you choose, you sleep on."
        return "You are asleep, and wake up with your next action."

    def seen(self) -> dict[Place, str]:
        """Return the content of each visible cell, by position relative to the player (right, down)."""
        world, player = self._game._world, self._game._player
        x, y = (int(n) for n in player.pos)
        names: Mapping[int, str] = world._mat_names
        materials, objects = world._mat_map, world._obj_map
        hidden = self._hidden(float(world.daylight))
        (west, north), (east, south) = self._corners
        left, top = max(x + west, 0), max(y + north, 0)
        view = slice(left, x + east + 1), slice(top, y + south + 1)
        found: dict[Place, str] = {}
        for column, (grounds, things) in enumerate(
            zip(materials[view].tolist(), objects[view].tolist(), strict=True), left - x
        ):
            for row, (ground, thing) in enumerate(zip(grounds, things, strict=True), top - y):
                place = column, row
                if place != (0, 0) and place not in hidden:
                    found[place] = _creature(world._objects[thing]) if thing else names[ground]
        return found

    @cached_property
    def _cells(self) -> dict[Place, float]:
        """Cells of the picture by position relative to the player, with their share of the night's noise."""
        wide, high = (int(n) for n in self._game._local_view._grid)
        return {
            (x - wide // 2, y - high // 2): 1
            - float(np.exp(-2 * (_along(x, wide) ** 2 + _along(y, high) ** 2)))
            for x in range(wide)
            for y in range(high)
        }

    @cached_property
    def _corners(self) -> tuple[Place, Place]:
        """Positions of the top left and the bottom right cell of the picture, relative to the player."""
        return min(self._cells), max(self._cells)

    @cached_property
    def _nearest(self) -> Sequence[Place]:
        """Cells of the picture, the nearest first."""
        return nearest(self._cells)

    def _hidden(self, daylight: float) -> set[Place]:
        amount = 2 * (0.5 - daylight)
        if amount <= HIDDEN:
            return set()
        return {place for place, share in self._cells.items() if amount * share > HIDDEN}

    def game(self, agent: AgentID) -> str:
        rules = _rules()
        wide, high = (int(n) for n in self._game._local_view._grid)
        goals = ", ".join(each.replace("_", " ") for each in rules.achievements)
        paid = (
            "A step in which you reach any for the first time is worth 1, however many they are. Losing a "
            "point of health costs 0.1, winning one back is worth as much."
            if self._game._reward
            else "There are no rewards."
        )
        return (
            "The game is Crafter: you survive in a world of cells seen from above, of which you see "
            f"{wide} by {high} around you. There are {len(rules.achievements)} achievements: {goals}. "
            f"{paid} Food, drink and energy go down with time; at 0 of one of them you lose health, else "
            "you win it back. A cow is worth 6 food, a ripe plant 4, water 1 drink. Sleep gives energy: you "
            "wake up when it is full (only that is the achievement), or when something hurts you, and until "
            "then none of your actions is carried out. Zombies on grass take 2 health when they are beside "
            "you, 7 when you sleep; skeletons in caves shoot arrows that take 2; lava kills. Cows and "
            "skeletons have 3 health, zombies 5; a hit of yours takes 1, with a sword of wood 2, of stone 3, "
            "of iron 5. A plant is ripe some 300 steps after it was placed, if no creature comes beside it. "
            f"You can carry 9 of each thing. The game ends when your health is 0."
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self._game._length) or None)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            'Places are counted in cells from where you stand: "2 left, 1 up". You act on the cell that you '
            "look at; you look where you last tried to go. You can walk on grass, sand and path. "
            f"Of each kind the {_LISTED} nearest are told; the map below has all that you see, up is up: you "
            f"are {_SELF}, {', '.join(f'{sign} {name}' for name, sign in _SIGNS.items())}, "
            f"{_UNSEEN} what you do not see."
        )

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        return [ActionWord(word, _meaning(word)) for word in self.environment.action_meanings(agent)]

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int]:
        wide, high = (int(n) for n in self._game._view)  # the last rows show the inventory
        return high, wide

    @property
    def _game(self) -> Any:
        return self.environment.env.game


def _along(index: int, count: int) -> float:
    """Return the center of a cell along one side of the picture, from -1 to 1 as in the noise formula."""
    return (2 * index + 1) / count - 1


def _facing(thing: Any) -> tuple[Place, str]:
    """Return the cell that a creature faces, relative to the creature, and the direction's name."""
    facing = (int(thing.facing[0]), int(thing.facing[1]))
    return facing, next(name for name, step in _WAYS if step == facing)


def _creature(thing: Any) -> str:
    kind = type(thing).__name__.lower()
    if kind == "plant":
        return "ripe plant" if thing.ripe else "young plant"
    if kind == "arrow":
        return f"arrow flying {_facing(thing)[1]}"
    return kind


def _rules() -> Any:
    """Return Crafter's module of rules: requirements, results and places."""
    return importlib.import_module("crafter.constants")


def _word(item: str) -> str:
    return item.replace("_", " ")


def _a(thing: str) -> str:
    """Return the name of an object in Crafter, with an article if it is countable."""
    if thing in ("water", "grass", "stone", "path", "sand", "lava", "coal", "iron", _EDGE):
        return thing
    return f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}"


def _uses(needed: Mapping[str, int]) -> str:
    return " and ".join(f"{n} {_word(name)}" for name, n in needed.items())


def _meaning(action: str) -> str:
    """Return what an action in Crafter does, with its requirements from the package."""
    rules = _rules()
    what, _, thing = action.partition("_")
    if what == "move":
        return f"look {thing} and go one cell {thing}, if it is free"
    if what == "place":
        rule = rules.place[thing]
        return f"put it where you look, onto {', '.join(rule['where'])}; takes {_uses(rule['uses'])}"
    if what == "make":
        rule = rules.make[thing]
        nearby = " and a ".join(rule["nearby"])
        return f"takes {_uses(rule['uses'])}, and a {nearby} beside you or across a corner"
    if action == "do":
        tools = [
            f"{name} needs {' and '.join(_a(_word(tool)) for tool in rule['require'])}"
            for name, rule in rules.collect.items()
            if rule["require"]
        ]
        return (
            "act on what you look at: gather (tree, stone, coal, iron, diamond, now and then a sapling from "
            f"grass), drink water, hit a creature, eat a cow or ripe plant ({', '.join(tools)})"
        )
    return {"noop": "do nothing", "sleep": "fall asleep, if your energy is not full"}.get(action, "")
