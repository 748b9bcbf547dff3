"""MOSAIC MultiGrid in words: soccer, basketball, American football, collecting balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from gym_gui.core.types import AgentID
from gym_gui.core.view import Frame, Mode
from gym_gui.envs.describers.base import ActionWord
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.grid_words import COLOURS, COMPASS, KINDS, GridView, relative, surroundings
from gym_gui.envs.describers.multigrid_tiles import TILE, view_tiles
from gym_gui.envs.pictures import Picture, framed

_KINDS = (*KINDS, "goal", "switch", "end zone")
_INSET = 7
"""Of the frame around the agent, in pixels of its tile: it stays inside the picture."""
_BALL = 6
_MEANINGS: Mapping[str, str] = {
    "noop": "do nothing",
    "left": "turn left on the spot",
    "right": "turn right on the spot",
    "forward": "go one cell ahead, if nobody and nothing is there",
    "pickup": "take the ball directly ahead, or steal it from an opponent who stands there",
    "drop": "pass the ball to a team-mate, wherever it is; without one, put it down directly ahead",
    "toggle": "of no use here",
    "done": "do nothing",
}
_COLLECTING: Mapping[str, str] = {
    "pickup": "collect the ball directly ahead",
    "drop": "of no use here",
}


class MultiGridDescriber(SpaceDescriber):
    """The view as things by name and place, relative to the agent."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        seen = cast("Mapping[str, Any]", observation)
        mates = self._mates(agent) if mode == "visible_teammates" else {}
        view = GridView(np.asarray(seen["image"]), _KINDS, mates)
        holds = f"You carry a {view.carried}." if view.carried else "You carry nothing."
        return "\n".join([f"You look {COMPASS[int(seen['direction'])]}. {holds}", *surroundings(view)])

    def _mates(self, agent: AgentID) -> dict[tuple[int, int], str]:
        """Team-mates by their place from here, with which way they look and what they carry.

        Only what the view shows is said of them: a place where the view has no agent is not told.
        """
        own = self._agents[agent]
        mates: dict[tuple[int, int], str] = {}
        for name in self.environment.company(agent)[1]:
            other = self._agents.get(name)
            if other is None or other.state.terminated:
                continue
            carries = other.state.carrying
            ball = "" if carries is None else f" with a {carries.color.value} {carries.type.value}"
            place = relative(own.state.pos, int(own.state.dir), other.state.pos)
            mates[place] = f"{name}, your team-mate, looking {COMPASS[int(other.state.dir)]}{ball}"
        return mates

    @cached_property
    def _agents(self) -> dict[AgentID, Any]:
        from gym_gui.envs.families.multigrid import slot_names

        env = self.environment.env
        names = slot_names(env)
        return {names[each.index]: each for each in env.agents}

    def sees_all(self, agent: AgentID) -> bool:
        """Only where the environment was made with ``global_obs``, which shows everybody the whole field."""
        return "global_rgb" in self.environment.adapter.observation_space(agent).spaces

    def can_draw(self, agent: AgentID) -> bool:
        return True

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture:
        """The cells of its view and nothing else, in the package's own tiles, turned so that it looks up."""
        seen = cast("Mapping[str, Any]", observation)
        rows = view_tiles(np.asarray(seen["image"]), int(seen["direction"]), agent.rpartition("_")[0])
        picture = np.concatenate([np.concatenate(row, axis=1) for row in rows])
        left, top = len(rows) // 2 * TILE, (len(rows) - 1) * TILE
        return framed(picture, (left + _INSET, top + _INSET, left + TILE - _INSET, top + TILE - _INSET))

    def legend(self, agent: AgentID) -> str:
        return (
            "The picture is what you see, turned so that you look up: the white frame in the middle of the "
            "lowest row is around you. An agent's triangle points where it looks; a dot on it is a ball that "
            "it carries. Walls are grey; cells without lines are out of sight."
        )

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int]:
        game = self.environment.env
        if frame == "whole":
            return game.height, game.width
        size = int(self.environment.adapter.observation_space(agent)["image"].shape[0])
        return size, size

    def game(self, agent: AgentID) -> str:
        environment, env = self.environment, self.environment.env
        colour = agent.rpartition("_")[0]
        parts = [
            f"The game is {environment.family.title_of(environment.spec)} on a grid of "
            f"{env.width} by {env.height} cells. You are {agent}, of team {colour}. {self._company(agent)}",
            self._rules(colour),
            f"It ends after {env.max_steps} steps at the latest.",
        ]
        return " ".join(part for part in parts if part)

    def _company(self, agent: AgentID) -> str:
        """Who else plays."""
        _, mates, others = self.environment.company(agent)
        with_whom = f"With you {'plays' if len(mates) == 1 else 'play'} {', '.join(mates)}" if mates else ""
        against = f"{'against' if mates else 'You play against'} {', '.join(others)}" if others else ""
        return f"{' '.join(filter(None, (with_whom, against))) or 'You play alone'}."

    def _rules(self, colour: str) -> str:
        env = self.environment.env
        if not (marks := _marks(env)):
            return "Every ball that you take counts at once; sooner is worth more."
        what = "end zone" if hasattr(env, "endzone_positions") else "goal"
        theirs = {team: cells for team, cells in marks.items() if team != colour}
        where = " and ".join(
            f"the {team} {what} at the {_side(cells, env.width)} end" for team, cells in theirs.items()
        )
        wins = f" Who has scored {env.goals_to_win} times wins." if hasattr(env, "goals_to_win") else ""
        cooldown = getattr(env, "steal_cooldown", 0)
        rest = f" After a theft neither of the two can steal for {cooldown} steps." if cooldown else ""
        score = f"You score by going with the ball onto {where}; then a new ball is somewhere on the field."
        return f"{score}{wins}{rest}"

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        size = int(self.environment.adapter.observation_space(agent)["image"].shape[0])
        text = (
            f"You see {size - 1} cells ahead and {size // 2} to each side. Places are counted in cells from "
            'where you stand: "1 ahead, 1 left" is one cell in the direction you look, then one to your '
            "left. They change when you turn or move. Agents wear the colour of their team."
        )
        return f"{text} Team-mates in view are named." if mode == "visible_teammates" else text

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        meanings = _MEANINGS if _marks(self.environment.env) else {**_MEANINGS, **_COLLECTING}
        return [ActionWord(word, meanings.get(word, "")) for word in self.environment.action_meanings(agent)]


def _marks(env: Any) -> dict[str, list[tuple[int, int]]]:
    """Where a team's goal or end zone is, by the team's colour; empty where the game has none."""
    marks: dict[str, list[tuple[int, int]]] = {}
    zones = cast("Mapping[Any, int]", getattr(env, "endzone_positions", {}))
    pairs = [*zones.items()] or [
        *zip(getattr(env, "goal_pos", []) or [], getattr(env, "goal_index", []) or [], strict=True)
    ]
    for place, team in pairs:
        marks.setdefault(COLOURS[int(team) % len(COLOURS)], []).append((int(place[0]), int(place[1])))
    return marks


def _side(cells: Sequence[tuple[int, int]], width: int) -> str:
    return "west" if cells[0][0] < width / 2 else "east"
