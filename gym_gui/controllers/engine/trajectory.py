"""What was played in an episode, row by row, and what it led to."""

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
"""A round of decisions: by agent, its action and what is recorded beside it."""


class Trajectory:
    """The rows of one episode; an agent's reward is known only when it acts again or ends.

    Args:
        index: Of the episode.
        codecs: Who sits where, and how what they see and do is written.
        adapter: Of the environment, asked for the info that goes with a result.
        untold: Agents whose policies are not told what they earn.
        keep_observations: Write observations into the rows.

    Attributes:
        returns: Sum of rewards by agent.
        wants_results: Agents whose policies get the outcomes of their actions.
        terminated: Whether the environment ended for some agent.
        truncated: Whether some agent was cut off.
        used_ms: How long each agent took for all its decisions.
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

    # -- written while it runs -------------------------------------------------------

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
        """An agent has acted; what it earns comes later.

        Args:
            step: Environment step, from 0.
            agent: The agent.
            seen: What it saw, as the environment gave it and in wire form.
            action: What was played, in its space's own type.
            source: Who chose it (:class:`~gym_gui.core.enums.ActionSource`).
            latency_ms: From the question to the answer.
            extras: What is recorded beside the action.
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
        """The only agent has acted, and what that earns is known.

        Args:
            row: All but what it saw.
            seen: What it saw, as the environment gave it and in wire form.

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
        """What the digest takes of an observation."""
        seen = self._seen[agent](encoded)
        return hash_chain.condensed(seen) if len(seen) > hash_chain.KEEP else seen

    def join(self, agent: AgentID, *, untold: bool) -> None:
        """An agent has appeared, and is seated."""
        self.returns.setdefault(agent, 0.0)
        self.used_ms.setdefault(agent, 0.0)
        if untold:
            self._untold |= {agent}

    def lives(self, agent: AgentID) -> bool:
        """Whether an agent has not ended."""
        row = self._last.get(agent)
        return row is None or not (row.terminated or row.truncated)

    def pay(self, rewards: Mapping[AgentID, float]) -> None:
        """Rewards belong to the last action of their agent, or to its first where it has none yet.

        Raises:
            EnvironmentFailure: One of them is not finite.
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
        """How long an option lasted and why it ended stands in the row of its choice.

        Args:
            ended: By manager.
        """
        for manager, option in ended.items():
            row = self._last.get(manager)
            if row is not None:
                told = {"option_ended_by": option.why, "option_moves": option.moves}
                row.extras = {**(row.extras or {}), **told}

    def terminate(self, flags: Mapping[AgentID, bool]) -> None:
        """The environment ended for those whose flag is set."""
        self.terminated = True
        for row in self._flagged(flags):
            row.terminated = True

    def truncate(self, flags: Mapping[AgentID, bool]) -> None:
        """Those whose flag is set are cut off."""
        self.truncated = True
        for row in self._flagged(flags):
            row.truncated = True

    def _flagged(self, flags: Mapping[AgentID, bool]) -> list[Row]:
        return [self._last[agent] for agent, flag in flags.items() if flag and agent in self._last]

    def cut_off(self) -> None:
        """Everybody who still lives is cut off, in turn-based games those who wait for their turn too."""
        self.truncated = True
        for row in self._last.values():
            if not row.terminated:
                row.truncated = True

    def keep_final(self, observations: Mapping[AgentID, Any]) -> None:
        """Keep the last observations of agents that ended, for when the episode is over."""
        for agent, row in self._unreported.items():
            if agent in observations and (row.terminated or row.truncated):
                try:
                    encoded = self._codecs.encode[agent](observations[agent])
                except NotInSpace:
                    continue  # no agent acts on it any more
                self._finals[agent] = observations[agent], encoded

    # -- told and read ---------------------------------------------------------------

    @property
    def played(self) -> list[tuple[AgentID, Any]]:
        """Who did what, from the beginning."""
        return [(row.agent, row.action) for row in self._rows]

    def opening(self, steps: int) -> list[Round]:
        """What was played in its first environment steps, and what the clocks said, round by round."""
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
        """Seconds that agents had left on their clocks after their last moves."""
        told = (row for row in self._rows if row.extras and CLOCK in row.extras)
        return {row.agent: float((row.extras or {})[CLOCK]) for row in told}

    def latest(self, agent: AgentID) -> Row | None:
        """The row of an agent's last action, to be looked at only."""
        return self._last.get(agent)

    def outcomes(self, asked: Mapping[AgentID, Decision]) -> Iterator[StepOutcome]:
        """Results of earlier actions that have become complete: their agents act again.

        Args:
            asked: What they are asked now.
        """
        if not self._unreported:
            return
        for agent, decision in asked.items():
            row = self._unreported.pop(agent, None)
            if row is not None:
                yield self._outcome(agent, row, decision.observation, decision.encoded)

    def last_outcomes(self) -> list[StepOutcome]:
        """Results that are still to be told when the episode is over."""
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
        """Its rows as JSON lines, the same without times, and its digest.

        Args:
            seed: The environment's, which stands in every row.
            words: What was played in the game's own notation, where it has one.
        """
        return self._codecs.lines(self._rows, self._index, seed, words)
