"""Who decides for which slot. The engine asks here on every step, for every paradigm."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import msgspec

from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import UsageError
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.policy_source import PolicySource
from gym_gui.core.seeding import SEED, check_seed
from gym_gui.core.spaces import non_finite_row
from gym_gui.core.spending import Amount
from gym_gui.core.types import AgentID, Answer, Decision, EpisodeSummary, StepOutcome
from gym_gui.services.backends import (
    ActorBackend,
    Carrier,
    PaidBackend,
    PolicyBackend,
    SlotInfo,
    TellsAgentsApart,
)

_AT_ONCE_S = 0.0003
_let_others_run: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


@dataclass(frozen=True)
class AgentPolicyBinding:
    """Binding between an agent and its policy.

    Attributes:
        agent_id: The agent (a configured slot).
        policy_id: The policy's name: a worker's for what it plays, or that of an in-process one.
        worker_id: The worker behind it, ``None`` for an in-process policy.
        config: Its settings.
        worker_type: Kind of decision-maker (``rl``, ``llm``, ``human``, ``baseline``, …).
    """

    agent_id: AgentID
    policy_id: str
    worker_id: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    worker_type: str = "baseline"


_LAST_EPISODE = 2**32 - 1
"""Numbers of episodes that are counted down for agents that appear: no run has so many."""


class _Life(NamedTuple):
    """What a slot plays of one agent that has appeared.

    Attributes:
        slot: The slot.
        episode: Its number to the slot's policy.
        seed: Its policy seed.
        agent: The agent.
    """

    slot: AgentID
    episode: int
    seed: int
    agent: AgentID


class SlotPolicies:
    """The policies behind an environment's slots, asked in batches.

    Attributes:
        on_bound: Told of every binding that gets a policy behind it; a session listens here.
    """

    def __init__(self) -> None:
        self._bindings: dict[AgentID, AgentPolicyBinding] = {}
        self._backends: dict[AgentID, PolicyBackend] = {}
        self.on_bound: Callable[[AgentPolicyBinding], None] | None = None
        self._lives: dict[tuple[int, AgentID], _Life] = {}
        self._asked_as: dict[int, Decision] = {}
        self._unused_life = _LAST_EPISODE
        self._live: dict[int, dict[AgentID, tuple[int, AgentID]]] = {}
        self._slots: dict[AgentID, SlotInfo] = {}
        self._answers: list[Answer] = []
        self._owed: dict[int, int] = {}
        self._wakeup: asyncio.Future[None] | None = None

    # -- who decides -----------------------------------------------------------------

    def set_slot(self, slot: SlotInfo) -> None:
        """Tell a slot's spaces: observations are checked for NaN, in-process actions for legality."""
        self._slots[slot.agent_id] = slot
        backend = self._backends.get(slot.agent_id)
        if isinstance(backend, ActorBackend):
            backend.slot = slot

    def bind(self, binding: AgentPolicyBinding, source: PolicySource) -> None:
        """Have an in-process policy decide for an agent, from its next decision on.

        Raises:
            UsageError: Its own ``seed`` is no seed.
        """
        if binding.config.get(SEED) is not None:
            check_seed(binding.config[SEED])
        self.attach(
            binding,
            ActorBackend(binding.agent_id, source.make, self.collect, source.exclusive, binding.config),
        )

    def attach(
        self, binding: AgentPolicyBinding, backend: PolicyBackend, allowance: Amount | None = None
    ) -> None:
        """Put a backend (a worker's slot, say) behind an agent, replacing what was there.

        Args:
            binding: The agent and who it is.
            backend: What decides for it.
            allowance: What it may take in each episode that is on, where that is limited.
        """
        agent = binding.agent_id
        self._bindings[agent] = binding
        self._backends[agent] = backend
        if isinstance(backend, ActorBackend):
            backend.slot = self._slots.get(agent)
        for life in [life for life in self._lives.values() if life.slot == agent]:
            backend.begin(life.episode, life.seed, life.agent)
        for episode, seats in self._live.items():
            if agent in seats:
                if allowance is not None and isinstance(backend, PaidBackend):
                    backend.allow(episode, allowance)
                backend.begin(episode, *seats[agent])
        if self.on_bound is not None:
            self.on_bound(binding)

    @property
    def own_seeds(self) -> dict[AgentID, int]:
        """The setting ``seed`` of agents that have one; it is mixed into their policy seeds."""
        seeds = {agent: binding.config.get(SEED) for agent, binding in self._bindings.items()}
        return {agent: seed for agent, seed in seeds.items() if isinstance(seed, int)}

    @property
    def exclusive(self) -> bool:
        """Whether some policy can hold one episode at a time only."""
        return any(backend.exclusive for backend in self._backends.values())

    def _backend_of(self, agent_id: AgentID) -> PolicyBackend:
        backend = self._backends.get(agent_id)
        if backend is None:
            raise UsageError(f"agent {agent_id!r} has no policy", fix="Bind one first")
        return backend

    # -- what they are asked and told --------------------------------------------------

    def collect(self, answers: list[Answer]) -> None:
        """Sink for backends: answers that have arrived."""
        if self._asked_as:
            answers = [
                answer
                if (asked := self._asked_as.pop(answer.decision.id, None)) is None
                else msgspec.structs.replace(answer, decision=asked)
                for answer in answers
            ]
        self._answers += answers
        self.wake()

    def revoke(self, decisions: Iterable[Decision]) -> None:
        """Nobody waits for answers to these any more; one that comes is handed out all the same."""
        for decision in decisions:
            self._owed.pop(decision.id, None)

    def wake(self) -> None:
        """Have a waiting :meth:`select_batch` return, with whatever there is."""
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)

    @property
    def owes(self) -> bool:
        """Whether an answer is still waited for."""
        return bool(self._owed)

    async def select_batch(self, decisions: Sequence[Decision]) -> list[Answer]:
        """Hand in decisions and return answers that have arrived, to these or earlier ones.

        Waits until there is at least one answer while any is owed; answers come in any
        order. An empty list means nothing is owed, or :meth:`wake` was called.
        """
        self._owed.update({d.id: d.episode for d in decisions})
        for agent, asked in self._by_slot(decisions).items():
            finite = self._finite(agent, asked)
            self._backend_of(agent).ask([self._of_life(d) for d in finite] if self._lives else finite)
        carriers = self._carriers()
        for carrier in carriers:
            carrier.flush()
        if not self._answers and self._owed:
            self._pump_a_moment(carriers)
        if not self._answers and self._owed:
            self._wakeup = asyncio.get_running_loop().create_future()
            await self._wakeup
            self._wakeup = None
        answers, self._answers = self._answers, []
        for answer in answers:
            self._owed.pop(answer.decision.id, None)
        return answers

    def _carriers(self) -> Collection[Carrier]:
        """Each once, however many slots share it."""
        carriers = [backend.carrier for backend in self._backends.values()]
        return dict.fromkeys([carrier for carrier in carriers if carrier is not None])

    def _pump_a_moment(self, carriers: Collection[Carrier]) -> None:
        """Wait a moment for policies that answer at once: cheaper than a trip through the event loop."""
        answers = self._answers
        until = time.perf_counter() + _AT_ONCE_S
        while True:
            for carrier in carriers:
                carrier.pump()
            if answers or time.perf_counter() > until:
                return
            _let_others_run()

    @staticmethod
    def _by_slot(decisions: Sequence[Decision]) -> dict[AgentID, list[Decision]]:
        groups: dict[AgentID, list[Decision]] = {}
        for d in decisions:
            group = groups.get(d.slot)
            if group is None:
                groups[d.slot] = [d]
            else:
                group.append(d)
        return groups

    def _finite(self, agent: AgentID, decisions: list[Decision]) -> list[Decision]:
        """Fail decisions whose observation holds a NaN; return the others."""
        slot = self._slots.get(agent)
        if slot is None or non_finite_row(slot.observation_codec, [d.encoded for d in decisions]) is None:
            return decisions
        bad = [d for d in decisions if non_finite_row(slot.observation_codec, [d.encoded]) is not None]
        reason = "the environment gave an observation that is not a number (NaN)"
        self._answers += [Answer(d, failure=reason) for d in bad]
        dropped = {d.id for d in bad}
        return [d for d in decisions if d.id not in dropped]

    def begin_episode(
        self,
        episode: int,
        seats: Mapping[AgentID, tuple[int, AgentID]],
        allowances: Mapping[AgentID, Amount] | None = None,
    ) -> None:
        """An episode begins.

        Args:
            episode: Its index.
            seats: Policy seed and agent played, by slot.
            allowances: What slots that pay for their decisions may take, where that is limited.
        """
        self._live[episode] = dict(seats)
        for slot, allowance in (allowances or {}).items():
            if isinstance(backend := self._backend_of(slot), PaidBackend):
                backend.allow(episode, allowance)
        for slot, (seed, agent) in seats.items():
            self._backend_of(slot).begin(episode, seed, agent)

    def join(self, episode: int, slot: AgentID, seed: int, info: SlotInfo) -> None:
        """An agent has appeared in an episode, and is played by a slot that plays others there too.

        What a policy remembers is kept by episode: to it, each such agent is an episode of its own.

        Args:
            episode: The episode.
            slot: Whose policy plays it.
            seed: Its policy seed.
            info: The agent, what it sees and does.
        """
        backend, agent = self._backend_of(slot), info.agent_id
        if isinstance(backend, TellsAgentsApart):
            backend.seat(episode, agent, info)
            backend.begin(episode, seed, agent)
            return
        life = self._lives[episode, agent] = _Life(slot, self._unused_life, seed, agent)
        self._unused_life -= 1
        backend.begin(life.episode, seed, agent)

    def _of_life(self, decision: Decision) -> Decision:
        """A question as the policy of an agent that has appeared is asked it."""
        life = self._lives.get((decision.episode, decision.agent_id))
        if life is None:
            return decision
        self._asked_as[decision.id] = decision
        return msgspec.structs.replace(decision, episode=life.episode)

    def left(self, plan: EpisodePlan) -> EpisodePlan:
        """The plan of an episode that is begun again, with what is left to it."""
        if not plan.allowances:
            return plan
        left: dict[AgentID, Amount] = {}
        for slot, allowance in plan.allowances.items():
            backend = self._backend_of(slot)
            paid = isinstance(backend, PaidBackend)
            left[slot] = backend.left(plan.index, allowance) if paid else allowance
        return replace(plan, allowances=left)

    def wants_results(self, agent_id: AgentID) -> bool:
        """Whether :meth:`notify_result` has a listener for this agent."""
        return self._backend_of(agent_id).wants_results

    def notify_result(self, outcome: StepOutcome) -> None:
        """Tell a policy what its action led to."""
        life = self._lives.get((outcome.episode, outcome.agent_id))
        if life is not None:
            outcome = outcome._replace(episode=life.episode)
        self._backend_of(outcome.slot).result(outcome)

    def end_episode(
        self,
        summaries: Mapping[AgentID, EpisodeSummary],
        joined: Mapping[AgentID, EpisodeSummary] | None = None,
    ) -> None:
        """An episode is over. What it was still asked is forgotten.

        Args:
            summaries: By slot.
            joined: Of agents that have appeared, by agent.
        """
        for agent, summary in (joined or {}).items():
            episode = summary.episode_index
            if summary.status != EpisodeStatus.COMPLETED:
                self._owed = {i: e for i, e in self._owed.items() if e != episode}
            life = self._lives.pop((episode, agent), None)
            if life is not None:
                asked = self._asked_as.items()
                self._asked_as = {i: d for i, d in asked if (d.episode, d.agent_id) != (episode, agent)}
                self._backend_of(life.slot).end(replace(summary, episode_index=life.episode))
        for agent, summary in summaries.items():
            episode = summary.episode_index
            self._live.pop(episode, None)
            if summary.status != EpisodeStatus.COMPLETED:
                self._owed = {i: e for i, e in self._owed.items() if e != episode}
            self._backend_of(agent).end(summary)

    def settle(self) -> None:
        """Deliver pending notifications, when nothing will be asked for a while."""
        for backend in self._backends.values():
            backend.settle()
