"""Steps one episode and records its observations, actions and rewards."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from gym_gui.controllers.engine.bound_operator import Player, is_alike
from gym_gui.controllers.engine.episode_rows import Row, SeatCodecs
from gym_gui.controllers.engine.game_clock import GameClock, OnTime, ended_on_time
from gym_gui.controllers.engine.game_notation import WORDED, in_notation
from gym_gui.controllers.engine.session_events import EpisodeFinished
from gym_gui.controllers.engine.trajectory import Round, Trajectory
from gym_gui.core import clock
from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.core.enums import ActionSource, EpisodeStatus, Limit, Outcome, UnusableCause
from gym_gui.core.errors import EnvironmentFailure, ObservationError
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.experiment.slot_patterns import ANY, pattern_of, slot_for
from gym_gui.core.paradigms import HierarchicalAdapter, SingleAgentAdapter
from gym_gui.core.record_digest import seal
from gym_gui.core.records import (
    IN_PROCESS,
    EpisodeRecord,
    RebindingRecord,
    TakebackRecord,
    TeamRecord,
    TokenCount,
)
from gym_gui.core.seeding import policy_seed
from gym_gui.core.spaces import NotInSpace, Parts
from gym_gui.core.types import CAUSE, REFUSED, AgentID, Answer, Decision, EpisodeSummary, Mask, StepResult
from gym_gui.envs import Environment
from gym_gui.services.backends import SlotInfo
from gym_gui.workers.decision_batch import UnaskedBatches
from gym_gui.workers.team_context import JoinedAgent, TeamContext
from mosaic_worker.failures import described

_LONGEST_REASON = 500
"""Largest number of characters that the record keeps of the reason why an answer was refused."""
_POLICY = ActionSource.POLICY.value


BatchQuestion = tuple[int, Any, Parts, Mask | None]
"""One agent's question in a batch: id, observation, observation in wire form, mask of legal actions."""
BatchAnswer = tuple[Any, float, Mapping[str, Any] | None]
"""One agent's answer in a batch: action, latency in milliseconds, extra fields for the record."""


