"""One episode in flight: what was asked, what was played, what it led to."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite, nan
from typing import Any

from gym_gui.controllers import chain, rows
from gym_gui.controllers.lineup import Player
from gym_gui.controllers.rows import SeatCodecs
from gym_gui.controllers.session_events import EpisodeFinished
from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.core.enums import ActionSource, EpisodeStatus, Limit, Outcome
from gym_gui.core.errors import EnvironmentFailure, ObservationError
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.paradigms import HierarchicalAdapter
from gym_gui.core.plain import to_plain
from gym_gui.core.prompt_inputs import PromptInputs
from gym_gui.core.record_digest import seal
from gym_gui.core.records import EpisodeRecord, RebindingRecord, TeamRecord, TokenCount
from gym_gui.core.seeding import policy_seed
from gym_gui.core.spaces import NotInSpace, Parts
from gym_gui.core.types import REFUSED, AgentID, Answer, Decision, EpisodeSummary, StepOutcome
from gym_gui.envs import Environment
from mosaic_worker.failures import described

_LONGEST_REASON = 500
"""Characters of why an answer could not be played."""


class Episode:
    """Steps one environment through one episode and keeps its record.

    Args:
        plan: Index, seed and seating.
        environment: Reset by :meth:`open`; used by this episode alone while it runs.
        codecs: Who sits where, and how what they see and do is written.
        max_steps: Environment steps after which the episode is truncated, or ``None``.
        next_id: Gives decision ids.
        keep_observations: Write observations into the rows.
        views: What slots are shown beside their observations.
        own_seeds: The setting ``seed`` of slots that have one.
    """

    def __init__(
        self,
        plan: EpisodePlan,
        environment: Environment,
        codecs: SeatCodecs,
        max_steps: int | None,
        next_id: Callable[[], int],
        *,
        keep_observations: bool = False,
        views: Mapping[AgentID, PromptInputs] | None = None,
        own_seeds: Mapping[AgentID, int] | None = None,
    ) -> None:
        self.plan, self.index, self.environment = plan, plan.index, environment
        self.seats = seats = codecs.seats
        own = own_seeds or {}
        self.seeds = {
            agent: policy_seed(plan.seed, plan.index, agent, own.get(slot)) for agent, slot in seats.items()
        }
        self.asked: dict[AgentID, Decision] = {}
        self.played: dict[AgentID, tuple[Decision, Answer, Any, str]] = {}
        self.wants_results: frozenset[AgentID] = frozenset()
        self.steps = 0
        self.credit = 0
        self.returns: dict[AgentID, float] = dict.fromkeys(seats, 0.0)
        self.invalid: dict[AgentID, int] = {}
        self.unusable: dict[AgentID, int] = {}
        self.refused: dict[AgentID, str] = {}
        self.saw_everything: set[AgentID] = set()
        self._saw_state: set[AgentID] = set()
        self.limits: dict[AgentID, Limit] = {}
        self.limit = ""
        self.lost = ""
        self.players: Mapping[AgentID, Player] = {}
        self._rebound: list[RebindingRecord] = []
        self._passed_on: set[AgentID] = set()
        self._codecs, self._encode = codecs, codecs.encode
        self._adapter = environment.adapter
        self._step = environment.adapter.step
        self._max_steps, self._next_id = max_steps, next_id
        self._keep = keep_observations
        self.views: Mapping[AgentID, PromptInputs] = views or {}
        self._untold = frozenset(
            agent
            for agent, slot in seats.items()
            if (view := self.views.get(slot)) is not None and not environment.tells_rewards(view)
        )
        self._said: dict[AgentID, list[str]] = {}
        adapter = environment.adapter
        self._two_levels = adapter if isinstance(adapter, HierarchicalAdapter) else None
        self._managed = any(agent.endswith(GOAL_SUFFIX) for agent in seats)
        self._rows: list[rows.Row] = []
        self._last: dict[AgentID, list[Any]] = {}
        self._owed: dict[AgentID, float] = {}
        self._unreported: dict[AgentID, list[Any]] = {}
        self._finals: dict[AgentID, tuple[Any, Parts]] = {}
        self._tokens: dict[AgentID, dict[str, int]] = {}
        self._ended = [False, False]
        self._started_at = datetime.now(UTC)
        self._clock = time.perf_counter()

    def open(self) -> list[Decision]:
        """Reset the environment.

        Returns:
            The first decisions.

        Raises:
            EpisodeError: The environment failed.
        """
        observations = self._adapter.reset(seed=self.plan.seed)
        return self._ask_agents(self._adapter.get_current_agents(), observations)

    def accept(self, answer: Answer, source: str) -> None:
        """Take an agent's action for the next step.

        Args:
            answer: Its decision names the agent.
            source: Who chose it (:class:`~gym_gui.core.enums.ActionSource`).
        """
        decision = answer.decision
        self.played[decision.agent_id] = (decision, answer, answer.action, source)

    def substitute(self, decision: Decision, action: Any, source: ActionSource, answer: Answer) -> None:
        """Play ``action`` in place of an unusable ``answer``."""
        why = {REFUSED: answer.invalid[:_LONGEST_REASON]}
        answer = answer._replace(extras={**(answer.extras or {}), **why})
        self.played[decision.agent_id] = (decision, answer, action, source)

    def ask_again(self, decision: Decision, reason: str) -> Decision:
        """The same question once more, with why its answer was refused."""
        again = decision._replace(id=self._next_id(), attempt=decision.attempt + 1, reason=reason)
        self.asked[decision.agent_id] = again
        return again

    def undecided(self, slot: AgentID) -> list[Decision]:
        """Questions to a slot that have no answer yet."""
        settled = self.played.keys() | self.refused.keys()
        return [d for agent, d in self.asked.items() if d.slot == slot and agent not in settled]

    def ask_another(self, decision: Decision) -> Decision:
        """The same question to whoever plays the slot now; the one who was asked is too late."""
        if decision.shown is not None:
            self._said.setdefault(decision.agent_id, [])[:0] = decision.shown.messages
        again = self._shown(decision._replace(id=self._next_id(), attempt=0, reason="", shown=None))
        self.asked[decision.agent_id] = again
        self._passed_on.add(decision.agent_id)
        return again

    def note_rebinding(self, slot: AgentID, player: Player, not_asked: Collection[AgentID] = ()) -> None:
        """From its next decision on ``player`` decides for a slot; one that was asked stands.

        Args:
            slot: The slot.
            player: Who decides now.
            not_asked: Agents whose open question nobody has been handed yet.
        """
        standing = self.asked.keys() - self._passed_on - set(not_asked)
        self._passed_on.clear()
        self._rebound += [
            RebindingRecord(
                self.steps + (agent in standing),
                agent,
                player.worker_id,
                player.worker_type,
                player.policy,
            )
            for agent, seated in self.seats.items()
            if seated == slot
        ]

    def chosen_by_another(self, agent: AgentID) -> str:
        """Who chose an agent's last action, where somebody else plays it by now; else ``""``."""
        changes = [change for change in self._rebound if change.agent_id == agent]
        row = self._last.get(agent)
        if row is None or not changes or row[rows.STEP] >= changes[-1].step_index:
            return ""
        before = [change for change in changes if change.step_index <= row[rows.STEP]]
        player = before[-1] if before else self.players[self.seats[agent]]
        return str(player.policy)

    def advance(self) -> list[Decision]:
        """Play what was accepted; every agent that was asked must have answered.

        Returns:
            The next decisions; empty when the episode is over.

        Raises:
            EpisodeError: The environment failed.
        """
        # In the order of asking: answers come in any order, and neither the environment
        # nor the record may depend on that.
        step, played, asked = self.steps, self.played, self.asked
        result = self._step({agent: played[agent][2] for agent in asked})
        for agent in asked:
            self._add_row(step, *played[agent])
        self._pay(result.rewards)
        if self._two_levels is not None:
            self._note_ended_options(self._two_levels)
        # Nearly every step ends nobody: two scans of tiny dicts decide that.
        if True in result.terminated.values():
            self._mark(result.terminated, rows.TERMINATED)
            self._final(result.observations)
        if True in result.truncated.values():
            self._mark(result.truncated, rows.TRUNCATED)
            self._final(result.observations)
        # While managers choose, the environment stands still: their choice is no step of it.
        if not self.choosing:
            self.steps = step + 1
        self.played, self.asked = {}, {}
        current = self._adapter.get_current_agents()
        if not current:
            self._final(result.observations)
            return []
        if self.steps == self._max_steps:
            self._pay(self._adapter.owed())
            self._cut_off()
            self._final(result.observations)
            return []
        return self._ask_agents(current, result.observations)

    @property
    def choosing(self) -> bool:
        """Whether managers are asked: while they choose, the environment stands still."""
        return self._managed and next(iter(self.asked), "").endswith(GOAL_SUFFIX)

    def end_early(self, limit: str) -> None:
        """End here, truncated: somebody has taken as much as an episode may take.

        Args:
            limit: Who, and what.

        Raises:
            EpisodeError: The environment failed.
        """
        self.limit = limit
        self.played, self.asked = {}, {}
        self._pay(self._adapter.owed())
        self._cut_off()

    def _add_row(self, step: int, decision: Decision, answer: Answer, action: Any, source: str) -> None:
        agent = decision.agent_id
        seen = self._codecs.seen[agent](decision.encoded)
        if len(seen) > chain.KEEP:
            seen = chain.condensed(seen)
        extras = answer.extras
        if self._two_levels is not None:
            extras = _with_option(self._two_levels, decision, action, extras)
        view = to_plain(decision.observation) if self._keep else None
        row = [step, agent, action, source, seen, answer.latency_ms, extras, 0.0, False, False, view]
        if self._owed:
            row[rows.REWARD] = self._owed.pop(agent, 0.0)
        if extras is not None:
            if "tokens" in extras:
                self._count_tokens(agent, extras["tokens"])
            if "said" in extras:
                self._tell_team(agent, extras["said"])
        self._rows.append(row)
        self._last[agent] = row
        if agent in self.wants_results:
            self._unreported[agent] = row

    def _note_ended_options(self, adapter: HierarchicalAdapter) -> None:
        """How long an option lasted and why it ended stands in the row of its choice."""
        for manager, ended in adapter.take_ended().items():
            row = self._last.get(manager)
            if row is not None:
                told = {"option_ended_by": ended.why, "option_moves": ended.moves}
                row[rows.EXTRAS] = {**(row[rows.EXTRAS] or {}), **told}

    def _pay(self, rewards: Mapping[AgentID, float]) -> None:
        last, returns = self._last, self.returns
        for agent, reward in rewards.items():
            if not isfinite(reward):
                raise EnvironmentFailure(f"the environment gave {agent} a reward of {reward}")
            returns[agent] = returns.get(agent, 0.0) + reward
            row = last.get(agent)
            if row is None:
                self._owed[agent] = self._owed.get(agent, 0.0) + reward
            else:
                row[rows.REWARD] += reward

    def _mark(self, flags: Mapping[AgentID, bool], field: int) -> None:
        self._ended[field - rows.TERMINATED] = True
        for agent, flag in flags.items():
            row = self._last.get(agent)
            if flag and row is not None:
                row[field] = True

    def _cut_off(self) -> None:
        """Everybody who still lives is cut off, in turn-based games those who wait for their turn too."""
        self._ended[1] = True
        if self._two_levels is not None:
            self._two_levels.cut_off()
            self._note_ended_options(self._two_levels)
        for row in self._last.values():
            if not row[rows.TERMINATED]:
                row[rows.TRUNCATED] = True

    def _ask_agents(self, current: Sequence[AgentID], observations: Mapping[AgentID, Any]) -> list[Decision]:
        adapter, asked = self._adapter, self.asked
        for agent in current:
            observation = observations[agent]
            try:
                encoded = self._encode[agent](observation)
            except NotInSpace as exc:
                raise ObservationError(
                    f"the environment showed {agent} what its observation space does not allow: {exc}"
                ) from exc
            decision = Decision(
                self._next_id(),
                self.index,
                self.steps,
                agent,
                self.seats[agent],
                self.seeds[agent],
                observation,
                encoded,
                adapter.action_mask(agent),
                adapter.info(agent),
            )
            asked[agent] = self._shown(decision) if self.views else decision
        return list(asked.values())

    def _shown(self, decision: Decision) -> Decision:
        """The question with what its slot is shown beside the observation."""
        view = self.views.get(decision.slot)
        if view is None:
            return decision
        agent = decision.agent_id
        said = self._said.pop(agent, ()) if view.messages else ()
        shown = self.environment.show(agent, decision.observation, view, decision.action_mask, said)
        if view.state:
            self._saw_state.add(agent)
        return decision._replace(shown=shown)

    def _tell_team(self, agent: AgentID, words: str) -> None:
        """What an agent said is in its team-mates' next question."""
        for mate in self.environment.company(agent)[1]:
            if mate in self.seats:
                self._said.setdefault(mate, []).append(f"{agent}: {words}")

    def outcomes(self) -> Iterator[StepOutcome]:
        """Results of earlier actions that have become complete: their agents act again."""
        if not self._unreported:
            return
        for agent, decision in self.asked.items():
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

    def _final(self, observations: Mapping[AgentID, Any]) -> None:
        """Keep what agents that ended saw last; they are told when the episode is over."""
        for agent, row in self._unreported.items():
            if agent in observations and (row[rows.TERMINATED] or row[rows.TRUNCATED]):
                try:
                    encoded = self._encode[agent](observations[agent])
                except NotInSpace:
                    continue  # nobody acts on it any more
                self._finals[agent] = observations[agent], encoded

    def _outcome(self, agent: AgentID, row: list[Any], observation: Any, encoded: Parts) -> StepOutcome:
        return StepOutcome(
            self.index,
            row[rows.STEP],
            agent,
            self.seats[agent],
            observation,
            encoded,
            row[rows.ACTION],
            nan if agent in self._untold else row[rows.REWARD],
            row[rows.TERMINATED],
            row[rows.TRUNCATED],
            self._adapter.info(agent),
        )

    def latest(self, agent: AgentID) -> Sequence[Any] | None:
        """The row of an agent's last action (see :mod:`gym_gui.controllers.rows`), to be looked at only."""
        return self._last.get(agent)

    def _count_tokens(self, agent: AgentID, tokens: Mapping[str, int]) -> None:
        total = self._tokens.setdefault(agent, {"input": 0, "output": 0})
        for key in total:
            total[key] += int(tokens.get(key, 0))

    def summaries(self, status: EpisodeStatus) -> dict[AgentID, EpisodeSummary]:
        """What each slot's policy is told at the end."""
        return {
            slot: EpisodeSummary(
                self.index, self.returns.get(agent, 0.0), self.steps, self.plan.seed, agent, status
            )
            for agent, slot in self.seats.items()
        }

    def record(
        self, operator_id: str, status: EpisodeStatus, error: str | None, players: Mapping[AgentID, Player]
    ) -> EpisodeFinished:
        """The episode as the run folder holds it."""
        lines, untimed, trajectory = self._codecs.lines(self._rows, self.index, self.plan.seed)
        completed = status is EpisodeStatus.COMPLETED
        scores, outcome, success = self._result() if completed else (None, None, None)
        scores = scores or {}
        unplayed = not self.limit and status is EpisodeStatus.ABORTED and Limit.RUN in self.limits.values()
        record = EpisodeRecord(
            operator_id=operator_id,
            episode_index=self.index,
            seed=self.plan.seed,
            status=status,
            length=self.steps,
            # A manager's return repeats its controller's.
            total_reward=sum(r for a, r in self.returns.items() if not a.endswith(GOAL_SUFFIX)),
            returns=self.returns,
            teams={
                team: TeamRecord(agents, sum(self.returns.get(a, 0.0) for a in agents), scores.get(team))
                for team, agents in self.environment.teams.items()
            },
            outcome=outcome,
            success=success,
            terminated=self._ended[0],
            truncated=self._ended[1],
            agents={agent: players[slot].seated(slot) for agent, slot in self.seats.items()},
            invalid_actions={agent: self.invalid.get(agent, 0) for agent in self.seats},
            tokens={agent: TokenCount(**counted) for agent, counted in self._tokens.items()},
            error=error,
            started_at=self._started_at.isoformat(timespec="milliseconds"),
            wall_s=round(time.perf_counter() - self._clock, 6),
            trajectory_sha256=trajectory,
            rebound=tuple(self._rebound),
            unusable_decisions={agent: self.unusable.get(agent, 0) for agent in self.seats}
            if self.invalid
            else {},
            saw_everything=tuple(agent for agent in self.seats if agent in self.saw_everything),
            saw_state=tuple(agent for agent in self.seats if agent in self._saw_state),
            lost=self.lost or None,
            limit=self.limit or None,
            unplayed=unplayed,
        )
        return EpisodeFinished(self.index, status, lines, seal(record.to_row(), untimed), unplayed)

    def _result(self) -> tuple[Mapping[str, float] | None, Mapping[str, Outcome] | None, bool | None]:
        """Scores by team, outcome by team, and success, as the environment has them.

        Raises:
            EnvironmentFailure: It cannot say.
        """
        environment = self.environment
        try:
            return (
                environment.scores(self.returns),
                environment.outcome(self.returns),
                environment.success(),
            )
        except Exception as exc:  # the border to an environment's own attributes
            raise EnvironmentFailure(f"the result could not be read: {described(exc)}") from exc


def _with_option(
    adapter: HierarchicalAdapter, decision: Decision, action: Any, extras: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Beside a manager's choice what it asks for; beside a controller's move what it does, and since when."""
    if adapter.manages(decision.agent_id):
        option = adapter.options_of(decision.agent_id)[int(action)]
        return {**(extras or {}), "option": option.name, "option_arguments": list(option.arguments)}
    info = decision.info or {}
    if "option" not in info:
        return extras
    return {**(extras or {}), "option": info["option"], "option_since": info["option_since"]}
