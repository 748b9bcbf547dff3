"""Describes an agent's view of a grid, for MiniGrid, BabyAI and MultiGrid.

A view is an array of shape (width, height, 3): kind, color and state of each cell, turned so that the agent
looks up. The agent is in the middle of the bottom row, and its own cell contains the object that it carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from numpy.typing import NDArray

from gym_gui.envs.facts import Fact, atom, fact

KINDS = ("unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava", "agent")
"""Kinds of grid cells, by number. Packages may add more."""
COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
THINGS = ("wall", "floor", "door", "key", "ball", "box", "goal", "lava")
"""Kinds of grid cells whose names can be replaced."""
DOORS = ("open", "closed", "locked")
COMPASS = ("east", "south", "west", "north")
"""Directions on a grid, by number."""
_UNSEEN, _EMPTY, _WALL, _FLOOR, _DOOR, _GOAL, _LAVA, _AGENT = 0, 1, 2, 3, 4, 8, 9, 10
_PLAIN = frozenset({_UNSEEN, _EMPTY, _WALL})
_WALKABLE = frozenset({_EMPTY, _FLOOR, _GOAL})
_SIGNS = {_UNSEEN: "?", _EMPTY: ".", _WALL: "#"}
_SELF, _THING = "^", "o"
MAP = (
    'Below "Map:" the same cells are drawn, turned so that you look up: ^ is you, # a wall, . a free cell, '
    "o something that is named above the map, ? a cell that you do not see."
)
"""Sentence that explains :meth:`GridView.drawn` in prompts."""
_PLACES = 4096
"""Number of cached positions, which is larger than the number of cells in a view."""


class Cell(NamedTuple):
    """Content of a grid cell, as name and as terms of a fact.

    Attributes:
        name: Name, for example ``"locked red door"``.
        said: Predicate and first terms of the fact: ``("door", "red", "locked")``.
    """

    name: str
    said: tuple[str, ...]


class CellWords(dict[tuple[int, int, int], Cell]):
    """Cache of the contents of grid cells by kind, color and state.

    Args:
        kinds: Names of the kinds of cells, by number.
    """

    def __init__(self, kinds: Sequence[str] = KINDS) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, cell: tuple[int, int, int]) -> Cell:
        found = self[cell] = Cell(self.name(*cell), self.terms(*cell))
        return found

    def name(self, kind: int, color: int, state: int) -> str:
        """Return the name of a cell's content, such as ``"locked red door"``."""
        word = self._kinds[kind] if kind < len(self._kinds) else f"thing of kind {kind}"
        if kind == _LAVA:
            return "lava"
        hue = COLORS[color] if color < len(COLORS) else ""
        if kind == _DOOR:
            return f"{DOORS[state] if state < len(DOORS) else 'strange'} {hue} door"
        if kind == _AGENT:
            return f"{hue} agent{_looking(state)}"
        return f"{hue} {word}".strip()

    def terms(self, kind: int, color: int, state: int) -> tuple[str, ...]:
        """Return a cell's content as predicate and terms that distinguish it from others of its kind."""
        word = atom(self._kinds[kind]) if kind < len(self._kinds) else f"kind_{kind}"
        if kind in (_LAVA, _WALL, _EMPTY):
            return (word,)
        hue = COLORS[color] if color < len(COLORS) else "grey"
        if kind == _DOOR:
            return (word, hue, DOORS[state] if state < len(DOORS) else "strange")
        if kind == _AGENT:
            looks = COMPASS[state % 100] if state % 100 < len(COMPASS) else "away"
            return (word, hue, looks, "ball" if state >= 100 else "nothing")
        return (word, hue)


_MINIGRID = CellWords()


