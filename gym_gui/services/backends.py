"""Interfaces of policy backends, which pass decisions to an in-process policy or a worker and deliver its
answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

from gym_gui.core.experiment.legality import ActionNames, problem_with
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.policy_source import ActorContext, PolicySource
from gym_gui.core.protocols import Actor
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import Answer, Decision, EpisodeSummary, Mask, StepOutcome, StepSnapshot
from gym_gui.workers.decision_batch import DecisionBatch
from gym_gui.workers.team_context import JoinedAgent
from mosaic_worker.failures import FailureLog

_log = logging.getLogger(__name__)

Sink = Callable[[list[Answer]], None]


@dataclass(frozen=True)
class SlotInfo:
    """Description of an agent slot of the environment.

    Attributes:
        agent_id: The slot's name.
        observation_space: Gymnasium space of the slot's observations.
        action_space: Gymnasium space of the slot's actions.
        noop_action: The environment's own no-op, or ``None``.
        action_meanings: A word for each discrete action, or empty.
        offers: Inputs besides the observation that the slot can offer: ``text``, ``image``, ``messages``,
            ``legal_actions`` and other forms (:mod:`gym_gui.core.experiment.prompt_inputs`).
        pictures: Kinds of pictures that the slot can show, from
            :data:`~gym_gui.core.experiment.prompt_inputs.FRAMES`; if empty, the slot offers no ``image``.
        env_id: Canonical id of the environment; empty if the id does not identify the game.
        options: Options that a manager may choose for the slot, by number; empty if it has none.
        default_action: Action that the environment plays for an invalid answer, or ``None``.
    """

    agent_id: str
    observation_space: Any
    action_space: Any
    noop_action: Any = None
    action_meanings: Sequence[str] = ()
    offers: Sequence[str] = ("legal_actions",)
    pictures: Sequence[str] = ()
    env_id: str = ""
    options: Sequence[str] = ()
    default_action: Any = None

    @cached_property
    def observation_codec(self) -> SpaceCodec:
        """Codec that encodes and decodes the slot's observations."""
        return SpaceCodec(self.observation_space)

    @cached_property
    def action_codec(self) -> SpaceCodec:
        """Codec that encodes and decodes the slot's actions."""
        return SpaceCodec(self.action_space)

    @property
    def words(self) -> dict[int, str]:
        """Names of the discrete actions by action number, without actions that have no name."""
        first = int(getattr(self.action_space, "start", 0) or 0)
        return {first + place: word for place, word in enumerate(self.action_meanings) if word}


@runtime_checkable
class PaidBackend(Protocol):
    """Backend whose decisions may cost something."""

    def allow(self, episode: int, allowance: Amount) -> None:
        """Set how much the backend may spend in an episode that begins."""
        ...

    def left(self, episode: int, allowance: Amount) -> Amount:
        """Return the remaining allowance for an episode that is restarted."""
        ...

    def over(self, episode: int) -> None:
        """Drop the allowance of an episode that has ended for all agents that the backend played."""
        ...


@runtime_checkable
class BatchBackend(Protocol):
    """Backend that can answer decisions of many episodes at once, without one object per decision."""

    @property
    def takes_batches(self) -> bool:
        """Whether the backend can be asked in batches at present."""
        ...

    def ask_batch(self, batch: DecisionBatch) -> None:
        """Pass a batch of decisions to the backend, which answers it whole, in parts, or as objects."""
        ...

    def unfold(self) -> None:
        """Turn the unanswered decisions of batches into :class:`Decision` objects."""
        ...


@runtime_checkable
class TellsAgentsApart(Protocol):
    """Backend that can answer for several agents of one episode separately."""

    def seat(self, episode: int, agent: str, slot: SlotInfo) -> None:
        """Register the spaces of an agent that has appeared in an episode."""
        ...


class Carrier(Protocol):
    """Transport of decisions to a worker process and of answers back, shared by all slots of the process."""

    def flush(self) -> None:
        """Send all queued decisions in one message. The call never blocks."""
        ...

    def pump(self) -> None:
        """Deliver the answers that have arrived. The call never blocks."""
        ...


class PolicyBackend(Protocol):
    """Policy that answers decisions of one slot, from any number of episodes."""

    @property
    def carrier(self) -> Carrier | None:
        """Transport of the decisions; ``None`` if the policy answers at once."""
        ...

    @property
    def exclusive(self) -> bool:
        """Whether the policy can play only one episode at a time."""
        ...

    @property
    def wants_results(self) -> bool:
        """Whether the policy uses the results that :meth:`result` passes."""
        ...

    def begin(self, episode: int, seed: int, agent_id: str = "", joined: JoinedAgent | None = None) -> None:
        """Begin an episode in which the slot plays ``agent_id``, by default its own agent.

        Args:
            episode: Number of the episode. An agent that joined later has a number of its own.
            seed: Policy seed.
            agent_id: The agent.
            joined: For an agent that joined later: the real episode and the context for the agent.
        """
        ...

    def ask(self, decisions: Sequence[Decision]) -> None:
        """Pass decisions. The answers reach the sink at once or later, in any order.

        Decisions for another process are sent at the next :meth:`Carrier.flush`.
        """
        ...

    def result(self, outcome: StepOutcome) -> None:
        """Pass the policy the result of one of its actions."""
        ...

    def end(self, summary: EpisodeSummary) -> None:
        """Notify the policy that an episode has ended."""
        ...

    def settle(self) -> None:
        """Deliver pending notifications, because no more decisions may follow for a while."""
        ...


