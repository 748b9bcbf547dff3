"""Chess clocks: the time that each side of a game has left for its decisions.

The clocks of asked agents run while the engine waits for their decisions. As on lichess, the first move
of a side costs no time: its clock runs from its second move on, and gets the increment with each move
from then on. While a session is paused, no player is asked and no clock runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gym_gui.core.enums import Outcome
from gym_gui.core.experiment.execution import TimeControl
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment


class GameClock:
    """Clocks of all agents in one episode, with the time that each agent has left.

    Args:
        control: Initial time and increment of each side.
        on_out_of_time: Called with the agent whose time runs out while the agent is asked.
        left_s: Seconds left, by agent, for agents that have moved before, if moves were taken back.
        now: Returns the time in seconds; by default, the time of the event loop.
    """

    def __init__(
        self,
        control: TimeControl,
        on_out_of_time: Callable[[AgentID], None],
        left_s: Mapping[AgentID, float] | None = None,
        now: Callable[[], float] | None = None,
    ) -> None:
        self._now = now or asyncio.get_running_loop().time
        self.control, self._on_out_of_time = control, on_out_of_time
        self._left = dict(left_s or {})
        self._begun = set(self._left)  # agents that have moved: the first move is free
        self._asked: dict[AgentID, float | None] = {}
        self._running = True
        self._timer: asyncio.TimerHandle | None = None

    def left_s(self, agent: AgentID) -> float:
        """Return the seconds that an agent has left now, not below 0."""
        left, since = self._left.get(agent, self.control.seconds), self._asked.get(agent)
        return max(left if since is None else left - (self._now() - since), 0.0)

    def runs(self, agent: AgentID) -> bool:
        """Return whether an agent's clock runs."""
        return self._asked.get(agent) is not None

    def ask(self, agents: Iterable[AgentID]) -> None:
        """Start the clocks of agents that have to act, except before their first move."""
        for agent in agents:
            self._asked[agent] = self._now() if self._running and agent in self._begun else None
        self._arm()

    def answer(self, agent: AgentID) -> bool:
        """Stop the clock of an agent that has answered, and return whether the agent answered in time."""
        left = self.left_s(agent)
        in_time = left > 0 or not self.runs(agent)
        if agent in self._begun and in_time:
            left += self.control.increment_s
        self._left[agent] = left
        self._begun.add(agent)
        self._asked.pop(agent, None)
        self._arm()
        return in_time

    def run(self, running: bool) -> bool:
        """Start or hold all clocks, and return whether their state has changed."""
        if running == self._running:
            return False
        for agent in self._asked:
            self._left[agent] = self.left_s(agent)
            self._asked[agent] = self._now() if running and agent in self._begun else None
        self._running = running
        self._arm()
        return True

    def stop(self) -> None:
        """Stop all clocks at the end of the episode; :meth:`left_s` still returns the remaining times."""
        for agent in self._asked:
            self._left[agent] = self.left_s(agent)
        self._asked.clear()
        self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        first = min((a for a in self._asked if self.runs(a)), key=self.left_s, default=None)
        if first is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.left_s(first), self._ring, first)

    def _ring(self, agent: AgentID) -> None:
        self._timer = None
        if self.left_s(agent) > 0:  # timers are not exact
            self._arm()
        else:
            self._on_out_of_time(agent)


class OnTime(NamedTuple):
    """Result of a game in which an agent ran out of time.

    Attributes:
        agent: The agent that ran out of time.
        outcome: Outcome by team. ``None`` if the game does not have two teams, because then no team wins.
        result: Who won and how, in a sentence.
    """

    agent: AgentID
    outcome: Mapping[str, Outcome] | None
    result: str


def ended_on_time(environment: Environment, agent: AgentID) -> OnTime:
    """Return the result of a game in which an agent ran out of time.

    The agent's team loses. But if none of its opponents can win any more, the game is a draw.

    Args:
        environment: The game's environment.
        agent: The agent that ran out of time.
    """
    own, _, others = environment.team_and_others(agent)
    loser = environment.seat_name(agent)
    if len(environment.teams) != 2 or not own:
        return OnTime(agent, None, f"{loser} ran out of time")
    other = next(team for team in environment.teams if team != own)
    winner = environment.seat_name(others[0]) if len(others) == 1 else other
    if not any(environment.can_still_win(each) for each in others):
        result = f"Draw: {loser} ran out of time, and {winner} cannot mate"
        return OnTime(agent, dict.fromkeys(environment.teams, Outcome.DRAW), result)
    return OnTime(agent, {own: Outcome.LOSS, other: Outcome.WIN}, f"{winner} wins on time")
