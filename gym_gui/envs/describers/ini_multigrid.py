"""Describes INI MultiGrid: MiniGrid's rooms for several agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.minigrid import ACTIONS, how_far
from gym_gui.envs.describers.team_grid import TeamGridDescriber
from gym_gui.envs.facts import Fact, fact


class _Aim(NamedTuple):
    """Goal of a room in INI MultiGrid.

    Attributes:
        doing: The rewarded action, as the beginning of a sentence.
        failing: The action that ends the game without reward, in the same form; ``""`` if there is none.
        last: Sentence about the end of the game; ``""`` if each reward ends the game.
    """

    doing: str
    failing: str = ""
    last: str = ""


_AIMS = {
    "EmptyEnv": _Aim("Stepping onto the green goal square"),
    "BlockedUnlockPickupEnv": _Aim("Picking up the box"),
    "RedBlueDoorsEnv": _Aim(
        "Opening the blue door while the red one is open",
        "Opening the blue door while the red one is not open",
    ),
    "LockedHallwayEnv": _Aim("Unlocking a door", last="With the last door that is unlocked the game ends."),
}
"""Goals of INI MultiGrid's rooms by class; rooms of other classes have no rewards."""


class IniMultiGridDescriber(TeamGridDescriber):
    """Describes the view of one of several agents in INI MultiGrid, and their common rewards."""

    package: ClassVar[str] = "multigrid"
    loads: ClassVar[str] = "while you carry something, that is in your cell instead of yours."

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        text, mission = super().text(agent, observation, mode), observation["mission"]
        return f"Mission: {mission}\n{text}" if mission else text

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        facts, mission = super().facts(agent, observation, mode), observation["mission"]
        return [fact("mission", mission), *facts] if mission else facts

    def game(self, agent: AgentID) -> str:
        environment, game = self.environment, self.environment.env
        parts = [
            f"You move on a grid of square cells with walls, in the game {environment.title}.",
            environment.summary,
            self._company(agent),
            *_paid(game),
        ]
        return " ".join(part for part in parts if part)

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env.max_steps))

    def _company(self, agent: AgentID) -> str:
        """Return a sentence with the agents' colors, and whether agents can share a cell."""
        mates = [name for name in self.bodies if name != agent]
        if not mates:
            return f"You are {agent}, {self.color(agent)}, and play alone."
        named = ", ".join(f"{name} ({self.color(name)})" for name in mates)
        shared = "Several can stand" if self.environment.env.allow_agent_overlap else "No two can stand"
        return (
            f"You are {agent}, {self.color(agent)}; with you {'plays' if len(mates) == 1 else 'play'} "
            f"{named}. {shared} in one cell. In each step all choose at once, and their moves are made in "
            "random order."
        )

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        body = self.bodies[agent]
        return how_far(body.view_size, body.see_through_walls)

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        alone = len(self.bodies) == 1 or self.environment.env.allow_agent_overlap
        meanings = (
            ACTIONS
            if alone
            else {**ACTIONS, "forward": f"{ACTIONS['forward']}, nor where another agent stands"}
        )
        return [ActionWord(word, meanings.get(word, "")) for word in self.environment.action_meanings(agent)]

    def sees_all(self, agent: AgentID) -> bool:
        """Return ``False``: a view reaches only ahead and does not show agents in the same cell."""
        return False


def _paid(game: Any) -> Iterator[str]:
    """Yield sentences about rewards, who gets them, and what ends the game, from the game's settings."""
    aim = next((_AIMS[cls.__name__] for cls in type(game).__mro__ if cls.__name__ in _AIMS), None)
    if aim is None:
        yield "Nothing is rewarded."
        return
    alone = len(game.agents) == 1
    to = "you" if alone else "each of you" if game.joint_reward else "the agent that does it"
    pays = f"{aim.doing} pays {to} 1 - 0.9 x steps / {game.max_steps}"
    if aim.last:
        yield f"{pays}. {aim.last}"
        return
    yield f"{pays}, and {_ends(game.success_termination_mode, alone)}."
    if aim.failing:
        yield f"{aim.failing} {_ends(game.failure_termination_mode, alone)}, without reward."


def _ends(mode: str, alone: bool) -> str:
    if alone:
        return "ends the game"
    if mode == "any":
        return "ends the game for all"
    return "ends it for that one, while others play on"
