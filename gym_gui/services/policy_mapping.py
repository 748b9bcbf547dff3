"""Service that maps agents to policies and passes the decisions of a session to these policies."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from gym_gui.core.enums import EpisodeStatus, SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.policy_source import PolicySource
from gym_gui.core.protocols import Actor, PolicyController, as_actor
from gym_gui.core.seeding import SEED, check_seed
from gym_gui.core.spaces import non_finite_row
from gym_gui.core.types import AgentID, Answer, Decision, EpisodeSummary, StepOutcome, StepSnapshot
from gym_gui.services.actor import ActorService, default_actor_service
from gym_gui.services.appeared_agents import AppearedAgents
from gym_gui.services.backends import (
    ActorBackend,
    BatchBackend,
    Carrier,
    PaidBackend,
    PolicyBackend,
    SlotInfo,
    TellsAgentsApart,
)
from gym_gui.workers.decision_batch import AnswerBatch, DecisionBatch
from gym_gui.workers.team_context import JoinedAgent

_AT_ONCE_S = 0.0003
_let_others_run: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


@dataclass(frozen=True)
class AgentPolicyBinding:
    """Binding between an agent and its policy.

    Attributes:
        agent_id: The agent, which is a configured slot.
        policy_id: Name of the policy.
        worker_id: Worker that runs the policy; ``None`` for an in-process policy.
        config: Settings of the policy.
        worker_type: Kind of decision-maker (``rl``, ``llm``, ``human``, ``baseline``, …).
    """

    agent_id: AgentID
    policy_id: str
    worker_id: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    worker_type: str = "baseline"


class PolicyMappingService:
    """Maps agents to policies and asks the policies in batches.

    An agent's policy is one of three: a policy of the actor service, bound by its name
    (:meth:`bind_agent_policy`), a policy object (:meth:`set_policy`), or the slot of a worker
    (:meth:`attach`). A session passes the decisions of all running episodes to :meth:`select_batch`. Without
    a session, :meth:`select_action` asks one in-process policy.

    Args:
        actor_service: Holds the in-process policies by name. By default, a service with the built-in
            policies is created.

    Attributes:
        on_bound: Called with every binding that gets a backend. A session sets this callback.
    """

    def __init__(self, actor_service: ActorService | None = None) -> None:
        self._actors = actor_service if actor_service is not None else default_actor_service()
        self._paradigm = SteppingParadigm.SINGLE_AGENT
        self._agents: list[AgentID] = []
        self._bindings: dict[AgentID, AgentPolicyBinding] = {}
        self._backends: dict[AgentID, PolicyBackend] = {}
        # The backends that are also paid or batch backends. isinstance() at each call would take longer
        # than the call itself.
        self._paid: dict[AgentID, PaidBackend] = {}
        self._batch_backends: dict[AgentID, BatchBackend] = {}
        self._controllers: dict[AgentID, PolicyController] = {}
        self._default: PolicySource | None = None
        self._default_controller: PolicyController | None = None
        self._by_default: dict[AgentID, PolicyBackend] = {}
        self._bound_by_default: set[AgentID] = set()  # bound by set_agents, not by a caller
        self.on_bound: Callable[[AgentPolicyBinding], None] | None = None
        self._slots: dict[AgentID, SlotInfo] = {}
        self._appeared = AppearedAgents()
        self._live: dict[int, dict[AgentID, tuple[int, AgentID]]] = {}
        self._answers: list[Answer | AnswerBatch] = []
        self._pending: dict[int, int] = {}
        self._pending_in_batches = 0
        self._wakeup: asyncio.Future[None] | None = None

    # -- the environment ---------------------------------------------------------------

    @property
    def paradigm(self) -> SteppingParadigm:
        """How agents take turns in the environment. The service stores this value but does not use it."""
        return self._paradigm

    @property
    def agent_ids(self) -> list[AgentID]:
        """Agents of the environment, as set by :meth:`set_agents`."""
        return list(self._agents)

    @property
    def actor_service(self) -> ActorService:
        """Service that holds the in-process policies, which can be bound by name."""
        return self._actors

    def set_paradigm(self, paradigm: SteppingParadigm) -> None:
        """Set the stepping paradigm of the environment."""
        self._paradigm = paradigm

    set_paradigm_hint = set_paradigm

    def set_agents(self, agent_ids: Sequence[AgentID]) -> None:
        """Set the environment's agents.

        Agents without a binding are bound to the active actor, unless there is a default policy.
        """
        self._agents = list(agent_ids)
        active = self._actors.get_active_actor_id()
        for agent in self._agents:
            if agent not in self._bindings and active is not None and self._default is None:
                self.bind_agent_policy(agent, active)
                self._bound_by_default.add(agent)

    def is_multi_agent(self) -> bool:
        """Return whether the environment has more than one agent."""
        return len(self._agents) > 1

    def set_slot(self, slot: SlotInfo) -> None:
        """Set the spaces of a slot.

        Observations are checked for NaN, and in-process actions for legality, against these spaces.
        """
        self._slots[slot.agent_id] = slot
        self._by_default.pop(slot.agent_id, None)
        backend = self._backends.get(slot.agent_id)
        if isinstance(backend, ActorBackend):
            backend.slot = slot

    # -- bindings ----------------------------------------------------------------------

    def bind_agent_policy(
        self,
        agent_id: AgentID,
        policy_id: str,
        *,
        worker_id: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        """Bind an agent to a policy of the actor service.

        A running session uses the new policy from the agent's next decision on. For a policy that runs in a
        worker, this method only records the binding and its settings, and a session starts the worker.

        Args:
            agent_id: The agent.
            policy_id: The policy's name.
            worker_id: Worker to record in the binding; by default, the worker that runs the policy.
            config: The policy's settings.

        Raises:
            KeyError: ``policy_id`` is unknown.
            UsageError: The setting ``seed`` is not a valid seed.
        """
        registration = self._actors.registration(policy_id)
        settings = dict(config or {})
        if settings.get(SEED) is not None:
            check_seed(settings[SEED])
        if not registration.worker_id:
            backend = registration.backend(agent_id, self.collect, settings)
            self.attach(AgentPolicyBinding(agent_id, policy_id, worker_id, settings), backend)
            return
        self._unbind(agent_id)
        self._bindings[agent_id] = AgentPolicyBinding(
            agent_id, policy_id, worker_id or registration.worker_id, {**registration.settings, **settings}
        )

    def set_policy(self, agent_id: AgentID, policy: PolicyController) -> None:
        """Bind an agent to a policy object."""
        binding = AgentPolicyBinding(agent_id, as_actor(policy).id)
        self.attach(binding, ActorBackend.of(PolicySource.of_object(policy), agent_id, self.collect))
        self._controllers[agent_id] = policy

    def set_default_policy(self, policy: PolicyController) -> None:
        """Set the policy for agents that have no policy of their own.

        It replaces the active actor for all agents that :meth:`set_agents` bound to that actor.
        """
        self._default = PolicySource.of_object(policy)
        self._by_default.clear()
        self._default_controller = policy
        for agent in list(self._bound_by_default):
            self._unbind(agent)
            self._bindings.pop(agent, None)

    def _unbind(self, agent_id: AgentID) -> None:
        self._controllers.pop(agent_id, None)
        for known in (self._backends, self._paid, self._batch_backends):
            known.pop(agent_id, None)
        self._bound_by_default.discard(agent_id)

    def attach(
        self, binding: AgentPolicyBinding, backend: PolicyBackend, allowance: Amount | None = None
    ) -> None:
        """Bind an agent to a backend, for example the slot of a worker, and replace the agent's old backend.

        Args:
            binding: The agent and its policy.
            backend: Decides for the agent.
            allowance: The most that the backend may spend in each running episode; ``None`` for no limit.
        """
        agent = binding.agent_id
        self.unfold()  # before the old backend is forgotten
        self._unbind(agent)
        self._bindings[agent] = binding
        self._backends[agent] = backend
        if isinstance(backend, PaidBackend):
            self._paid[agent] = backend
        if isinstance(backend, BatchBackend):
            self._batch_backends[agent] = backend
        if isinstance(backend, ActorBackend):
            backend.slot = self._slots.get(agent)
        for episode, seats in self._live.items():
            if allowance is not None and agent in self._paid:
                self._paid[agent].allow(episode, allowance)
            if agent in seats:
                backend.begin(episode, *seats[agent])
        for appeared in self._appeared.of_slot(agent):
            backend.begin(appeared.episode, appeared.seed, appeared.agent, appeared.joined)
        if self.on_bound is not None:
            self.on_bound(binding)

    def get_policy(self, agent_id: AgentID) -> PolicyController | None:
        """Return the policy object set for an agent, or the default policy if the agent has no binding."""
        default = None if agent_id in self._bindings else self._default_controller
        return self._controllers.get(agent_id, default)

    def get_binding(self, agent_id: AgentID) -> AgentPolicyBinding | None:
        """Return the agent's binding, or ``None``."""
        return self._bindings.get(agent_id)

    def get_all_bindings(self) -> dict[AgentID, AgentPolicyBinding]:
        """Return all bindings by agent."""
        return dict(self._bindings)

    def list_agents(self) -> list[AgentID]:
        """Return the agents that have a backend of their own."""
        return list(self._backends)

    def clear(self) -> None:
        """Remove all policies and bindings."""
        self._bindings.clear()
        for known in (self._backends, self._paid, self._batch_backends):
            known.clear()
        self._controllers.clear()
        self._by_default.clear()
        self._bound_by_default.clear()
        self._default = self._default_controller = None

    @property
    def own_seeds(self) -> dict[AgentID, int]:
        """Setting ``seed`` of each agent that has one. It is mixed into the agent's policy seeds."""
        seeds = {agent: binding.config.get(SEED) for agent, binding in self._bindings.items()}
        return {agent: seed for agent, seed in seeds.items() if isinstance(seed, int)}

    @property
    def exclusive(self) -> bool:
        """Whether some policy can play only one episode at a time."""
        if self._default is not None and self._default.exclusive:
            return True
        return any(backend.exclusive for backend in self._backends.values())

    def _backend_of(self, agent_id: AgentID) -> PolicyBackend:
        backend = self._backends.get(agent_id)
        return backend if backend is not None else self._default_backend(agent_id)

    def _default_backend(self, agent_id: AgentID) -> PolicyBackend:
        if (binding := self._bindings.get(agent_id)) is not None:
            raise _only_in_session(binding)
        if self._default is None:
            raise UsageError(f"agent {agent_id!r} has no policy", fix="Bind a policy first")
        backend = self._by_default.get(agent_id)
        if backend is None:
            backend = ActorBackend.of(self._default, agent_id, self.collect)
            backend.slot = self._slots.get(agent_id)
            self._by_default[agent_id] = backend
        return backend

    # -- asking without a session --------------------------------------------------------

    def select_action(
        self, agent_id: AgentID, snapshot: StepSnapshot | Any, info: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the action of one agent, for turn-based use.

        Args:
            agent_id: The agent.
            snapshot: A :class:`StepSnapshot`, or a bare observation.
            info: Info of the environment, if ``snapshot`` is a bare observation.

        Raises:
            UsageError: The agent has no policy, or its policy runs in a worker process, which only a
                session can ask.
        """
        if not isinstance(snapshot, StepSnapshot):
            snapshot = StepSnapshot(observation=snapshot, agent_id=agent_id, info=dict(info or {}))
        own = self._in_process(agent_id, snapshot.episode_index, snapshot.seed)
        return (self._actors if own is None else own).select_action(snapshot)

    def select_actions(
        self, observations: Mapping[AgentID, Any], snapshots: Mapping[AgentID, Any] | None = None
    ) -> dict[AgentID, Any]:
        """Return the actions of all agents, for simultaneous use.

        Args:
            observations: Observation of each agent.
            snapshots: For some agents, a :class:`StepSnapshot` that replaces the observation, or an info
                that is passed with it.
        """
        actions: dict[AgentID, Any] = {}
        for agent, observation in observations.items():
            more = (snapshots or {}).get(agent)
            if isinstance(more, StepSnapshot):
                actions[agent] = self.select_action(agent, more)
            else:
                actions[agent] = self.select_action(
                    agent, observation, cast("Mapping[str, Any] | None", more)
                )
        return actions

    def notify_step(self, agent_id: AgentID, snapshot: StepSnapshot) -> None:
        """Pass the result of a step to an agent's policy."""
        own = self._in_process(agent_id, snapshot.episode_index, snapshot.seed)
        (self._actors.notify_step if own is None else own.on_step)(snapshot)

    def notify_episode_end(self, agent_id: AgentID, summary: EpisodeSummary) -> None:
        """Notify an agent's policy that the episode is over."""
        if self._is_asked(agent_id):
            self._backend_of(agent_id).end(summary)
        elif self._in_process(agent_id, summary.episode_index, None) is None:
            self._actors.notify_episode_end(summary)

    def _is_asked(self, agent_id: AgentID) -> bool:
        """Return whether an agent's own policy or the default policy decides, and not the active actor."""
        return agent_id in self._bindings or self._default is not None

    def _in_process(self, agent_id: AgentID, episode: int, seed: int | None) -> Actor | None:
        """Return the actor that plays an agent in an episode; ``None`` if the active actor decides."""
        backend = self._backend_of(agent_id) if self._is_asked(agent_id) else None
        if isinstance(backend, ActorBackend):
            return backend.actor(episode, seed)
        if backend is not None:
            raise _only_in_session(self._bindings[agent_id])
        if self._actors.get_active_actor_id() is None:
            self._backend_of(agent_id)  # raises: the agent has no policy
        return None

    # -- requests of a session -----------------------------------------------------------

    async def select_batch(
        self, decisions: Sequence[Decision], batches: Sequence[DecisionBatch] = ()
    ) -> list[Answer | AnswerBatch]:
        """Pass decisions to the policies and return the answers that have arrived.

        The answers may be to these or to earlier decisions, in any order. If answers are pending and none has
        arrived, the method waits for one. An empty list means that none is pending or that :meth:`wake` was
        called.

        Args:
            decisions: Decisions as one object each.
            batches: Decisions without an object each, allowed if :attr:`takes_batches`. A batch is
                answered as a whole or in parts. It is answered by :class:`Answer` objects if an answer
                carries more than an action.
        """
        self._pending.update({d.id: d.episode for d in decisions})
        for agent, asked in self._by_slot(decisions).items():
            self._backend_of(agent).ask(self._appeared.translated(self._finite(agent, asked)))
        for batch in batches:
            self._ask_batch(batch)
        carriers = self._carriers()
        for carrier in carriers:
            carrier.flush()
        if not self._answers and self.owes:
            self._pump_a_moment(carriers)
        if not self._answers and self.owes:
            self._wakeup = asyncio.get_running_loop().create_future()
            await self._wakeup
            self._wakeup = None
        answers, self._answers = self._answers, []
        for answer in answers:
            if isinstance(answer, Answer):
                self._pending.pop(answer.decision.id, None)
        return answers

    @property
    def takes_batches(self) -> bool:
        """Whether every policy can be asked in batches at present."""
        backends = [self._batch_backends.get(slot) for slot in self._slots]
        return bool(backends) and all(backend and backend.takes_batches for backend in backends)

    def _ask_batch(self, batch: DecisionBatch) -> None:
        self._pending_in_batches += len(batch)
        slot, backend = self._slots[batch.slot], self._batch_backends.get(batch.slot)
        is_finite = non_finite_row(slot.observation_codec, batch.encoded) is None
        if is_finite and backend is not None and backend.takes_batches:
            backend.ask_batch(batch)
        else:
            self._backend_of(batch.slot).ask(self._finite(batch.slot, batch.unfold()))

    def on_answered(self, answered: AnswerBatch) -> None:
        """Receive the answers to a batch from a backend."""
        self._pending_in_batches -= len(answered.batch)
        self._answers.append(answered)
        self.wake()

    def on_unfolded(self, batch: DecisionBatch, decisions: Sequence[Decision]) -> None:
        """Receive the open decisions of a batch as objects, which the backend will answer one by one."""
        self._pending_in_batches -= len(batch)
        self._pending.update({d.id: d.episode for d in decisions})

    def unfold(self) -> None:
        """Make the batch backends turn all unanswered decisions of batches into objects."""
        if self._pending_in_batches:
            for backend in self._batch_backends.values():
                backend.unfold()

    def collect(self, answers: list[Answer]) -> None:
        """Receive answers from a backend."""
        self._answers += self._appeared.restored(answers)
        self.wake()

    def revoke(self, decisions: Iterable[Decision]) -> None:
        """Stop waiting for the answers to decisions. An answer that still arrives is returned anyway."""
        for decision in decisions:
            self._pending.pop(decision.id, None)

    def wake(self) -> None:
        """Make a waiting :meth:`select_batch` return at once with the answers that have arrived."""
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)

    @property
    def owes(self) -> bool:
        """Whether some answer is still pending."""
        return bool(self._pending) or self._pending_in_batches > 0

    def _carriers(self) -> Collection[Carrier]:
        """Return each carrier once, even if several slots share it."""
        carriers = [backend.carrier for backend in self._backends.values()]
        return dict.fromkeys([carrier for carrier in carriers if carrier is not None])

    def _pump_a_moment(self, carriers: Collection[Carrier]) -> None:
        """Poll the carriers for up to 0.3 ms, because fast policies answer before the event loop would."""
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

    # -- notifications of a session ------------------------------------------------------

    def begin_episode(
        self,
        episode: int,
        seats: Mapping[AgentID, tuple[int, AgentID]],
        allowances: Mapping[AgentID, Amount] | None = None,
    ) -> None:
        """Begin an episode for the policies of its slots.

        Args:
            episode: Index of the episode.
            seats: For each slot, its policy seed and the agent that it plays.
            allowances: The most that each slot with a paid policy may spend, if it is limited.
        """
        self._live[episode] = dict(seats)
        for slot, allowance in (allowances or {}).items():
            if slot in self._paid:
                self._paid[slot].allow(episode, allowance)
        for slot, (seed, agent) in seats.items():
            self._backend_of(slot).begin(episode, seed, agent)

    def join(self, slot: AgentID, seed: int, info: SlotInfo, joined: JoinedAgent) -> None:
        """Assign an agent that appeared during an episode to the policy of a slot.

        The slot also plays other agents in the episode.

        Args:
            slot: The slot whose policy plays the new agent.
            seed: Policy seed of the new agent.
            info: The new agent with its spaces.
            joined: The episode, and the context that the agent gets.
        """
        backend, agent = self._backend_of(slot), info.agent_id
        if isinstance(backend, TellsAgentsApart):
            backend.seat(joined.episode, agent, info)
            backend.begin(joined.episode, seed, agent)
            return
        known = self._appeared.add(slot, seed, agent, joined)
        backend.begin(known.episode, seed, agent, joined)

    def tell(self, agent: AgentID, joined: JoinedAgent) -> None:
        """Replace the context of an appeared agent, because another policy plays its slot from now on."""
        self._appeared.replace_context(agent, joined)

    def with_remaining_allowances(self, plan: EpisodePlan) -> EpisodePlan:
        """Return the plan of a restarted episode, with each allowance reduced to its unspent amount."""
        if not plan.allowances:
            return plan
        left: dict[AgentID, Amount] = {}
        for slot, allowance in plan.allowances.items():
            paid = self._paid.get(slot)
            left[slot] = allowance if paid is None else paid.left(plan.index, allowance)
        return replace(plan, allowances=left)

    def wants_results(self, agent_id: AgentID) -> bool:
        """Return whether this agent's policy uses the results of :meth:`notify_result`."""
        return self._backend_of(agent_id).wants_results

    def notify_result(self, outcome: StepOutcome) -> None:
        """Pass the result of an action to the policy that chose it."""
        if self._appeared and (known := self._appeared.get(outcome.episode, outcome.agent_id)) is not None:
            outcome = outcome._replace(episode=known.episode)
        self._backend_of(outcome.slot).result(outcome)

    def end_episode(
        self,
        episode: int,
        summaries: Mapping[AgentID, EpisodeSummary],
        joined: Mapping[AgentID, EpisodeSummary] | None = None,
    ) -> None:
        """End an episode for its policies. Unanswered decisions of a cut-off episode are dropped.

        Args:
            episode: Index of the episode.
            summaries: Summary of each slot.
            joined: Summary of each agent that appeared during the episode.
        """
        self._live.pop(episode, None)
        for agent, summary in (joined or {}).items():
            self._drop_unanswered(summary)
            known = self._appeared.pop(summary.episode_index, agent)
            if known is not None:
                self._backend_of(known.slot).end(replace(summary, episode_index=known.episode))
        for slot, summary in summaries.items():
            self._drop_unanswered(summary)
            self._backend_of(slot).end(summary)
        for backend in self._paid.values():
            backend.over(episode)

    def _drop_unanswered(self, summary: EpisodeSummary) -> None:
        """Drop the unanswered decisions of an episode that was not completed."""
        if summary.status != EpisodeStatus.COMPLETED:
            self._pending = {i: e for i, e in self._pending.items() if e != summary.episode_index}

    def settle(self) -> None:
        """Deliver pending notifications. A session calls this before a pause without decisions."""
        for backend in self._backends.values():
            backend.settle()


def _only_in_session(binding: AgentPolicyBinding) -> UsageError:
    played = "a worker process" if binding.worker_id else f"{binding.policy_id!r}, which answers batches"
    return UsageError(
        f"{binding.agent_id} is played by {played}: only a session can ask it",
        fix="Use gym_gui.evaluate() or `mosaic run`",
    )
