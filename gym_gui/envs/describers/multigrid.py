"""Describes MOSAIC MultiGrid: soccer, basketball, American football and collecting balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.grid_words import COLORS, KINDS, MAP, CellWords, GridView
from gym_gui.envs.describers.multigrid_slots import slot_names
from gym_gui.envs.describers.team_grid import Mates, TeamGridDescriber
from gym_gui.envs.describers.value_words import number
from gym_gui.envs.facts import atom

_KINDS = (*KINDS, "goal", "switch", "end zone")
_ZONE = len(_KINDS) - 1
_MEANINGS: Mapping[str, str] = {
    "noop": "do nothing",
    "left": "turn left on the spot",
    "right": "turn right on the spot",
    "forward": "go one cell ahead, if no wall, no ball and no player is there",
    "pickup": "take the ball directly ahead, or steal it from an opponent who stands there",
    "drop": (
        "pass the ball to a team-mate without one, wherever it is (of several one by chance); where there is "
        "none, put it down on the empty cell directly ahead"
    ),
    "toggle": "of no use here",
    "done": "do nothing",
}
_ALONE = "put the ball down on the empty cell directly ahead"
_UNOPPOSED = "take the ball directly ahead"
_COLLECTING: Mapping[str, str] = {
    "pickup": "collect the ball directly ahead",
    "drop": "of no use here",
}


class MultiGridDescriber(TeamGridDescriber):
    """Describes the field and the rules of a sport in MOSAIC MultiGrid."""

    package: ClassVar[str] = "mosaic_multigrid"
    loads: ClassVar[str] = "a dot on it is a ball that it carries."

    def view(self, seen: Mapping[str, Any], mates: Mates) -> GridView:
        return GridView(np.asarray(seen["image"]), self._words, mates)

    @cached_property
    def bodies(self) -> Mapping[AgentID, Any]:
        env = self.environment.env
        names = slot_names(env)
        return {names[each.index]: each for each in env.agents}

    def load(self, body: Any) -> str:
        carries = body.state.carrying
        return "" if carries is None else f" with a {carries.color.value} {carries.type.value}"

    def sees_all(self, agent: AgentID) -> bool:
        """Return whether the environment was made with ``global_obs``, which shows the whole field."""
        return "global_rgb" in self.environment.adapter.observation_space(agent).spaces

    @cached_property
    def _words(self) -> CellWords:
        return _FieldWords(self._zones())

    def _zones(self) -> dict[int, str]:
        """Return the team of an end zone by its color: a team's zone is drawn in the other team's color."""
        env = self.environment.env
        zones = cast("Mapping[Any, int]", getattr(env, "endzone_positions", {}))
        return {env.grid.get(*place).encode()[1]: _color(team) for place, team in zones.items()}

    def game(self, agent: AgentID) -> str:
        environment, env = self.environment, self.environment.env
        color = agent.rpartition("_")[0]
        parts = [
            f"The game is {environment.title} on a grid of "
            f"{env.width} by {env.height} cells. You are {agent}, of team {color}. {self._company(agent)}",
            self._rules(agent, color),
            "In each step the players act in random order." if len(env.agents) > 1 else "",
        ]
        return " ".join(part for part in parts if part)

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env.max_steps))

    def _company(self, agent: AgentID) -> str:
        """Return a sentence about the other players of a match."""
        _, mates, others = self.environment.team_and_others(agent)
        with_whom = f"With you {'plays' if len(mates) == 1 else 'play'} {', '.join(mates)}" if mates else ""
        against = f"{'against' if mates else 'You play against'} {', '.join(others)}" if others else ""
        return f"{' '.join(filter(None, (with_whom, against))) or 'You play alone'}."

    def _rules(self, agent: AgentID, color: str) -> str:
        env = self.environment.env
        _, mates, others = self.environment.team_and_others(agent)
        whose = "each of your team" if mates else "you"
        losing = ", and each opponent loses as much" if env.zero_sum and others else ""
        if not (marks := _marks(env)):
            one = number(max(env.balls_reward))
            balls = sum(env.num_balls)
            return (
                f"There are {balls} balls. A ball that you take is gone and pays {whose} {one} + 0.05 x the "
                f"steps that are left{losing}. When the last one is taken, the game ends."
            )
        what = "end zone" if hasattr(env, "endzone_positions") else "goal"
        where = " and ".join(
            f"the {team} {what} at the {_side(column, env.width)} end"
            for team, column in marks.items()
            if team != color
        )
        wins = f" Who has scored {env.goals_to_win} times wins, and the game ends."
        score = (
            f"You score by going with the ball onto {where}, which pays {whose} 1 + 0.05 x the steps that "
            f"are left{losing}; then a new ball is somewhere on the field."
        )
        return f"{score}{wins}{self._robbing(others)}{self._shaping(others)}"

    def _robbing(self, others: Sequence[AgentID]) -> str:
        wait = getattr(self.environment.env, "steal_cooldown", 0)
        if not (others and wait):
            return ""
        return f" After a theft neither of the two can steal in the next {wait - 1} steps."

    def _shaping(self, others: Sequence[AgentID]) -> str:
        if not getattr(self.environment.env, "reward_shaping", False):
            return ""
        theft = "A theft pays the thief 0.3. " if others else ""
        return (
            f" {theft}Every cell that you get nearer to the middle of where you score while you have the "
            "ball, or to the ball while it lies on the field, pays you 0.01; every cell away costs as much."
        )

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        size = int(self.environment.adapter.observation_space(agent)["image"].shape[0])
        text = (
            f"You see {size - 1} cells ahead and {size // 2} to each side. Places are counted in cells from "
            'where you stand: "1 ahead, 1 left" is one cell in the direction you look, then one to your '
            f"left. They change when you turn or move. Agents wear the colour of their team. {MAP}"
        )
        return f"{text} Team-mates in view are named." if mode == "visible_teammates" else text

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        _, mates, others = self.environment.team_and_others(agent)
        meanings = {**_MEANINGS}
        if not mates:
            meanings["drop"] = _ALONE
        if not others:
            meanings["pickup"] = _UNOPPOSED
        if _marks(self.environment.env):
            mark = "end zone" if hasattr(self.environment.env, "endzone_positions") else "goal"
            meanings["forward"] = (
                f"{_MEANINGS['forward']}; {'an' if mark[0] == 'e' else 'a'} {mark} is free to walk on"
            )
        else:
            meanings |= _COLLECTING
        return [ActionWord(word, meanings.get(word, "")) for word in self.environment.action_meanings(agent)]


class _FieldWords(CellWords):
    """Names of cells on a field, on which an end zone belongs to the team that defends it.

    Args:
        zones: Team of an end zone by its color.
    """

    def __init__(self, zones: Mapping[int, str]) -> None:
        super().__init__(_KINDS)
        self._zones = zones

    def name(self, kind: int, color: int, state: int) -> str:
        zone = self._zones.get(color) if kind == _ZONE else None
        return super().name(kind, color, state) if zone is None else f"{zone} {_KINDS[_ZONE]}"

    def terms(self, kind: int, color: int, state: int) -> tuple[str, ...]:
        zone = self._zones.get(color) if kind == _ZONE else None
        return super().terms(kind, color, state) if zone is None else (atom(_KINDS[_ZONE]), zone)


def _marks(env: Any) -> dict[str, int]:
    """Return the column of each team's goal or end zone, by the team's color; empty if there is none.

    End zones are on the field only after a game has begun, but the column in which a team scores is known
    before.
    """
    if hasattr(env, "endzone_positions"):
        first, second = SimpleNamespace(team_index=0), SimpleNamespace(team_index=1)
        return {_color(0): env._target_endzone_pos(second)[0], _color(1): env._target_endzone_pos(first)[0]}
    pairs = zip(getattr(env, "goal_pos", []), getattr(env, "goal_index", []), strict=True)
    return {_color(team): int(place[0]) for place, team in pairs}


def _color(team: int) -> str:
    return COLORS[int(team) % len(COLORS)]


def _side(column: int, width: int) -> str:
    return "west" if column < width / 2 else "east"
