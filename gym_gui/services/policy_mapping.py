"""The design documents' ``PolicyMappingService``: an adapter over the engine's :class:`SlotPolicies`.

Agents are bound to names of an :class:`~gym_gui.services.actor.ActorService` or to policy objects, and
asked one by one, without an engine. A session plays what is bound here too; MOSAIC itself needs none of
it and asks :mod:`gym_gui.services.slot_policies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.policy_source import PolicySource
from gym_gui.core.protocols import Actor, PolicyController, as_actor
from gym_gui.core.seeding import SEED, check_seed
from gym_gui.core.spending import Amount
from gym_gui.core.types import AgentID, EpisodeSummary, StepSnapshot
from gym_gui.services.actor import ActorService, default_actor_service
from gym_gui.services.backends import ActorBackend, PolicyBackend, SlotInfo
from gym_gui.services.slot_policies import AgentPolicyBinding, SlotPolicies

__all__ = ["AgentPolicyBinding", "PolicyMappingService"]


class PolicyMappingService(SlotPolicies):
    """Maps agents to policies, for turn-based and simultaneous environments alike.

    Args:
        actor_service: In-process policies by id; without one, a service with the built-in
            policies is made.
    """

    def __init__(self, actor_service: ActorService | None = None) -> None:
        super().__init__()
        self._actors = actor_service if actor_service is not None else default_actor_service()
        self._controllers: dict[AgentID, PolicyController] = {}
        self._default: PolicySource | None = None
        self._by_default: dict[AgentID, PolicyBackend] = {}
        self._default_controller: PolicyController | None = None
        self._paradigm = SteppingParadigm.SINGLE_AGENT
        self._agents: list[AgentID] = []

    @property
    def paradigm(self) -> SteppingParadigm:
        """How the environment takes turns; a hint, which changes nothing."""
        return self._paradigm

    @property
    def agent_ids(self) -> list[AgentID]:
        """Agents of the environment."""
        return list(self._agents)

    @property
    def actor_service(self) -> ActorService:
        """The in-process policies that can be bound by id."""
        return self._actors

    def set_paradigm(self, paradigm: SteppingParadigm) -> None:
        """Set how the environment takes turns."""
        self._paradigm = paradigm

    set_paradigm_hint = set_paradigm

    def set_agents(self, agent_ids: Sequence[AgentID]) -> None:
        """Name the environment's agents; unbound ones get the active actor."""
        self._agents = list(agent_ids)
        active = self._actors.get_active_actor_id()
        for agent in self._agents:
            if agent not in self._bindings and active is not None:
                self.bind_agent_policy(agent, active)

    def is_multi_agent(self) -> bool:
        """Whether the environment has more than one agent."""
        return len(self._agents) > 1

    # -- bindings --------------------------------------------------------------------

    def bind_agent_policy(
        self,
        agent_id: AgentID,
        policy_id: str,
        *,
        worker_id: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        """Bind an agent to a policy known to the actor service.

        In a running session this takes effect at the agent's next decision. One that a worker
        plays is noted, with its settings; only a session can ask it.

        Raises:
            KeyError: ``policy_id`` is unknown.
            UsageError: Its own ``seed`` is no seed.
        """
        known = self._actors.available_actor_ids()
        if policy_id not in known:
            raise UnknownNameError("policy", policy_id, known)
        registration = self._actors.registration(policy_id)
        settings = dict(config or {})
        if registration.source is not None:
            self.bind(AgentPolicyBinding(agent_id, policy_id, worker_id, settings), registration.source)
            return
        if settings.get(SEED) is not None:
            check_seed(settings[SEED])
        self._controllers.pop(agent_id, None)
        self._backends.pop(agent_id, None)
        self._bindings[agent_id] = AgentPolicyBinding(
            agent_id, policy_id, worker_id or registration.worker_id, {**registration.settings, **settings}
        )

    def attach(
        self, binding: AgentPolicyBinding, backend: PolicyBackend, allowance: Amount | None = None
    ) -> None:
        self._controllers.pop(binding.agent_id, None)
        super().attach(binding, backend, allowance)

    def set_policy(self, agent_id: AgentID, policy: PolicyController) -> None:
        """Assign a policy object to control a specific agent."""
        self.bind(AgentPolicyBinding(agent_id, as_actor(policy).id), PolicySource.held(policy))
        self._controllers[agent_id] = policy

    def set_default_policy(self, policy: PolicyController) -> None:
        """Assign the policy of agents that have none of their own."""
        self._default = PolicySource.held(policy)
        self._by_default.clear()
        self._default_controller = policy

    def get_policy(self, agent_id: AgentID) -> PolicyController | None:
        """The policy object given for the agent, or the default one."""
        return self._controllers.get(agent_id, self._default_controller)

    def get_binding(self, agent_id: AgentID) -> AgentPolicyBinding | None:
        """The agent's binding, or ``None``."""
        return self._bindings.get(agent_id)

    def get_all_bindings(self) -> dict[AgentID, AgentPolicyBinding]:
        """All bindings, by agent."""
        return dict(self._bindings)

    def list_agents(self) -> list[AgentID]:
        """Agents that have a policy of their own."""
        return list(self._backends)

    def clear(self) -> None:
        """Forget every policy."""
        self._bindings.clear()
        self._backends.clear()
        self._controllers.clear()
        self._by_default.clear()
        self._default = self._default_controller = None

    @property
    def exclusive(self) -> bool:
        return super().exclusive or (self._default is not None and self._default.exclusive)

    def set_slot(self, slot: SlotInfo) -> None:
        super().set_slot(slot)
        self._by_default.pop(slot.agent_id, None)

    def _backend_of(self, agent_id: AgentID) -> PolicyBackend:
        if agent_id in self._backends or self._default is None:
            return super()._backend_of(agent_id)
        backend = self._by_default.get(agent_id)
        if backend is None:
            backend = ActorBackend(agent_id, self._default.make, self.collect, self._default.exclusive)
            backend.slot = self._slots.get(agent_id)
            self._by_default[agent_id] = backend
        return backend

    # -- asking without an engine ----------------------------------------------------

    def select_action(
        self, agent_id: AgentID, snapshot: StepSnapshot | Any, info: Mapping[str, Any] | None = None
    ) -> Any:
        """Action for one agent (turn-based use).

        Args:
            agent_id: The agent.
            snapshot: A :class:`StepSnapshot`, or a bare observation.
            info: The environment's info, when an observation is given.

        Raises:
            UsageError: The agent has no policy, or its policy lives in a worker process,
                which only a session can ask.
        """
        if not isinstance(snapshot, StepSnapshot):
            snapshot = StepSnapshot(observation=snapshot, agent_id=agent_id, info=dict(info or {}))
        own = self._in_process(agent_id, snapshot.episode_index)
        return (self._actors if own is None else own).select_action(snapshot)

    def select_actions(
        self, observations: Mapping[AgentID, Any], snapshots: Mapping[AgentID, Any] | None = None
    ) -> dict[AgentID, Any]:
        """Actions for all agents (simultaneous use).

        Args:
            observations: What each agent sees.
            snapshots: Snapshot or info by agent, where there is more to say.
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
        """Tell an agent's policy the result of a step."""
        own = self._in_process(agent_id, snapshot.episode_index)
        (self._actors.notify_step if own is None else own.on_step)(snapshot)

    def notify_episode_end(self, agent_id: AgentID, summary: EpisodeSummary) -> None:
        """Tell an agent's policy that the episode is over."""
        if self._is_asked(agent_id):
            self._backend_of(agent_id).end(summary)
        elif self._in_process(agent_id, summary.episode_index) is None:
            self._actors.notify_episode_end(summary)

    def _is_asked(self, agent_id: AgentID) -> bool:
        """Whether a policy of its own, or the default one, decides for it; else the active actor does."""
        return agent_id in self._backends or self._default is not None

    def _in_process(self, agent_id: AgentID, episode: int) -> Actor | None:
        """The actor of an episode; ``None`` where the active one of the actor service decides."""
        backend = self._backend_of(agent_id) if self._is_asked(agent_id) else None
        if isinstance(backend, ActorBackend):
            return backend.actor(episode)
        if agent_id in self._bindings:
            raise UsageError(
                f"{agent_id} is played by a worker process, which only a session can ask",
                fix="Use gym_gui.evaluate() or `mosaic run`",
            )
        if self._actors.get_active_actor_id() is None:
            self._backend_of(agent_id)  # raises: nobody plays it
        return None
