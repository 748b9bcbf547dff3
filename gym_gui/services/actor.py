"""Service that holds in-process policies by name, and the built-in policies.

A :class:`~gym_gui.services.policy_mapping.PolicyMappingService` binds agents to these names.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gym_gui.core.errors import PolicyFailure, UnknownNameError, UsageError
from gym_gui.core.policy_source import ActorContext, PolicySource
from gym_gui.core.protocols import Actor, PolicyController, as_actor
from gym_gui.core.spaces import Space, sample_legal, to_space, zero_action
from gym_gui.core.types import AgentID, EpisodeSummary, StepSnapshot
from gym_gui.services.backends import ActorBackend, PolicyBackend, Sink
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.rng import bits_of

__all__ = [
    "Actor",
    "ActorContext",
    "ActorRegistration",
    "ActorService",
    "EpisodeSummary",
    "PolicyController",
    "StepSnapshot",
    "default_actor_service",
]


@dataclass(frozen=True)
class ActorRegistration:
    """A policy that agents can be bound to.

    Attributes:
        actor_id: Name of the policy in bindings.
        display_name: Name shown to people.
        source: Makes one actor per episode and agent; ``None`` if the policy has none.
        batched: Backend that answers for all bound agents of a policy without actors, such as a recorded
            run.
        worker_id: Worker that runs the policy in a process of its own, if there is one.
        settings: Settings of that worker.
    """

    actor_id: str
    display_name: str
    source: PolicySource | None = None
    batched: PolicyBackend | None = None
    worker_id: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def exclusive(self) -> bool:
        """Whether only one episode at a time may use the policy."""
        if self.batched is not None:
            return self.batched.exclusive
        return self.source is not None and self.source.exclusive

    def make(self, context: ActorContext) -> Actor:
        """Return an actor for an agent in one episode.

        Raises:
            UsageError: The policy runs in a worker process or only answers a session, or its factory
                returned an object that is not a policy.
        """
        return self._actors().make(context)

    def backend(self, agent_id: AgentID, sink: Sink, config: Mapping[str, Any]) -> PolicyBackend:
        """Return the backend that plays one slot of a session.

        Args:
            agent_id: The slot.
            sink: Receives the answers.
            config: Settings of the binding.

        Raises:
            UsageError: The policy runs in a worker process.
        """
        if self.batched is not None:
            return self.batched
        return ActorBackend.of(self._actors(), agent_id, sink, config)

    def _actors(self) -> PolicySource:
        if self.source is None:
            where = f"is played by worker {self.worker_id}, not in this process"
            raise UsageError(
                f"policy {self.actor_id!r} {where if self.worker_id else 'works only in a session'}",
                fix="Use gym_gui.evaluate() or `mosaic run`",
            )
        return self.source


class ActorService:
    """Holds registered policies and the active policy, which decides for agents without a binding.

    A new service is empty. :func:`default_actor_service` makes one with ``random``, ``noop``,
    ``human_keyboard`` and the policies of the workers. The service holds *registrations*, not actors. One
    actor is made per episode and agent, so that a stateful policy never mixes episodes.
    """

    def __init__(self) -> None:
        self._registrations: dict[str, ActorRegistration] = {}
        self._active: str | None = None
        self._current: dict[tuple[str, int, str], Actor] = {}

    def register_actor(
        self,
        actor_or_factory: object,
        *,
        activate: bool = False,
        actor_id: str | None = None,
        display_name: str = "",
    ) -> ActorRegistration:
        """Register a policy, replacing the one with the same id.

        Args:
            actor_or_factory: An actor, operator or controller object, which one episode at a time may
                use, or a class or function that makes one. A factory with a required parameter gets an
                :class:`ActorContext`. A function that maps an observation to an action is not a
                factory: use :meth:`register_policy` for it.
            activate: Whether to make the policy the active one. The first policy becomes active anyway.
            actor_id: Name of the policy; the object's ``id`` by default. A factory needs one.
            display_name: Name shown to people; the object's ``name`` or the id by default.

        Raises:
            UsageError: The argument is neither a policy nor a factory, or a factory has no name.
        """
        made = isinstance(actor_or_factory, type) or not hasattr(actor_or_factory, "select_action")
        if not made or not callable(actor_or_factory):
            actor = as_actor(actor_or_factory)  # raises for other objects, and names the methods they lack
            name = actor_id or actor.id
            shown = display_name or str(getattr(actor_or_factory, "name", name))
            return self._add(ActorRegistration(name, shown, PolicySource.of_object(actor)), activate)
        if actor_id is None:
            raise UsageError(
                f"{getattr(actor_or_factory, '__name__', 'the factory')} needs a name",
                fix="Pass actor_id='…'",
            )
        source = PolicySource.made_by(actor_or_factory)
        return self._add(ActorRegistration(actor_id, display_name or actor_id, source), activate)

    def register_policy(
        self, actor_id: str, policy: PolicySource | PolicyBackend, *, display_name: str = ""
    ) -> ActorRegistration:
        """Register a policy that sessions ask in batches.

        Args:
            actor_id: Name of the policy.
            policy: The source of its actors, or one backend that answers for all agents, such as a
                recorded run.
            display_name: Name shown to people; the id by default.
        """
        source = policy if isinstance(policy, PolicySource) else None
        batched = None if isinstance(policy, PolicySource) else policy
        return self._add(
            ActorRegistration(actor_id, display_name or actor_id, source, batched), activate=False
        )

    def register_worker_policy(
        self,
        actor_id: str,
        worker_id: str,
        *,
        settings: Mapping[str, Any] | None = None,
        display_name: str = "",
        activate: bool = False,
    ) -> ActorRegistration:
        """Register a policy that runs in a worker process, such as ``cleanrl_ppo``."""
        registration = ActorRegistration(
            actor_id, display_name or actor_id, worker_id=worker_id, settings=dict(settings or {})
        )
        return self._add(registration, activate)

    def _add(self, registration: ActorRegistration, activate: bool) -> ActorRegistration:
        self._forget(registration.actor_id)
        self._registrations[registration.actor_id] = registration
        if activate or self._active is None:
            self._active = registration.actor_id
        return registration

    def unregister_actor(self, actor_id: str) -> None:
        """Remove a policy.

        Raises:
            UnknownNameError: No policy has that id.
        """
        self.registration(actor_id)
        del self._registrations[actor_id]
        self._forget(actor_id)
        if self._active == actor_id:
            self._active = next(iter(self._registrations), None)

    def registration(self, actor_id: str) -> ActorRegistration:
        """Return the registration of a policy.

        Raises:
            UnknownNameError: No policy has that id. It is also a ``KeyError``.
        """
        try:
            return self._registrations[actor_id]
        except KeyError:
            raise UnknownNameError("policy", actor_id, self._registrations) from None

    def registrations(self) -> tuple[ActorRegistration, ...]:
        """Return all registrations in the order of registration."""
        return tuple(self._registrations.values())

    def available_actor_ids(self) -> tuple[str, ...]:
        """Return the ids of all policies in the order of registration."""
        return tuple(self._registrations)

    def get_active_actor_id(self) -> str | None:
        """Return the id of the policy for agents without a binding, or ``None`` if none is registered."""
        return self._active

    def set_active_actor(self, actor_id: str) -> None:
        """Choose the policy for agents without a binding.

        Raises:
            UnknownNameError: No policy has that id.
        """
        self._active = self.registration(actor_id).actor_id

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """Return the action of the active policy.

        Raises:
            UsageError: No policy is registered, or the active policy runs in a worker process.
        """
        return self._actor_for(snapshot.episode_index, snapshot.agent_id, snapshot.seed).select_action(
            snapshot
        )

    def notify_step(self, snapshot: StepSnapshot) -> None:
        """Pass the result of an action to the active policy."""
        self._actor_for(snapshot.episode_index, snapshot.agent_id, snapshot.seed).on_step(snapshot)

    def notify_episode_end(self, summary: EpisodeSummary) -> None:
        """Notify the active policy that an episode is over, and drop the episode's actor."""
        actor = self._actor_for(summary.episode_index, summary.agent_id, None)
        actor.on_episode_end(summary)
        self._current.pop((self._active or "", summary.episode_index, summary.agent_id), None)

    def _actor_for(self, episode: int, agent_id: str, seed: int | None) -> Actor:
        if self._active is None:
            raise UsageError("no policy is registered", fix="Call register_actor(…) first")
        key = (self._active, episode, agent_id)
        actor = self._current.get(key)
        if actor is None:
            context = ActorContext(agent_id, episode, seed)
            actor = self._current[key] = self._registrations[self._active].make(context)
        return actor

    def _forget(self, actor_id: str) -> None:
        for key in [key for key in self._current if key[0] == actor_id]:
            del self._current[key]