class GridObject(NamedTuple):
    """Object in an agent's view of a grid.

    Attributes:
        name: Name, for example ``"locked red door"``.
        ahead: Cells ahead of the agent; negative for behind.
        right: Cells to the agent's right; negative for left.
        said: Predicate and first terms of the fact: ``("door", "red", "locked")``.
    """

    name: str
    ahead: int
    right: int
    said: tuple[str, ...]

    @property
    def fact(self) -> Fact:
        """Fact with kind and position: ``door(red, locked, 2, -1)``."""
        return fact(*self.said, self.ahead, self.right)


class GridView:
    """Decoded view of a grid, as one agent observes it.

    Args:
        image: Array of shape (width, height, 3) with kind, color and state of each cell.
        words: Names of the cells' contents.
        agents: Description of agents with known names, by their position in the view: ``"green_1, your
            team-mate, looking east"``.
        stands: Column and row of the agent; ``None`` for the middle of the bottom row.

    Attributes:
        carried: Name of the object that the agent carries; ``""`` for none.
        things: All objects except walls and empty floor, the nearest first.
    """

    def __init__(
        self,
        image: NDArray[Any],
        words: CellWords = _MINIGRID,
        agents: Mapping[tuple[int, int], str] | None = None,
        stands: tuple[int, int] | None = None,
    ) -> None:
        self._width, self._height = int(image.shape[0]), int(image.shape[1])
        self._words, self._agents = words, agents or {}
        self._middle, self._bottom = stands or (self._width // 2, self._height - 1)
        # Column by column, downward: the cell ahead has the index - 1, that to the right + height.
        numbers: list[int] = image.ravel().tolist()
        self._kinds, self._colors, self._states = numbers[::3], numbers[1::3], numbers[2::3]
        self._own = self._middle * self._height + self._bottom
        own = self._kinds[self._own]
        self.carried = "" if own in _PLAIN or own in (_FLOOR, _AGENT) else self._cell(self._own).name
        self.things = self._things()

    def _cell(self, index: int) -> Cell:
        return self._words[self._kinds[index], self._colors[index], self._states[index]]

    def _place(self, index: int) -> tuple[int, int]:
        """Return the position of a cell: cells ahead of the agent, and cells to its right."""
        column, row = divmod(index, self._height)
        return self._bottom - row, column - self._middle

    def _things(self) -> list[GridObject]:
        found: list[tuple[int, int, int, int]] = []
        for index, kind in enumerate(self._kinds):
            if kind not in _PLAIN and index != self._own:
                ahead, right = self._place(index)
                found.append((abs(ahead) + abs(right), -ahead, right, index))
        found.sort()
        return [self._thing(-behind, right, index) for _, behind, right, index in found]

    def _thing(self, ahead: int, right: int, index: int) -> GridObject:
        if self._agents and (named := self._agents.get((ahead, right))):
            return GridObject(named, ahead, right, ("teammate", named.partition(",")[0]))
        name, said = self._cell(index)
        return GridObject(name, ahead, right, said)

    def facts(self) -> Iterator[Fact]:
        """Yield all facts in view: objects, walls and free floor by position, and the cell ahead."""
        yield from (thing.fact for thing in self.things)
        for index, kind in enumerate(self._kinds):
            if kind == _WALL:
                yield _placed("wall", *self._place(index))
            elif self._is_free(index) and index != self._own:
                place = self._place(index)
                if place not in self._agents:
                    yield _placed("free", *place)
        before = self._own - 1
        if self._bottom > 0 and self._kinds[before] != _UNSEEN:
            yield fact("facing", "teammate" if (1, 0) in self._agents else self._cell(before).said[0])
        yield fact("carrying", *(self._cell(self._own).said if self.carried else ("nothing",)))

    def drawn(self) -> Iterator[str]:
        """Yield the rows of the view as text, the farthest first, with one sign per cell.

        The map shows where walls are and where the view ends; without it, different views could have the same
        text.
        """
        signs = [_SIGNS.get(kind, _THING) for kind in self._kinds]
        signs[self._own] = _SELF
        yield from ("".join(signs[row :: self._height]) for row in range(self._height))

    def way(self, ahead: int, right: int) -> str:
        """Return the number of free cells in a direction, and the object after them, as text.

        Args:
            ahead: 1 for straight ahead, 0 for a side.
            right: 1 for the right side, -1 for the left, 0 for straight ahead.
        """
        room = self._bottom if ahead else self._width - 1 - self._middle if right > 0 else self._middle
        step = right * self._height - ahead
        end = self._own + step
        free = 0
        while free < room and self._is_free(end):
            free, end = free + 1, end + step
        steps = f"{free} free cell{'s' * (free != 1)}"
        if free == room or self._kinds[end] == _UNSEEN:
            return f"{steps}, then out of sight"
        named = self._agents.get(((free + 1) * ahead, (free + 1) * right), "").partition(",")[0]
        wall = self._kinds[end] == _WALL
        what = "wall" if wall else named or self._cell(end).name.partition(" looking ")[0]
        return f"{steps}, then {what}" if free else what

    def _is_free(self, index: int) -> bool:
        kind = self._kinds[index]
        return kind in _WALKABLE or (kind == _DOOR and self._states[index] == 0)


@lru_cache(maxsize=_PLACES)
def _placed(predicate: str, ahead: int, right: int) -> Fact:
    return fact(predicate, ahead, right)


def _looking(state: int) -> str:
    """Return the direction of an agent as text, and whether it has the ball (its direction plus 100)."""
    looks = f" looking {COMPASS[state % 100]}" if state % 100 < len(COMPASS) else ""
    return f"{looks} with the ball" if state >= 100 else looks


@lru_cache(maxsize=_PLACES)
def place(ahead: int, right: int) -> str:
    """Return a position relative to an agent's direction as text: ``"2 ahead, 1 left"``."""
    parts: list[str] = []
    if ahead:
        parts.append(f"{abs(ahead)} {'ahead' if ahead > 0 else 'behind'}")
    if right:
        parts.append(f"{abs(right)} {'right' if right > 0 else 'left'}")
    return ", ".join(parts)


def listed(things: Iterable[GridObject]) -> list[str]:
    """Return one line for each name of objects, with all positions of that name."""
    places: dict[str, list[str]] = {}
    for thing in things:
        places.setdefault(thing.name, []).append(place(thing.ahead, thing.right))
    return [f"- {name}: {'; '.join(where)}" for name, where in places.items()]


def surroundings(view: GridView) -> list[str]:
    """Return lines about an agent's surroundings on a grid: free ways, objects in view, and a map."""
    lines = [f"Ahead: {view.way(1, 0)}. Left: {view.way(0, -1)}. Right: {view.way(0, 1)}."]
    if view.things:
        lines += ["In view:", *listed(view.things)]
    else:
        lines.append("Nothing else is in view.")
    return [*lines, "Map:", *view.drawn()]


def absolute(own: Sequence[int], facing: int, ahead: int, right: int) -> tuple[int, int]:
    """Return row and column of a position relative to an agent; the inverse of :func:`relative`."""
    x, y = ((1, 0), (0, 1), (-1, 0), (0, -1))[facing]
    return int(own[1]) + y * ahead + x * right, int(own[0]) + x * ahead - y * right


def in_view(size: int, ahead: int, right: int) -> tuple[int, int] | None:
    """Return row and column in a square view, whose agent is in the middle of the bottom row and looks up.

    The result is ``None`` for a position outside the view.
    """
    row, column = size - 1 - ahead, size // 2 + right
    return (row, column) if 0 <= row < size and 0 <= column < size else None


def relative(own: Sequence[int], facing: int, other: Sequence[int]) -> tuple[int, int]:
    """Return the position of ``other`` relative to ``own``: cells ahead and to the right."""
    x, y = int(other[0]) - int(own[0]), int(other[1]) - int(own[1])
    ahead = ((1, 0), (0, 1), (-1, 0), (0, -1))[facing]
    return x * ahead[0] + y * ahead[1], -x * ahead[1] + y * ahead[0]
