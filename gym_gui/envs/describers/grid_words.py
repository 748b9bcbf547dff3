"""What an agent on a grid sees, in words: MiniGrid, BabyAI and MultiGrid write it down alike.

A view is (width, height, 3): kind, colour and state of each cell, turned so that the agent looks up. It
stands in the middle of the lowest row, and what it carries is in its own cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gym_gui.envs.facts import Fact, atom, fact

KINDS = ("unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava", "agent")
"""Of a cell, by number; packages may add some."""
COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
DOORS = ("open", "closed", "locked")
COMPASS = ("east", "south", "west", "north")
"""Directions by number."""
_UNSEEN, _EMPTY, _WALL, _FLOOR, _DOOR, _GOAL, _LAVA, _AGENT = 0, 1, 2, 3, 4, 8, 9, 10
_PLAIN = frozenset({_UNSEEN, _EMPTY, _WALL})
_WALKABLE = frozenset({_EMPTY, _FLOOR, _GOAL})

Cells = Sequence[Sequence[Sequence[int]]]


class Thing(NamedTuple):
    """Something in view.

    Attributes:
        name: What it is, for example ``"locked red door"``.
        ahead: Cells in front of the agent; negative behind it.
        right: Cells to its right; negative to its left.
        said: The same as a predicate with its first terms: ``("door", "red", "locked")``.
    """

    name: str
    ahead: int
    right: int
    said: tuple[str, ...]

    @property
    def fact(self) -> Fact:
        """What it is and where: ``door(red, locked, 2, -1)``."""
        return fact(*self.said, self.ahead, self.right)


class GridView:
    """One view, read.

    Args:
        image: (width, height, 3).
        kinds: Names of the kinds of cells.
        agents: What agents that are known by name are called, by their place in the view, and whose they are:
            ``"green_1, your team-mate, looking east"``.
        stands: Column and row of the agent; ``None``: the middle of the lowest row.

    Attributes:
        carried: What the agent carries, ``""`` where nothing.
        things: All that is no wall and no empty floor, the nearest first.
    """

    def __init__(
        self,
        image: Any,
        kinds: Sequence[str] = KINDS,
        agents: Mapping[tuple[int, int], str] | None = None,
        stands: tuple[int, int] | None = None,
    ) -> None:
        self._cells: Cells = image.tolist()
        self._width, self._height = len(self._cells), len(self._cells[0])
        self._kinds, self._agents = kinds, agents or {}
        self._middle, self._bottom = stands or (self._width // 2, self._height - 1)
        own = self._cells[self._middle][self._bottom]
        self.carried = "" if own[0] in _PLAIN or own[0] in (_FLOOR, _AGENT) else self.name(own)
        self.things = self._things()

    def _things(self) -> list[Thing]:
        found: list[Thing] = []
        for x, column in enumerate(self._cells):
            for y, cell in enumerate(column):
                if cell[0] in _PLAIN or (x == self._middle and y == self._bottom):
                    continue
                place = (self._bottom - y, x - self._middle)
                named = self._agents.get(place)
                said = ("teammate", named.partition(",")[0]) if named else self.terms(cell)
                found.append(Thing(named or self.name(cell), *place, said))
        return sorted(found, key=lambda each: (abs(each.ahead) + abs(each.right), -each.ahead, each.right))

    def name(self, cell: Sequence[int]) -> str:
        """A cell in words."""
        kind, colour, state = cell[0], cell[1], cell[2]
        word = self._kinds[kind] if kind < len(self._kinds) else f"thing of kind {kind}"
        if kind == _LAVA:
            return "lava"
        hue = COLOURS[colour] if colour < len(COLOURS) else ""
        if kind == _DOOR:
            return f"{DOORS[state] if state < len(DOORS) else 'strange'} {hue} door"
        if kind == _AGENT:
            return f"{hue} agent{_looking(state)}"
        return f"{hue} {word}".strip()

    def terms(self, cell: Sequence[int]) -> tuple[str, ...]:
        """A cell as a predicate with what tells it from others of its kind."""
        kind, colour, state = cell[0], cell[1], cell[2]
        word = atom(self._kinds[kind]) if kind < len(self._kinds) else f"kind_{kind}"
        if kind in (_LAVA, _WALL, _EMPTY):
            return (word,)
        hue = COLOURS[colour] if colour < len(COLOURS) else "grey"
        if kind == _DOOR:
            return (word, hue, DOORS[state] if state < len(DOORS) else "strange")
        if kind == _AGENT:
            looks = COMPASS[state % 100] if state % 100 < len(COMPASS) else "away"
            return (word, hue, looks, "ball" if state >= 100 else "nothing")
        return (word, hue)

    def facts(self) -> Iterator[Fact]:
        """All that is in view: things, walls and free floor by their place, and what is directly ahead."""
        yield from (thing.fact for thing in self.things)
        for x, column in enumerate(self._cells):
            for y, cell in enumerate(column):
                place = (self._bottom - y, x - self._middle)
                if cell[0] == _WALL:
                    yield fact("wall", *place)
                elif place != (0, 0) and self._free(cell) and place not in self._agents:
                    yield fact("free", *place)
        before = self.at(1, 0)
        if before is not None and before[0] != _UNSEEN:
            yield fact("facing", "teammate" if (1, 0) in self._agents else self.terms(before)[0])
        own = self._cells[self._middle][self._bottom]
        yield fact("carrying", *(self.terms(own) if self.carried else ("nothing",)))

    def at(self, ahead: int, right: int) -> Sequence[int] | None:
        """The cell so far ahead and to the right; ``None`` outside the view."""
        x, y = self._middle + right, self._bottom - ahead
        return self._cells[x][y] if 0 <= x < self._width and 0 <= y < self._height else None

    def way(self, ahead: int, right: int) -> str:
        """How far one can see that one can go in a direction, and what ends it.

        Args:
            ahead: 1 for straight on, 0 for a side.
            right: 1 for the right side, -1 for the left, 0 for straight on.
        """
        free = 0
        while (cell := self.at((free + 1) * ahead, (free + 1) * right)) is not None and self._free(cell):
            free += 1
        steps = f"{free} free cell{'s' * (free != 1)}"
        if cell is None or cell[0] == _UNSEEN:
            return f"{steps}, then out of sight"
        named = self._agents.get(((free + 1) * ahead, (free + 1) * right), "").partition(",")[0]
        what = "wall" if cell[0] == _WALL else named or self.name(cell).partition(" looking ")[0]
        return f"{steps}, then {what}" if free else what

    def _free(self, cell: Sequence[int]) -> bool:
        return cell[0] in _WALKABLE or (cell[0] == _DOOR and cell[2] == 0)


def _looking(state: int) -> str:
    """Which way an agent looks, and whether it has the ball (100 is added to its direction)."""
    looks = f" looking {COMPASS[state % 100]}" if state % 100 < len(COMPASS) else ""
    return f"{looks} with the ball" if state >= 100 else looks


def place(ahead: int, right: int) -> str:
    """``"2 ahead, 1 left"``."""
    parts: list[str] = []
    if ahead:
        parts.append(f"{abs(ahead)} {'ahead' if ahead > 0 else 'behind'}")
    if right:
        parts.append(f"{abs(right)} {'right' if right > 0 else 'left'}")
    return ", ".join(parts)


def listed(things: Iterable[Thing]) -> list[str]:
    """A line for each name, with every place where it is."""
    places: dict[str, list[str]] = {}
    for thing in things:
        places.setdefault(thing.name, []).append(place(thing.ahead, thing.right))
    return [f"- {name}: {'; '.join(where)}" for name, where in places.items()]


def surroundings(view: GridView) -> list[str]:
    """Lines that say what is around an agent: ways, and things in view."""
    lines = [f"Ahead: {view.way(1, 0)}. Left: {view.way(0, -1)}. Right: {view.way(0, 1)}."]
    if view.things:
        lines += ["In view:", *listed(view.things)]
    else:
        lines.append("Nothing else is in view.")
    return lines


def absolute(own: Sequence[int], facing: int, ahead: int, right: int) -> tuple[int, int]:
    """Row and column of what is so far ahead and to the right: the other way round than :func:`relative`."""
    x, y = ((1, 0), (0, 1), (-1, 0), (0, -1))[facing]
    return int(own[1]) + y * ahead + x * right, int(own[0]) + x * ahead - y * right


def in_view(size: int, ahead: int, right: int) -> tuple[int, int] | None:
    """Row and column in a view of so many cells a side, whose agent looks up from the middle of its foot."""
    row, column = size - 1 - ahead, size // 2 + right
    return (row, column) if 0 <= row < size and 0 <= column < size else None


def relative(own: Sequence[int], facing: int, other: Sequence[int]) -> tuple[int, int]:
    """Where ``other`` is from ``own``: cells ahead and to the right of who looks ``facing``."""
    x, y = int(other[0]) - int(own[0]), int(other[1]) - int(own[1])
    ahead = ((1, 0), (0, 1), (-1, 0), (0, -1))[facing]
    return x * ahead[0] + y * ahead[1], -x * ahead[1] + y * ahead[0]