class RandomActor:
    """Chooses legal actions uniformly at random.

    Each draw depends only on the seed and the step, not on earlier draws or other episodes. Without a seed
    (outside a session) the draws differ between runs.
    """

    id = "random"

    def __init__(self, context: ActorContext) -> None:
        self._space = _action_space(context)
        self._seed = secrets.randbits(64) if context.seed is None else context.seed

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """Return a random legal action.

        Raises:
            PolicyFailure: Neither the action space nor a mask is known.
        """
        seed = self._seed if snapshot.seed is None else snapshot.seed
        draw = bits_of(seed, snapshot.step_index)
        mask = snapshot.action_mask
        if self._space is not None:
            return sample_legal(self._space, mask, draw)
        if mask is None:
            raise PolicyFailure("the random policy knows neither the action space nor a mask")
        return sample_legal(Space("Discrete", n=len(mask)), mask, draw)

    def on_step(self, snapshot: StepSnapshot) -> None:
        """Do nothing, because a random policy does not learn."""

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Do nothing, because the actor keeps no state."""


class NoopActor:
    """Plays the environment's own no-op action.

    If the environment has no no-op, the actor plays zero, or the bound nearest to zero, for continuous
    actions, and the lowest number for discrete actions. If that number is not legal, it plays the lowest
    legal number.
    """

    id = "noop"

    def __init__(self, context: ActorContext) -> None:
        self._space = _action_space(context)
        self._noop = context.noop_action
        if self._noop is None and self._space is not None:
            self._noop = zero_action(self._space)

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """Return the no-op action.

        Raises:
            PolicyFailure: Neither a no-op, the action space nor a mask is known.
        """
        legal = snapshot.legal_actions
        if legal and (self._space is None or self._space.kind == "Discrete"):
            start = 0 if self._space is None else self._space.start
            noop = self._noop if self._noop is not None else start
            return noop if noop - start in legal else legal[0] + start
        if self._noop is None:
            raise PolicyFailure("the no-op policy does not know the action space")
        return self._noop

    def on_step(self, snapshot: StepSnapshot) -> None:
        """Do nothing, because the policy does not learn."""

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Do nothing, because the actor keeps no state."""