class Episode:
    """Steps one environment through one episode and collects the episode's record.

    The episode asks its agents in one of two ways. It makes a ``Decision`` object per question
    (:attr:`asked`, answered in :attr:`played`). Or, if no viewer needs these objects and agents get nothing
    but their observation, it asks in batches (:attr:`batch_questions`, answered in :attr:`batch_answers`).
    Questions of a batch can be turned into objects at any time (:meth:`unfold`).

    Args:
        plan: Index, seed and seating.
        environment: Reset by :meth:`open`. Only this episode uses it while the episode runs.
        codecs: Seats of the agents, with the encoders of their observations and actions.
        max_steps: Environment steps after which the episode is truncated; ``None`` for no limit.
        next_id: Returns a new decision id.
        keep_observations: Write observations into the rows.
        views: Prompt inputs that slots get in addition to their observations.
        own_seeds: The setting ``seed`` of each slot that has one.
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
        own = self._own_seeds = own_seeds or {}
        self._codecs = codecs
        self.seeds = {
            agent: policy_seed(plan.seed, plan.index, agent, own.get(slot)) for agent, slot in seats.items()
        }
        self.asked: dict[AgentID, Decision] = {}
        self.played: dict[AgentID, tuple[Decision, Answer, Any, str]] = {}
        self.batch_questions: dict[AgentID, BatchQuestion] = {}
        self.batch_answers: dict[AgentID, BatchAnswer] = {}
        self.steps = 0
        self.credit = 0
        self.invalid: dict[AgentID, int] = {}
        self.unusable: dict[AgentID, int] = {}
        self.causes: dict[AgentID, Counter[str]] = {}
        self.refused: dict[AgentID, str] = {}
        self.saw_everything: set[AgentID] = set()
        self._saw_state: set[AgentID] = set()
        self.limits: dict[AgentID, Limit] = {}
        self.limit = ""
        self.lost = ""
        self.players: Mapping[AgentID, Player] = {}
        self.patterns: Mapping[AgentID, SlotInfo] = {}
        self.on_join: Callable[[Episode, SlotInfo], None] | None = None
        self.joined: dict[AgentID, AgentID] = {}
        self.game_clock: GameClock | None = None
        self.on_time: OnTime | None = None
        self._rebound: list[RebindingRecord] = []
        self._passed_on: set[AgentID] = set()
        self._encode = codecs.encode
        adapter = self._adapter = environment.adapter
        self._step, self._step_async = adapter.step, adapter.step_async
        self._step_alone = adapter.step_alone if isinstance(adapter, SingleAgentAdapter) else None
        self._max_steps, self._next_id = max_steps, next_id
        self.views: Mapping[AgentID, PromptInputs] = views or {}
        untold = self._not_told_rewards() if self.views else frozenset[AgentID]()
        self.trajectory = Trajectory(plan.index, codecs, adapter, untold, keep_observations=keep_observations)
        self._said: dict[AgentID, list[str]] = {}
        self._two_levels = adapter if isinstance(adapter, HierarchicalAdapter) else None
        here = self._two_levels is None and self._step_async is None
        self.fits_batches = here and plan.time_control is None and plan.opening is None
        """Whether questions may be sent in batches; environments in other processes need ``Decision``
        objects."""
        self._managed = self._two_levels is not None and any(seat.endswith(GOAL_SUFFIX) for seat in seats)
        self._tokens: dict[AgentID, dict[str, int]] = {}
        self._notates = environment.notates
        self._started_at = clock.now()
        self._clock = time.perf_counter()

    def _not_told_rewards(self) -> frozenset[AgentID]:
        """Return the agents whose workers read prompts and do not receive rewards."""
        told, views = self.environment.tells_rewards, self.views
        seats = self.seats.items()
        return frozenset(agent for agent, slot in seats if slot in views and not told(views[slot]))

    def begin_reset(self) -> None:
        """Start an asynchronous reset, which :meth:`open` completes, if the environment supports it."""
        begin = self._adapter.reset_async
        if begin is not None:
            with suppress(EnvironmentFailure):  # the reset itself reports the failure
                begin(self.plan.seed)

    def open(self, opening: Sequence[Round] = (), batches: UnaskedBatches | None = None) -> bool:
        """Reset the environment and query the agents that act first.

        Args:
            opening: Rounds that are played before any agent is asked. Policies do not receive them.
            batches: Collects the questions; with ``None``, questions become ``Decision`` objects
                (:attr:`asked`).

        Returns:
            Whether any agent is asked.

        Raises:
            EpisodeError: The environment failed, or asks other agents than the opening has actions for.
        """
        observations = self._adapter.reset(seed=self.plan.seed)
        going = self._ask_agents(self._adapter.get_current_agents(), observations, batches)
        wanting, self.trajectory.wants_results = self.trajectory.wants_results, frozenset()
        for played in opening:
            if played.keys() != self.asked.keys():
                raise EnvironmentFailure("the moves before cannot be played again: others are asked")
            for agent, decision in self.asked.items():
                action, told = played[agent]
                self.accept(Answer(decision, action, extras=told), ActionSource.OPENING)
            going = self.advance()
        self.trajectory.wants_results = wanting
        return going

    def accept(self, answer: Answer, source: str) -> None:
        """Store an agent's answer, whose action is played in the next step.

        Args:
            answer: The answer, whose decision names the agent.
            source: Origin of the action (:class:`~gym_gui.core.enums.ActionSource`).
        """
        decision = answer.decision
        if self._notates and answer.extras is not None and not answer.extras.keys().isdisjoint(WORDED):
            answer = replace(answer, extras=in_notation(answer.extras, decision, self.environment))
        self.played[decision.agent_id] = (decision, answer, answer.action, source)

    def substitute(
        self, decision: Decision, action: Any, source: ActionSource, answer: Answer, cause: UnusableCause
    ) -> None:
        """Play ``action`` in place of an unusable ``answer``."""
        why = {REFUSED: answer.invalid[:_LONGEST_REASON], CAUSE: cause.value}
        answer = replace(answer, extras={**(answer.extras or {}), **why})
        self.played[decision.agent_id] = (decision, answer, action, source)

    def ask_again(self, decision: Decision, reason: str) -> Decision:
        """Repeat a question to an agent, with the reason why the agent's answer was refused."""
        again = replace(decision, id=self._next_id(), attempt=decision.attempt + 1, reason=reason)
        self.asked[decision.agent_id] = again
        return again

    def undecided(self, slot: AgentID) -> list[Decision]:
        """Return the open questions of a slot, as ``Decision`` objects."""
        settled = self.played.keys() | self.refused.keys()
        return [d for agent, d in self.asked.items() if d.slot == slot and agent not in settled]

    def ask_another(self, decision: Decision) -> Decision:
        """Repeat a question for the slot's new player; an answer of the former player is ignored."""
        if decision.shown is not None:
            self._said.setdefault(decision.agent_id, [])[:0] = decision.shown.messages
        again = self._shown(replace(decision, id=self._next_id(), attempt=0, reason="", shown=None))
        self.asked[decision.agent_id] = again
        self._passed_on.add(decision.agent_id)
        return again

    def note_rebinding(self, slot: AgentID, player: Player, not_asked: Collection[AgentID] = ()) -> None:
        """Record that a slot has another player from its next decision on.

        A decision that the former player was already asked for stays with that player.

        Args:
            slot: The slot.
            player: The new player.
            not_asked: Agents whose open question has not reached any policy yet.
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
        """Return the policy that chose an agent's last action, if that policy no longer plays the agent.

        Otherwise return ``""``.
        """
        changes = [change for change in self._rebound if change.agent_id == agent]
        row = self.trajectory.latest(agent)
        if row is None or not changes or row.step >= changes[-1].step_index:
            return ""
        before = [change for change in changes if change.step_index <= row.step]
        player = before[-1] if before else self.players[self.seats[agent]]
        return str(player.policy)

    def begin_step(self) -> None:
        """Start an asynchronous step, which :meth:`advance` completes, if the environment supports it."""
        begin = self._step_async
        if begin is not None and not self.refused:
            with suppress(EnvironmentFailure):  # the step itself reports the failure
                begin({agent: self.played[agent][2] for agent in self.asked})

    def advance(self, batches: UnaskedBatches | None = None) -> bool:
        """Step the environment with the actions of all queried agents, and query the agents that act next.

        Args:
            batches: Collects the questions; with ``None``, questions become ``Decision`` objects
                (:attr:`asked`).

        Returns:
            Whether any agent is queried; if no agent is, the episode is over.

        Raises:
            EpisodeError: The environment failed.
        """
        if not self.batch_questions:
            return self._go_on(self._played(), batches)
        if self._step_alone is None:
            return self._go_on(self._chosen(), batches)
        return self._advance_alone(self._step_alone, batches)

    def _played(self) -> StepResult:
        """Step the environment with the actions in :attr:`played`, and record them."""
        # In the order of asking: answers come in any order, and neither the environment
        # nor the record may depend on that.
        step, played, asked, trajectory = self.steps, self.played, self.asked, self.trajectory
        result = self._step({agent: played[agent][2] for agent in asked})
        for agent in asked:
            decision, answer, action, source = played[agent]
            extras = answer.extras
            if self._two_levels is not None:
                extras = _with_option(self._two_levels, decision, action, extras)
            if extras is not None:
                self._hear(agent, extras)
            seen = decision.observation, decision.encoded
            trajectory.add(step, agent, seen, action, source, answer.latency_ms, extras)
        return result

    def _chosen(self) -> StepResult:
        """Step the environment with the actions in :attr:`batch_answers`, and record them."""
        step, answers, trajectory = self.steps, self.batch_answers, self.trajectory
        result = self._step({agent: answers[agent][0] for agent in self.batch_questions})
        for agent, (_, observation, encoded, _) in self.batch_questions.items():
            action, latency_ms, extras = answers[agent]
            trajectory.add(step, agent, (observation, encoded), action, _POLICY, latency_ms, extras)
        self.batch_questions, self.batch_answers = {}, {}
        return result

    def _go_on(self, result: StepResult, batches: UnaskedBatches | None) -> bool:
        """Record a step's rewards and query the agents that act next; return whether any agent is queried."""
        trajectory = self.trajectory
        trajectory.pay(result.rewards)
        if self._two_levels is not None:
            trajectory.note_ended_options(self._two_levels.take_ended())
        # Nearly every step ends no agent: two scans of tiny dicts decide that.
        if True in result.terminated.values():
            trajectory.terminate(result.terminated)
            trajectory.keep_final(result.observations)
        if True in result.truncated.values():
            trajectory.truncate(result.truncated)
            trajectory.keep_final(result.observations)
        # A choice of managers is no environment step.
        if not self.choosing:
            self.steps += 1
        self.played, self.asked = {}, {}
        current = self._adapter.get_current_agents()
        if not current:
            trajectory.keep_final(result.observations)
            return False
        if self.steps == self._max_steps:
            self._cut_off()
            trajectory.keep_final(result.observations)
            return False
        return self._ask_agents(current, result.observations, batches)

    def _advance_alone(
        self, step: Callable[[Any], tuple[Any, float, bool, bool]], batches: UnaskedBatches | None
    ) -> bool:
        """Step a single-agent environment whose agent was queried in a batch; see :meth:`advance`."""
        agent, (_, observation, encoded, _) = self.batch_questions.popitem()
        action, latency_ms, extras = self.batch_answers.pop(agent)
        after, reward, terminated, truncated = step(action)
        row = Row(
            *(self.steps, agent, action, _POLICY, b"", latency_ms, extras, None),
            *(reward, terminated, truncated),
        )
        self.trajectory.add_alone(row, (observation, encoded))
        self.steps += 1
        if terminated or truncated:
            return False
        if self.steps == self._max_steps:
            self._cut_off()
            return False
        if batches is None:
            return self._ask_agents((agent,), {agent: after}, None)
        self._ask_in_batch(agent, after, batches)
        return True

    @property
    def pending(self) -> list[Decision]:
        """Questions of the current step that were asked as ``Decision`` objects."""
        return list(self.asked.values())

    @property
    def is_answered(self) -> bool:
        """Whether each question asked as a ``Decision`` object has an answer or a final failure."""
        return len(self.played) + len(self.refused) == len(self.asked)

    # -- questions of batches ----------------------------------------------------------

    def unfold(self) -> None:
        """Turn the questions of batches into ``Decision`` objects; their answers move to :attr:`played`."""
        for agent, (number, observation, encoded, mask) in self.batch_questions.items():
            self.asked[agent] = decision = self._decision(number, agent, observation, encoded, mask)
            if (chosen := self.batch_answers.get(agent)) is not None:
                action, latency_ms, extras = chosen
                self.accept(Answer(decision, action, "", "", latency_ms, extras), _POLICY)
        self.batch_questions, self.batch_answers = {}, {}

    def unfold_for(self, agent: AgentID, number: int) -> Decision | None:
        """Turn batch questions into ``Decision`` objects and return the open one of an agent.

        Return ``None`` if the question with this number has been answered or is no longer open.
        """
        self.unfold()
        decision = self.asked.get(agent)
        settled = agent in self.played or agent in self.refused
        return None if decision is None or decision.id != number or settled else decision

    def forget_questions(self) -> None:
        """Remove all questions of an episode that is over, so that late answers are ignored."""
        self.asked, self.batch_questions, self.batch_answers = {}, {}, {}

    def _decision(
        self, number: int, agent: AgentID, observation: Any, encoded: Parts, mask: Mask | None
    ) -> Decision:
        info = self._adapter.info(agent)
        seat = self.seats[agent], self.seeds[agent]
        return Decision(number, self.index, self.steps, agent, *seat, observation, encoded, mask, info)

    @property
    def choosing(self) -> bool:
        """Whether managers are being queried; while they choose, the environment takes no step."""
        return self._managed and next(iter(self.asked), "").endswith(GOAL_SUFFIX)

    def end_early(self, limit: str) -> None:
        """Truncate the episode now, because a slot has reached its limit per episode.

        Args:
            limit: Sentence that names the slot and the limit.

        Raises:
            EpisodeError: The environment failed.
        """
        self.limit = limit
        self.played, self.asked = {}, {}
        self._cut_off()

    def end_on_time(self, agent: AgentID) -> None:
        """Truncate the episode now, because an agent ran out of time, and determine the game's result.

        Args:
            agent: The agent.

        Raises:
            EpisodeError: The environment failed.
        """
        try:
            self.on_time = ended_on_time(self.environment, agent)
        except Exception as exc:  # the border to an environment's own attributes
            raise EnvironmentFailure(f"the result could not be read: {described(exc)}") from exc
        self.played, self.asked = {}, {}
        self._cut_off()

    def _hear(self, agent: AgentID, extras: Mapping[str, Any]) -> None:
        """Count the tokens and deliver the message that an agent's policy sent along with its action."""
        if "tokens" in extras:
            self._count_tokens(agent, extras["tokens"])
        if "said" in extras:
            self._tell_team(agent, extras["said"])

    def _cut_off(self) -> None:
        """Truncate the episode for all agents, and record rewards that the adapter has not delivered yet."""
        trajectory = self.trajectory
        trajectory.pay(self._adapter.owed())
        if self._two_levels is not None:
            self._two_levels.cut_off()
        trajectory.cut_off()
        if self._two_levels is not None:
            trajectory.note_ended_options(self._two_levels.take_ended())

    def _ask_agents(
        self,
        current: Sequence[AgentID],
        observations: Mapping[AgentID, Any],
        batches: UnaskedBatches | None,
    ) -> bool:
        fresh = [agent for agent in current if agent not in self.seats]
        if batches is not None and not fresh:
            for agent in current:
                self._ask_in_batch(agent, observations[agent], batches)
            return bool(current)
        joined = [self._join(agent) for agent in fresh]
        if self.on_join is not None:
            for info in joined:  # after all new agents are seated, because each briefing names the others
                self.on_join(self, info)
        for agent in current:
            observation = observations[agent]
            encoded, mask = self._encoded(agent, observation), self._adapter.action_mask(agent)
            decision = self._decision(self._next_id(), agent, observation, encoded, mask)
            self.asked[agent] = self._shown(decision) if self.views else decision
        return bool(current)

    def _ask_in_batch(self, agent: AgentID, observation: Any, batches: UnaskedBatches) -> None:
        encoded, mask = self._encoded(agent, observation), self._adapter.action_mask(agent)
        number = batches.add(self.seats[agent], self, agent, encoded, mask)
        self.batch_questions[agent] = number, observation, encoded, mask

    def _encoded(self, agent: AgentID, observation: Any) -> Parts:
        """Return an observation in wire form.

        Raises:
            ObservationError: The observation is not in its space.
        """
        try:
            return self._encode[agent](observation)
        except NotInSpace as exc:
            raise ObservationError(
                f"the environment showed {agent} what its observation space does not allow: {exc}"
            ) from exc

    def _join(self, agent: AgentID) -> SlotInfo:
        """Seat an agent that has appeared, in the slot whose pattern matches its name.

        Returns:
            The agent's slot information, with its own spaces.

        Raises:
            EnvironmentFailure: No slot matches, or the agent's spaces differ from those of the slot.
        """
        slot = slot_for(agent, self.patterns)
        if slot is None:
            raise EnvironmentFailure(
                f"{agent} is to act, and no slot is named for it",
                fix=f"Name one for agents that appear: {pattern_of(agent)!r} or {ANY!r} under 'workers'",
            )
        adapter, made_for = self._adapter, self.patterns[slot]
        info = dataclasses.replace(
            made_for,
            agent_id=agent,
            observation_space=adapter.observation_space(agent),
            action_space=adapter.action_space(agent),
        )
        if self.players[slot].worker_id != IN_PROCESS and not is_alike(made_for, info):
            raise EnvironmentFailure(
                f"{agent} observes {info.observation_space} and acts in {info.action_space}, and the slot "
                f"{slot!r} was made for {made_for.observation_space} and {made_for.action_space}",
                fix="Name a slot for each kind of agents, whose spaces stay the same from episode to episode",
            )
        self._codecs.join(agent, slot, info)
        self.joined[agent] = slot
        self.seeds[agent] = policy_seed(self.plan.seed, self.index, agent, self._own_seeds.get(slot))
        untold = slot in self.views and not self.environment.tells_rewards(self.views[slot])
        self.trajectory.join(agent, untold=untold)
        self.environment.seat(list(self.seats))
        return info

    def joining(self, agent: AgentID) -> JoinedAgent:
        """Return the message that announces a newly appeared agent to its policy.

        The message contains a briefing if the agent's slot reads prompts.

        Raises:
            ObservationError: The briefing cannot be made.
        """
        view = self.views.get(self.seats[agent])
        if view is None:
            return JoinedAgent(self.index)
        team, mates, others = self.environment.team_and_others(agent)
        try:
            briefing = self.environment.briefing(agent, view)
        except Exception as exc:  # the border to environments' own attributes
            raise ObservationError(f"the briefing of {agent} cannot be made: {described(exc)}") from exc
        lives = self.trajectory.lives
        told = TeamContext(briefing, team, list(filter(lives, mates)), list(filter(lives, others)))
        return JoinedAgent(self.index, told)

    def _shown(self, decision: Decision) -> Decision:
        """Return a question with the prompt inputs of its slot added."""
        view = self.views.get(decision.slot)
        if view is None:
            return decision
        agent = decision.agent_id
        said = self._said.pop(agent, ()) if view.messages else ()
        shown = self.environment.show(agent, decision.observation, view, decision.action_mask, said)
        if view.state:
            self._saw_state.add(agent)
        return replace(decision, shown=shown)

    def _tell_team(self, agent: AgentID, words: str) -> None:
        """Put an agent's message into the next question of each teammate."""
        for mate in self.environment.team_and_others(agent)[1]:
            if mate in self.seats:
                self._said.setdefault(mate, []).append(f"{agent}: {words}")

    def _count_tokens(self, agent: AgentID, tokens: Mapping[str, int]) -> None:
        total = self._tokens.setdefault(agent, {"input": 0, "output": 0})
        for key in total:
            total[key] += int(tokens.get(key, 0))

    def summaries(self, status: EpisodeStatus) -> dict[AgentID, EpisodeSummary]:
        """Return the summary that each slot's policy gets at the end of the episode, by slot."""
        return {
            slot: EpisodeSummary(
                self.index, self.trajectory.returns.get(agent, 0.0), self.steps, self.plan.seed, agent, status
            )
            for agent, slot in self.seats.items()
            if agent not in self.joined
        }

    def joined_summaries(self, status: EpisodeStatus) -> dict[AgentID, EpisodeSummary]:
        """Return the episode summaries for policies of agents that appeared during the episode, by agent."""
        returns, seed = self.trajectory.returns, self.plan.seed
        return {
            agent: EpisodeSummary(self.index, returns.get(agent, 0.0), self.steps, seed, agent, status)
            for agent in self.joined
        }

    def record(
        self, operator_id: str, status: EpisodeStatus, error: str | None, players: Mapping[AgentID, Player]
    ) -> EpisodeFinished:
        """Return the finished episode with its lines for the run folder."""
        trajectory, returns = self.trajectory, self.trajectory.returns
        words = self.environment.notation(trajectory.played) if self._notates else ()
        lines, untimed, digest = trajectory.lines(self.plan.seed, words)
        completed = status is EpisodeStatus.COMPLETED
        scores, outcome, success = self._result() if completed else (None, None, None)
        result, before = self._how(outcome), self.plan.opening
        scores = scores or {}
        kept_back = {Limit.RUN, Limit.STOP}.intersection(self.limits.values())
        unplayed = not self.limit and status is EpisodeStatus.ABORTED and bool(kept_back)
        record = EpisodeRecord(
            operator_id=operator_id,
            episode_index=self.index,
            seed=self.plan.seed,
            status=status,
            length=self.steps,
            # A manager's return repeats its controller's.
            total_reward=sum(r for a, r in returns.items() if not a.endswith(GOAL_SUFFIX)),
            returns=returns,
            teams={
                team: TeamRecord(agents, sum(returns.get(a, 0.0) for a in agents), scores.get(team))
                for team, agents in self.environment.teams.items()
            },
            outcome=outcome,
            success=success,
            terminated=trajectory.terminated,
            truncated=trajectory.truncated,
            agents={agent: players[slot].seated(slot) for agent, slot in self.seats.items()},
            invalid_actions={agent: self.invalid.get(agent, 0) for agent in self.seats},
            tokens={agent: TokenCount(**counted) for agent, counted in self._tokens.items()},
            error=error,
            started_at=self._started_at.isoformat(timespec="milliseconds"),
            wall_s=round(time.perf_counter() - self._clock, 6),
            trajectory_sha256=digest,
            rebound=tuple(self._rebound),
            unusable_decisions={agent: self.unusable.get(agent, 0) for agent in self.seats}
            if self.invalid
            else {},
            unusable_causes={agent: dict(causes) for agent, causes in self.causes.items()},
            saw_everything=tuple(agent for agent in self.seats if agent in self.saw_everything),
            saw_state=tuple(agent for agent in self.seats if agent in self._saw_state),
            lost=self.lost or None,
            limit=self.limit or None,
            unplayed=unplayed,
            result=result,
            taken_back=None if before is None else TakebackRecord(before.episode, before.step),
            time_control=self.plan.time_control,
            out_of_time=None if self.on_time is None else self.on_time.agent,
        )
        return EpisodeFinished(self.index, status, lines, seal(record.to_row(), untimed), unplayed)

    def outcome(self) -> Mapping[str, Outcome] | None:
        """Return win, draw or loss by team, from the game or its clocks; ``None`` if no team can win."""
        on_time = self.on_time
        return self.environment.outcome(self.trajectory.returns) if on_time is None else on_time.outcome

    def result(self, outcome: Mapping[str, Outcome] | None) -> str:
        """Return a sentence that says who won the game and how; ``""`` if the game has none.

        Args:
            outcome: Return value of :meth:`outcome`.
        """
        return self.environment.result(outcome) if self.on_time is None else self.on_time.result

    def _how(self, outcome: Mapping[str, Outcome] | None) -> str | None:
        """Return a sentence that says who won the game and how; ``None`` if the game has none.

        Raises:
            EnvironmentFailure: The environment cannot tell the result.
        """
        try:
            return self.result(outcome) or None
        except Exception as exc:  # the border to an environment's own attributes
            raise EnvironmentFailure(f"the result could not be read: {described(exc)}") from exc

    def _result(self) -> tuple[Mapping[str, float] | None, Mapping[str, Outcome] | None, bool | None]:
        """Return scores by team, outcome by team, and success, from the environment and its clocks.

        Raises:
            EnvironmentFailure: The environment cannot tell the scores, the outcome or the success.
        """
        environment, returns = self.environment, self.trajectory.returns
        try:
            return (
                environment.scores(returns),
                self.outcome(),
                environment.success(),
            )
        except Exception as exc:  # the border to an environment's own attributes
            raise EnvironmentFailure(f"the result could not be read: {described(exc)}") from exc


def _with_option(
    adapter: HierarchicalAdapter, decision: Decision, action: Any, extras: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return an answer's extra fields with the option that a manager chose or a controller follows.

    A controller's fields also contain the step at which its option began.
    """
    if adapter.manages(decision.agent_id):
        option = adapter.options_of(decision.agent_id)[int(action)]
        return {**(extras or {}), "option": option.name, "option_arguments": list(option.arguments)}
    info = decision.info or {}
    if "option" not in info:
        return extras
    return {**(extras or {}), "option": info["option"], "option_since": info["option_since"]}
