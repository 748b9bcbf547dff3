"""Describes level-based foraging: levels, and positions of food and players."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Frame, Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.directions import offset_text
from gym_gui.envs.describers.foraging_picture import draw
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.facts import Fact, fact
from gym_gui.envs.pictures import Picture

_MEANINGS = (
    "do nothing",
    "one cell up",
    "one cell down",
    "one cell to the left",
    "one cell to the right",
    "load the food beside you, together with all who load it now",
)
_ABSENT = -1


class _Thing(NamedTuple):
    """Visible food or player in level-based foraging.

    Attributes:
        right: Columns to the right of the observing agent.
        down: Rows below the observing agent.
        level: Level; ``None`` if the levels of agents are not observed.
        who: Name of the agent; ``""`` for food.
    """

    right: int
    down: int
    level: int | None
    who: str = ""


class _View(NamedTuple):
    row: int
    column: int
    level: int | None
    food: list[_Thing]
    others: list[_Thing]


class ForagingDescriber(SpaceDescriber):
    """Describes level-based foraging's vectors; image layers use the general describer."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        if self._layers:
            return super().text(agent, observation, mode)
        view = self._view(agent, observation)
        lines = [self._own(view)]
        lines += [f"Food of level {each.level}: {offset_text(each.right, each.down)}." for each in view.food]
        lines += [
            f"{each.who}{_of_level(each.level)}: {offset_text(each.right, each.down)}."
            for each in view.others
        ]
        if not view.food:
            lines.append("You see no food.")
        return "\n".join(lines)

    def can_state(self, agent: AgentID) -> bool:
        return not self._layers

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return levels and relative positions of food and players as facts.

        ``level(2)``, ``food(right, down, level)``, ``player(right, down, level)``, ``who(agent_1, right,
        down)``; also ``at(row, column)``, or ``edge(up, 1)`` if only a part of the field is visible.
        """
        view = self._view(agent, observation)
        found = [] if view.level is None else [fact("level", view.level)]
        if self._sees_field:
            found.append(fact("at", view.row + 1, view.column + 1))
        else:
            found += [fact("edge", way, cells) for way, cells in self._edges(view)]
        for name, things in (("food", view.food), ("player", view.others)):
            found += [fact(name, *(part for part in thing[:3] if part is not None)) for thing in things]
        return found + [fact("who", each.who, each.right, each.down) for each in view.others]

    def game(self, agent: AgentID) -> str:
        game = self.environment.env
        together = (
            " Each food takes all of you, or the three of you with the lowest levels."
            if game.force_coop
            else ""
        )
        share = (
            " All food is worth 1 together; those who load some share its worth by their levels."
            if game._normalize_reward
            else ""
        )
        return (
            f"{super().game(agent)} {len(game.players)} players gather food on a field of {game.rows} rows "
            f"and {game.cols} columns. Food is loaded when the levels of those who stand beside it (not "
            f"diagonally) and load in the same step add up to its level or more.{together}{share} Two who "
            "want into the same cell stay where they are."
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env._max_episode_steps))

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        if self._layers:
            return super().reading(agent, mode)
        far = "" if self._sees_field else f" You see food at most {self.environment.env.sight} cells away."
        return f"Places are told from yours, in cells of a map seen from above: `2 left, 1 up`.{far}"

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        words = self.environment.action_meanings(agent)
        return [ActionWord(word, meaning) for word, meaning in zip(words, _MEANINGS, strict=True)]

    def sees_all(self, agent: AgentID) -> bool:
        return self._sees_field and self.environment.env._observe_agent_levels

    def can_draw(self, agent: AgentID) -> bool:
        return not self._layers

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """Return a picture of the field made only from the observation; unknown cells are grey."""
        view, game = self._view(agent, observation), self.environment.env
        rows, columns = (game.rows, game.cols) if self._sees_field else (2 * game.sight + 1,) * 2
        food, others = (
            [(view.row + each.down, view.column + each.right, each.level) for each in things]
            for things in (view.food, view.others)
        )
        near = range(-game.sight, game.sight + 1)
        unseen = [
            (row, column)
            for row in range(rows)
            for column in range(columns)
            if row - view.row not in near or column - view.column not in near
        ]
        own = (view.row, view.column)
        return draw(rows, columns, food, [(*own, view.level), *others], own=own, unseen=unseen)

    def legend(self, agent: AgentID) -> str:
        return "You are the figure in the red frame. Numbers are levels; of grey cells nothing is known."

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int] | None:
        game = self.environment.env
        return (game.rows, game.cols) if frame == "whole" or self._sees_field else (2 * game.sight + 1,) * 2

    @property
    def _layers(self) -> bool:
        return bool(self.environment.env._grid_observation)

    @property
    def _sees_field(self) -> bool:
        game = self.environment.env
        return bool(game.sight >= max(game.rows, game.cols) - 1)

    def _own(self, view: _View) -> str:
        parts = [] if view.level is None else [f"level {view.level}"]
        if self._sees_field:
            return f"You: {', '.join([*parts, f'in row {view.row + 1}, column {view.column + 1}'])}."
        edges = [
            f"the field ends after {cells} more cell{'s' * (cells != 1)} {way}"
            for way, cells in self._edges(view)
        ]
        own = f"You: {', '.join(parts)}." if parts else "You are in the middle of what you see."
        return " ".join([own, *(f"{each[0].upper()}{each[1:]}." for each in edges)])

    def _edges(self, view: _View) -> Iterator[tuple[str, int]]:
        """Yield the number of cells to the upper and to the left edge, if the edge is within sight."""
        sight = self.environment.env.sight
        yield from ((way, n) for way, n in (("up", view.row), ("left", view.column)) if n < sight)

    def _view(self, agent: AgentID, observation: Any) -> _View:
        game = self.environment.env
        values = np.asarray(observation).astype(int)
        food = values[: 3 * game.max_num_food].reshape(-1, 3).tolist()
        width = 3 if game._observe_agent_levels else 2
        players: list[list[int]] = values[3 * game.max_num_food :].reshape(-1, width).tolist()
        row, column, *level = players[0]
        # The vector contains the others in the order of the agents, visible or not.
        names = [name for name in self.environment.adapter.possible_agents if name != agent]
        others = [
            _Thing(x - column, y - row, rest[0] if rest else None, name)
            for name, (y, x, *rest) in zip(names, players[1:], strict=True)
            if y != _ABSENT
        ]
        seen = [_Thing(x - column, y - row, n) for y, x, n in food if y != _ABSENT]
        return _View(row, column, level[0] if level else None, seen, others)


def _of_level(level: int | None) -> str:
    return "" if level is None else f" (level {level})"
