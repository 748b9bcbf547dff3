"""What can stand behind a slot: an in-process policy or a worker's slot, one interface."""

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
from gym_gui.workers.team_context import Joined
from mosaic_worker.failures import FailureLog

_log = logging.getLogger(__name__)

Sink = Callable[[list[Answer]], None]


@dataclass(frozen=True)
class SlotInfo:
    """What is known of an agent slot of the environment.

    Attributes:
        agent_id: The slot's name.
        observation_space: Gymnasium space of what it sees.
        action_space: Gymnasium space of what it does.
        noop_action: The environment's own no-op, or ``None``.
        action_meanings: A word per discrete action, or empty.
        offers: What it can be shown beside the observation: ``text``, ``image``, ``messages``,
            ``legal_actions``, how it can be told otherwise (:mod:`gym_gui.core.experiment.prompt_inputs`).
        pictures: Which pictures it may be shown, of :data:`~gym_gui.core.experiment.prompt_inputs.FRAMES`;
            with none it offers no ``image``.
        env_id: Canonical id of its environment; empty where that says nothing of the game.
        options: What a manager may ask of it, by number; empty where it has none.
        default_action: What the environment says is played for an answer that cannot be, or ``None``.
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
        """Codec of observations."""
        return SpaceCodec(self.observation_space)

    @cached_property
    def action_codec(self) -> SpaceCodec:
        """Codec of actions."""
        return SpaceCodec(self.action_space)

    @property
    def words(self) -> dict[int, str]:
        """The word of each action number that has one."""
        first = int(getattr(self.action_space, "start", 0) or 0)
        return {first + place: word for place, word in enumerate(self.action_meanings) if word}


@runtime_checkable
class PaidBackend(Protocol):
    """A backend whose decisions may cost something."""

    def allow(self, episode: int, allowance: Amount) -> None:
        """How much it may take in an episode that begins."""
        ...

    def left(self, episode: int, allowance: Amount) -> Amount:
        """What is left of an allowance to an episode that is begun again."""
        ...

    def over(self, episode: int) -> None:
        """An episode is over for all agents that it has played there: its allowance is gone."""
        ...


@runtime_checkable
class BatchBackend(Protocol):
    """A backend that can be asked in many episodes at once without an object for each question."""

    @property
    def takes_batches(self) -> bool:
        """Whether it can be asked so now."""
        ...

    def ask_batch(self, batch: DecisionBatch) -> None:
        """Hand in questions; the batch, or its parts, are answered, or unfolded and answered one by one."""
        ...

    def unfold(self) -> None:
        """Make objects of what was asked in batches and has no answer yet."""
        ...


@runtime_checkable
class TellsAgentsApart(Protocol):
    """A backend that answers for several agents of one episode."""

    def seat(self, episode: int, agent: str, slot: SlotInfo) -> None:
        """An agent has appeared in an episode; what it sees and does."""
        ...


class Carrier(Protocol):
    """What takes questions to a process and brings its answers; slots of one process share it."""

    def flush(self) -> None:
        """Have what was handed in leave, in one piece; never blocks."""
        ...

    def pump(self) -> None:
        """Hand over answers that have arrived without being noticed yet; never blocks."""
        ...


class PolicyBackend(Protocol):
    """A policy that answers decisions of one slot, from any number of episodes."""

    @property
    def carrier(self) -> Carrier | None:
        """What its questions travel by; ``None`` where they are answered at once."""
        ...

    @property
    def exclusive(self) -> bool:
        """Whether it can hold one episode at a time only."""
        ...

    @property
    def wants_results(self) -> bool:
        """Whether :meth:`result` has a listener."""
        ...

    def begin(self, episode: int, seed: int, agent_id: str = "", joined: Joined | None = None) -> None:
        """An episode begins, in which the slot plays ``agent_id`` (its own by default).

        Args:
            episode: Its number: of an agent that has appeared, one that stands for it alone.
            seed: Policy seed.
            agent_id: The agent.
            joined: Of an agent that has appeared: the real episode, and the agent's context.
        """
        ...

    def ask(self, decisions: Sequence[Decision]) -> None:
        """Hand in decisions; answers reach the sink, at once or later, in any order.

        What travels leaves with the next :meth:`Carrier.flush`.
        """
        ...

    def result(self, outcome: StepOutcome) -> None:
        """Tell what an earlier answer led to."""
        ...

    def end(self, summary: EpisodeSummary) -> None:
        """An episode is over."""
        ...

    def settle(self) -> None:
        """Nothing more may come for a while: deliver what is pending."""
        ...


@dataclass
class ActorBackend:
    """In-process policies, one per episode.

    Attributes:
        agent_id: The slot.
        make: Makes the actor of an episode.
        sink: Gets the answers; called before :meth:`ask` returns.
        exclusive: ``make`` returns the same object each time, so that only one episode may
            be open at a time.
        config: The binding's settings, shown to the factory.
        slot: The slot's spaces; without them answers are passed on unchecked.
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
        """The policy of a source, behind one slot."""
        return cls(agent_id, source.make, sink, source.exclusive, config or {})

    def __post_init__(self) -> None:
        self._actors: dict[int, Actor] = {}
        self._broken: dict[int, str] = {}
        self._failures = FailureLog(_log)

    @property
    def wants_results(self) -> bool:
        return True

    def actor(self, episode: int, seed: int | None = None, agent_id: str = "") -> Actor:
        """The policy of an episode, made on first use."""
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

    def begin(self, episode: int, seed: int, agent_id: str = "", joined: Joined | None = None) -> None:
        try:
            self.actor(episode, seed, agent_id)
        except Exception as exc:  # the border to a person's own policy
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
        except Exception as exc:  # the border to a person's own policy
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
        except Exception as exc:  # the border to a person's own policy; it fails when asked next
            said = self._raised(outcome.episode, "on_step raised", exc)
            self._broken[outcome.episode] = f"{said} (in on_step)"

    def end(self, summary: EpisodeSummary) -> None:
        actor = self._actors.pop(summary.episode_index, None)
        if self._broken.pop(summary.episode_index, "") or actor is None:
            return
        try:
            actor.on_episode_end(summary)
        except Exception as exc:  # the border to a person's own policy; the episode is over
            self._raised(summary.episode_index, "on_episode_end raised", exc)

    def _raised(self, episode: int, what: str, error: Exception) -> str:
        return self._failures.add(f"{self.agent_id}, episode {episode}: {what}", error)

    def settle(self) -> None:
        """Answers are given at once; nothing is ever pending."""


def _canonical(slot: SlotInfo, action: Any, mask: Mask | None) -> tuple[Any, str]:
    """The action in its space's own dtype, as a worker's would arrive, and what is wrong with it.

    Thus every kind of policy gives the environment the same action, and a replay gives it again.
    """
    codec = slot.action_codec
    problem = problem_with(codec.space, action, mask, ActionNames.of(slot.agent_id, slot.action_meanings))
    if problem:
        return action, problem
    try:
        return codec.decode(codec.encode(action)), ""
    except (ValueError, TypeError, LookupError, AttributeError) as exc:
        return action, f"it does not fit the action space: {exc}"
