"""Describes a robotic warehouse: the cell of a robot and the cells around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Frame, Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.directions import offset_text
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.rware_picture import Robot, draw
from gym_gui.envs.facts import Fact, fact
from gym_gui.envs.pictures import Picture

_WAYS = ("up", "down", "left", "right")
"""Directions of robots, in the order of the package."""
_MEANINGS = (
    "do nothing",
    "one cell on in the way that you face",
    "turn to your left",
    "turn to your right",
    "lift the shelf that you stand under, or put down the one that you carry",
)
_SELF = 8


class _Cell(NamedTuple):
    """Cell of a warehouse that a robot observes.

    Attributes:
        right: Columns to the right of the robot.
        down: Rows below the robot.
        robot: Direction of the robot in the cell; ``""`` without a robot.
        shelf: Whether the cell has a shelf.
        asked: Whether that shelf is requested.
        said: Bits that the robot in the cell sends.
    """

    right: int
    down: int
    robot: str
    shelf: bool
    asked: bool
    said: tuple[int, ...]


class _View(NamedTuple):
    row: int
    column: int
    carries: bool
    faces: str
    corridor: bool
    cells: list[_Cell]

    @property
    def own(self) -> _Cell:
        return self.cells[len(self.cells) // 2]

    @property
    def around(self) -> list[_Cell]:
        return [cell for cell in self.cells if cell.right or cell.down]


class WarehouseDescriber(SpaceDescriber):
    """Describes the vectors that warehouse robots observe; other observations use the general describer."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        if not self._flat:
            return super().text(agent, observation, mode)
        return "\n".join(self._lines(agent, self._view(observation), mode))

    def can_state(self, agent: AgentID) -> bool:
        return self._flat

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return the robot's state and the surrounding cells as facts.

        ``at``, ``facing``, ``carrying`` and ``corridor`` describe the robot. ``shelf``, ``asked_for`` and
        ``robot`` have the distances of a cell to the right and down; the robot's own cell is 0, 0.
        """
        view = self._view(observation)
        found = [fact("at", view.row, view.column), fact("facing", view.faces)]
        found += [fact("carrying")] if view.carries else []
        found += [fact("corridor")] if view.corridor else []
        for cell in view.cells:
            found += [fact("shelf", cell.right, cell.down)] if cell.shelf else []
            found += [fact("asked_for", cell.right, cell.down)] if cell.asked else []
        return found + [fact("robot", c.right, c.down, c.robot) for c in view.around if c.robot]

    def game(self, agent: AgentID) -> str:
        game = self.environment.env
        pays = {
            "INDIVIDUAL": "A delivery is worth 1 to the robot that made it",
            "GLOBAL": "A delivery is worth 1 to every robot",
            "TWO_STAGE": "A delivery is worth 0.5, and so is putting that shelf back",
        }[game.reward_type.name]
        rows, columns = game.grid_size
        asked = game.request_queue_size
        return (
            f"{super().game(agent)} The warehouse has {rows} rows, {columns} columns and {game.n_agents} "
            f"robots. {f'{asked} shelves are' if asked != 1 else 'One shelf is'} asked for at any time; one "
            f"that is delivered is replaced by another. {pays}. A robot without a shelf passes under them, "
            "one that carries a shelf does not. Shelves are put down where shelves stand in the beginning, "
            "not on corridors."
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(self.environment.env.max_steps or None)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        if not self._flat:
            return super().reading(agent, mode)
        reach = self.environment.env.sensor_range
        return (
            "Rows and columns are counted from 1, from the upper left corner. You see what is at most "
            f"{reach} cell{'s' * (reach > 1)} away, also diagonally; places count from yours, as on a map: "
            "`1 left, 1 up`.\nThe warehouse when you begin (`X` a shelf, `.` a corridor, `G` a goal):\n"
            + "\n".join(self._plan())
        )

    def _plan(self) -> Iterator[str]:
        game = self.environment.env
        goals = {(y, x) for x, y in game.goals}
        for row, cells in enumerate(game.highways.tolist()):
            yield "".join(
                "G" if (row, column) in goals else "." if free else "X" for column, free in enumerate(cells)
            )

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        words = self.environment.action_meanings(agent)
        return [ActionWord(word, meaning) for word, meaning in zip(words, _MEANINGS, strict=False)]

    def can_draw(self, agent: AgentID) -> bool:
        return self._flat

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """Return a picture made from the robot's observation and the plan of the warehouse."""
        view, game = self._view(observation), self.environment.env
        reach, (rows, columns) = game.sensor_range, game.grid_size
        size = 2 * reach + 1
        places = {(cell.down + reach, cell.right + reach): cell for cell in view.cells}
        real = {at: (view.row + cell.down, view.column + cell.right) for at, cell in places.items()}
        goals = {(y, x) for x, y in game.goals}
        robots = [
            Robot(*at, cell.robot) for at, cell in places.items() if cell.robot and at != (reach, reach)
        ]
        return draw(
            size,
            size,
            [at for at, place in real.items() if place in goals],
            {at: cell.asked for at, cell in places.items() if cell.shelf},
            [*robots, Robot(reach, reach, view.faces, view.carries)],
            own=(reach, reach),
            outside=[
                at for at, (row, column) in real.items() if not (0 <= row < rows and 0 <= column < columns)
            ],
        )

    def legend(self, agent: AgentID) -> str:
        return (
            "You are the robot with the rim, in the middle; a line shows where a robot faces. Blue squares "
            "are shelves, green ones are asked for, G is a goal, grey is outside."
        )

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int] | None:
        game = self.environment.env
        size = 2 * game.sensor_range + 1
        return tuple(game.grid_size) if frame == "whole" else (size, size)

    @property
    def _flat(self) -> bool:
        return bool(self.environment.env.fast_obs)

    def _lines(self, agent: AgentID, view: _View, mode: Mode) -> Iterator[str]:
        place = "on a corridor" if view.corridor else "where a shelf can stand"
        yield f"You are in row {view.row + 1}, column {view.column + 1}, {place}, facing {view.faces}."
        asked = " that is asked for" if view.own.asked else ""
        if view.carries:
            yield f"You carry a shelf{asked or ' that is not asked for'}."
        elif view.own.shelf:
            yield f"You stand under a shelf{asked or ' that is not asked for'}; you carry none."
        else:
            yield "You carry no shelf."
        shelves = [c for c in view.around if c.shelf]
        for name, cells in (
            ("Shelves that are asked for", [c for c in shelves if c.asked]),
            ("Other shelves", [c for c in shelves if not c.asked]),
        ):
            if cells:
                yield f"{name}: {'; '.join(offset_text(c.right, c.down) for c in cells)}."
        names = self._names(view) if mode == "visible_teammates" else {}
        for cell in view.around:
            if cell.robot:
                bits = f", sending {' '.join(map(str, cell.said))}" if cell.said else ""
                name = names.get((cell.right, cell.down), "A robot")
                yield f"{name}: {offset_text(cell.right, cell.down)}, facing {cell.robot}{bits}."

    def _view(self, observation: Any) -> _View:
        game = self.environment.env
        values: list[float] = np.asarray(observation, np.float64).tolist()
        x, y, carries, *rest = values[:_SELF]
        if game.normalised_coordinates:
            x, y = x * (game.grid_size[1] - 1), y * (game.grid_size[0] - 1)
        size, width = 2 * game.sensor_range + 1, 7 + game.msg_bits
        cells: list[_Cell] = []
        for i in range(size * size):
            there, *seen = values[_SELF + i * width : _SELF + (i + 1) * width]
            bits = tuple(map(int, seen[4 : 4 + game.msg_bits])) if there else ()
            robot = _WAYS[int(np.argmax(seen[:4]))] if there else ""
            right, down = i % size - game.sensor_range, i // size - game.sensor_range
            cells.append(_Cell(right, down, robot, bool(seen[-2]), bool(seen[-1]), bits))
        faces = _WAYS[int(np.argmax(rest[:4]))]
        return _View(round(y), round(x), bool(carries), faces, bool(rest[4]), cells)

    def _names(self, view: _View) -> dict[tuple[int, int], AgentID]:
        """Return the other robots' names by position relative to the observing robot."""
        agents = zip(self.environment.adapter.possible_agents, self.environment.env.agents, strict=True)
        return {(int(each.x) - view.column, int(each.y) - view.row): name for name, each in agents}