class KeyboardQueue:
    """Queues of the actions that people have chosen, one queue per agent."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Any]] = {}

    def feed(self, action: Any, agent_id: str = "agent_0") -> None:
        """Add an action for the next decision of ``agent_id``."""
        self._waiting.setdefault(agent_id, deque()).append(action)

    def take(self, agent_id: str) -> Any:
        """Remove and return the oldest action for ``agent_id``, or ``None`` if there is none."""
        waiting = self._waiting.get(agent_id)
        return waiting.popleft() if waiting else None

    def clear(self, agent_id: str) -> None:
        """Drop the actions for ``agent_id`` that were not played."""
        self._waiting.pop(agent_id, None)


class HumanKeyboardActor:
    """Actor of a person who plays without a session.

    ``select_action`` returns ``None`` until the person has chosen an action. In a session, ``human_worker``
    plays instead and waits for the person.
    """

    id = "human_keyboard"
    name = "Human (keyboard)"

    def __init__(self, queue: KeyboardQueue | None = None) -> None:
        self.queue = queue or KeyboardQueue()

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """Return the person's action, or ``None`` if there is none yet."""
        return self.queue.take(snapshot.agent_id)

    def on_step(self, snapshot: StepSnapshot) -> None:
        """Do nothing, because the person sees the result on the screen."""

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Drop the actions that were chosen in this episode and not played."""
        self.queue.clear(summary.agent_id)


def default_actor_service(
    *,
    registry: type[WorkerTypeRegistry] = WorkerTypeRegistry,
    keyboard: KeyboardQueue | None = None,
) -> ActorService:
    """Return an ActorService with the built-in policies and the default policy of each worker.

    Args:
        registry: Worker types to register. If it is empty, discovery fills it first.
        keyboard: Supplies the actions of ``human_keyboard``, which is the active policy at first.
    """
    service = ActorService()
    queue = keyboard or KeyboardQueue()
    service.register_actor(
        lambda: HumanKeyboardActor(queue),
        actor_id=HumanKeyboardActor.id,
        display_name=HumanKeyboardActor.name,
    )
    service.register_actor(RandomActor, actor_id=RandomActor.id, display_name="Random")
    service.register_actor(NoopActor, actor_id=NoopActor.id, display_name="No-op")
    if not registry.all():
        discover(registry)
    for worker in registry.all():
        # A worker's default policy may be a built-in ("random"), which needs no process.
        if worker.default_policy_id and worker.default_policy_id not in service.available_actor_ids():
            service.register_worker_policy(
                worker.default_policy_id,
                worker.type_id,
                settings=worker.default_settings,
                display_name=worker.display_name,
            )
    return service


def _action_space(context: ActorContext) -> Space | None:
    return None if context.action_space is None else to_space(context.action_space)