@dataclass
class ActorBackend:
    """In-process policy of one slot, with one actor per episode.

    Attributes:
        agent_id: The slot.
        make: Makes the actor of an episode.
        sink: Receives the answers, before :meth:`ask` returns.
        exclusive: Whether ``make`` returns the same object each time, so that only one episode may be
            open at a time.
        config: Settings of the binding, passed to the factory.
        slot: Spaces of the slot. Without them, answers are passed on unchecked.
    """

    agent_id: str
    make: Callable[[ActorContext], Actor]
    sink: Sink
    exclusive: bool = False
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    slot: SlotInfo | None = None

    carrier = None

    @classmethod
    def of(
        cls, source: PolicySource, agent_id: str, sink: Sink, config: Mapping[str, Any] | None = None
    ) -> ActorBackend:
        """Return a backend that plays one slot with the actors of a source."""
        return cls(agent_id, source.make, sink, source.exclusive, config or {})

    def __post_init__(self) -> None:
        self._actors: dict[int, Actor] = {}
        self._broken: dict[int, str] = {}
        self._failures = FailureLog(_log)

    @property
    def wants_results(self) -> bool:
        return True

    def actor(self, episode: int, seed: int | None = None, agent_id: str = "") -> Actor:
        """Return the actor of an episode, and make it on first use."""
        found = self._actors.get(episode)
        if found is None:
            agent = agent_id or self.agent_id
            context = ActorContext(agent, episode, seed, config=self.config)
            if self.slot is not None:
                context = ActorContext(
                    agent,
                    episode,
                    seed,
                    self.slot.observation_space,
                    self.slot.action_space,
                    self.slot.noop_action,
                    self.config,
                )
            found = self._actors[episode] = self.make(context)
        return found

    def begin(self, episode: int, seed: int, agent_id: str = "", joined: JoinedAgent | None = None) -> None:
        try:
            self.actor(episode, seed, agent_id)
        except Exception as exc:  # the person's own policy may raise anything
            self._broken[episode] = self._raised(episode, "its policy could not be made", exc)

    def ask(self, decisions: Sequence[Decision]) -> None:
        self.sink([self._answer(d) for d in decisions])

    def _answer(self, d: Decision) -> Answer:
        snapshot = StepSnapshot(
            step_index=d.step,
            observation=d.observation,
            agent_id=d.agent_id,
            episode_index=d.episode,
            seed=d.seed,
            action_mask=d.action_mask,
            info=d.info if d.info is not None else {},
        )
        if d.episode in self._broken:
            return Answer(d, failure=self._broken[d.episode])
        asked = time.perf_counter()
        try:
            action: Any = self.actor(d.episode, d.seed).select_action(snapshot)
        except Exception as exc:  # the person's own policy may raise anything
            return Answer(
                d,
                failure=self._raised(d.episode, "select_action raised", exc),
            )
        latency = (time.perf_counter() - asked) * 1e3
        if action is None:
            return Answer(d, invalid="the policy returned no action", latency_ms=latency)
        if self.slot is None:
            return Answer(d, action, latency_ms=latency)
        action, invalid = _canonical(self.slot, action, d.action_mask)
        return Answer(d, action, invalid, "", latency)

    def result(self, outcome: StepOutcome) -> None:
        snapshot = StepSnapshot(
            step_index=outcome.step,
            observation=outcome.observation,
            reward=outcome.reward,
            terminated=outcome.terminated,
            truncated=outcome.truncated,
            agent_id=outcome.agent_id,
            episode_index=outcome.episode,
            info=outcome.info,
            action=outcome.action,
        )
        if outcome.episode in self._broken:
            return
        try:
            self.actor(outcome.episode).on_step(snapshot)
        except Exception as exc:  # the person's own policy may raise anything; the next ask() reports it
            said = self._raised(outcome.episode, "on_step raised", exc)
            self._broken[outcome.episode] = f"{said} (in on_step)"

    def end(self, summary: EpisodeSummary) -> None:
        actor = self._actors.pop(summary.episode_index, None)
        if self._broken.pop(summary.episode_index, "") or actor is None:
            return
        try:
            actor.on_episode_end(summary)
        except Exception as exc:  # the person's own policy may raise anything; the episode is over
            self._raised(summary.episode_index, "on_episode_end raised", exc)

    def _raised(self, episode: int, what: str, error: Exception) -> str:
        return self._failures.add(f"{self.agent_id}, episode {episode}: {what}", error)

    def settle(self) -> None:
        """Do nothing, because answers are given at once and nothing is ever pending."""


def _canonical(slot: SlotInfo, action: Any, mask: Mask | None) -> tuple[Any, str]:
    """Return an action in the dtype of its space, and why the action is invalid or ``""``.

    Thus every kind of policy passes the same action to the environment, and a replay repeats it exactly.
    """
    codec = slot.action_codec
    problem = problem_with(codec.space, action, mask, ActionNames.of(slot.agent_id, slot.action_meanings))
    if problem:
        return action, problem
    try:
        return codec.decode(codec.encode(action)), ""
    except (ValueError, TypeError, LookupError, AttributeError) as exc:
        return action, f"it does not fit the action space: {exc}"
