"""Stores the decisions of an episode in rows, with their rewards and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import Any

from gym_gui.controllers.engine import hash_chain
from gym_gui.controllers.engine.episode_rows import Row, SeatCodecs
from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms import OptionEnd, ParadigmAdapter
from gym_gui.core.plain_data import to_plain
from gym_gui.core.spaces import NotInSpace, Parts
from gym_gui.core.types import CLOCK, AgentID, Decision, StepOutcome

Round = dict[AgentID, tuple[Any, Mapping[str, Any] | None]]
"""A round of decisions: each agent's action and its extra fields for the record."""


class Trajectory:
    """Rows of one episode. A row's reward is complete only when its agent acts again or ends.

    Args:
        index: Index of the episode.
        codecs: Seats of the agents, with the encoders of their observations and actions.
        adapter: The environment's adapter, which gives the ``info`` of a result.
        untold: Agents whose policies do not learn their rewards.
        keep_observations: Write observations into the rows.

    Attributes:
        returns: Sum of rewards by agent.
        wants_results: Agents whose policies receive the results of their actions.
        terminated: Whether the environment ended for some agent.
        truncated: Whether some agent was cut off.
        used_ms: Milliseconds that each agent took for all its decisions.
    """

    def __init__(
        self,
        index: int,
        codecs: SeatCodecs,
        adapter: ParadigmAdapter,
        untold: frozenset[AgentID],
        *,
        keep_observations: bool,
    ) -> None:
        self._index, self._codecs, self._adapter = index, codecs, adapter
        self._untold, self._keep = untold, keep_observations
        self._seen = codecs.seen
        self.returns: dict[AgentID, float] = dict.fromkeys(codecs.seats, 0.0)
        self.used_ms: dict[AgentID, float] = dict.fromkeys(codecs.seats, 0.0)
        self.wants_results: frozenset[AgentID] = frozenset()
        self.terminated = self.truncated = False
        self._rows: list[Row] = []
        self._last: dict[AgentID, Row] = {}
        self._owed: dict[AgentID, float] = {}
        self._unreported: dict[AgentID, Row] = {}
        self._finals: dict[AgentID, tuple[Any, Parts]] = {}

    # -- written while the episode runs -------------------------------------------------------

    def add(
        self,
        step: int,
        agent: AgentID,
        seen: tuple[Any, Parts],
        action: Any,
        source: str,
        latency_ms: float,
        extras: Mapping[str, Any] | None,
    ) -> None:
        """Add the row of an agent's action, whose reward is added later.

        Args:
            step: Environment step, from 0.
            agent: The agent.
            seen: The agent's observation, as the environment gave it and in wire form.
            action: Action that was played, in its space's own type.
            source: Origin of the action (:class:`~gym_gui.core.enums.ActionSource`).
            latency_ms: Time from the question to the answer.
            extras: Extra fields for the record.
        """
        row = Row(step, agent, action, source, self._digested(agent, seen[1]), latency_ms, extras, None)
        if self._keep:
            row.view = to_plain(seen[0])
        if self._owed:
            row.reward = self._owed.pop(agent, 0.0)
        self._rows.append(row)
        self._last[agent] = row
        self.used_ms[agent] += latency_ms
        if agent in self.wants_results:
            self._unreported[agent] = row

    def add_alone(self, row: Row, seen: tuple[Any, Parts]) -> None:
        """Add the row of an action in a single-agent environment, with its reward.

        Args:
            row: The row without the observation.
            seen: The agent's observation, as the environment gave it and in wire form.

        Raises:
            EnvironmentFailure: The reward is not finite.
        """
        agent, reward = row.agent, row.reward
        row.seen = self._digested(agent, seen[1])
        if self._keep:
            row.view = to_plain(seen[0])
        self._rows.append(row)
        self._last[agent] = row
        self.used_ms[agent] += row.latency_ms
        if not isfinite(reward):
            row.reward, row.terminated, row.truncated = 0.0, False, False
            raise EnvironmentFailure(f"the environment gave {agent} a reward of {reward}")
        self.returns[agent] += reward
        self.terminated, self.truncated = row.terminated, row.truncated

    def _digested(self, agent: AgentID, encoded: Parts) -> bytes:
        """Return the bytes of an observation that enter the digest."""
        seen = self._seen[agent](encoded)
        return hash_chain.condensed(seen) if len(seen) > hash_chain.KEEP else seen

    def join(self, agent: AgentID, *, untold: bool) -> None:
        """Add an agent that has appeared during the episode; ``untold`` agents do not learn rewards."""
        self.returns.setdefault(agent, 0.0)
        self.used_ms.setdefault(agent, 0.0)
        if untold:
            self._untold |= {agent}

    def lives(self, agent: AgentID) -> bool:
        """Return whether an agent has neither terminated nor been cut off."""
        row = self._last.get(agent)
        return row is None or not (row.terminated or row.truncated)

    def pay(self, rewards: Mapping[AgentID, float]) -> None:
        """Add each reward to its agent's last action, or keep it for the agent's first action.

        Raises:
            EnvironmentFailure: A reward is not finite.
        """
        last, returns = self._last, self.returns
        for agent, reward in rewards.items():
            if not isfinite(reward):
                raise EnvironmentFailure(f"the environment gave {agent} a reward of {reward}")
            returns[agent] = returns.get(agent, 0.0) + reward
            row = last.get(agent)
            if row is None:
                self._owed[agent] = self._owed.get(agent, 0.0) + reward
            else:
                row.reward += reward

    def note_ended_options(self, ended: Mapping[AgentID, OptionEnd]) -> None:
        """Record in the row of a manager's choice how long the option lasted and why it ended.

        Args:
            ended: Ended options by manager.
        """
        for manager, option in ended.items():
            row = self._last.get(manager)
            if row is not None:
                told = {"option_ended_by": option.why, "option_moves": option.moves}
                row.extras = {**(row.extras or {}), **told}

    def terminate(self, flags: Mapping[AgentID, bool]) -> None:
        """Mark the last rows of agents whose flag is set as terminated."""
        self.terminated = True
        for row in self._flagged(flags):
            row.terminated = True

    def truncate(self, flags: Mapping[AgentID, bool]) -> None:
        """Mark the last rows of agents whose flag is set as truncated."""
        self.truncated = True
        for row in self._flagged(flags):
            row.truncated = True

    def _flagged(self, flags: Mapping[AgentID, bool]) -> list[Row]:
        return [self._last[agent] for agent, flag in flags.items() if flag and agent in self._last]

    def cut_off(self) -> None:
        """Truncate all agents that have not terminated, also those that wait for their turn."""
        self.truncated = True
        for row in self._last.values():
            if not row.terminated:
                row.truncated = True

    def keep_final(self, observations: Mapping[AgentID, Any]) -> None:
        """Store the final observations of agents that ended, whose policies get them after the episode."""
        for agent, row in self._unreported.items():
            if agent in observations and (row.terminated or row.truncated):
                try:
                    encoded = self._codecs.encode[agent](observations[agent])
                except NotInSpace:
                    continue  # no agent acts on this observation any more
                self._finals[agent] = observations[agent], encoded

    # -- results and records ---------------------------------------------------------------

    @property
    def played(self) -> list[tuple[AgentID, Any]]:
        """Agent and action of each row, from the beginning."""
        return [(row.agent, row.action) for row in self._rows]

    def opening(self, steps: int) -> list[Round]:
        """Return actions and clock times of the first ``steps`` environment steps, round by round."""
        rounds: list[Round] = []
        last = -1
        for row in self._rows:
            if row.step >= steps:
                break
            if row.step != last or row.agent in rounds[-1]:
                rounds.append({})
            left = (row.extras or {}).get(CLOCK)
            rounds[-1][row.agent] = row.action, None if left is None else {CLOCK: left}
            last = row.step
        return rounds

    def clocks(self) -> dict[AgentID, float]:
        """Return the seconds that agents had left on their clocks after their last moves."""
        told = (row for row in self._rows if row.extras and CLOCK in row.extras)
        return {row.agent: float((row.extras or {})[CLOCK]) for row in told}

    def latest(self, agent: AgentID) -> Row | None:
        """Return the row of an agent's last action. Callers must not change the row."""
        return self._last.get(agent)

    def outcomes(self, asked: Mapping[AgentID, Decision]) -> Iterator[StepOutcome]:
        """Yield the results of the previous actions of agents that act again.

        Args:
            asked: The agents' new questions.
        """
        if not self._unreported:
            return
        for agent, decision in asked.items():
            row = self._unreported.pop(agent, None)
            if row is not None:
                yield self._outcome(agent, row, decision.observation, decision.encoded)

    def last_outcomes(self) -> list[StepOutcome]:
        """Return the results that have not been reported yet, when the episode is over."""
        told = [
            self._outcome(agent, row, *self._finals[agent])
            for agent, row in self._unreported.items()
            if agent in self._finals
        ]
        self._unreported = {}
        return told

    def _outcome(self, agent: AgentID, row: Row, observation: Any, encoded: Parts) -> StepOutcome:
        return StepOutcome(
            self._index,
            row.step,
            agent,
            self._codecs.seats[agent],
            observation,
            encoded,
            row.action,
            nan if agent in self._untold else row.reward,
            row.terminated,
            row.truncated,
            self._adapter.info(agent),
        )

    def lines(self, seed: int, words: Sequence[str] = ()) -> tuple[bytes, bytes, str]:
        """Return the rows as JSON lines, the same lines without times, and the digest.

        Args:
            seed: Seed of the environment, which is part of every row.
            words: Played actions in the game's own notation, if the game has one.
        """
        return self._codecs.lines(self._rows, self._index, seed, words)
