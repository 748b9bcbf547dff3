"""In-process policies by name, and the built-in ones.

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
        actor_id: Its name in bindings.
        display_name: Name shown to people.
        source: Where its actors come from; ``None`` where it has none.
        batched: What answers for all agents bound to it where it has no actors, as a recorded run has none.
        worker_id: The worker that plays it in a process of its own, where one does.
        settings: Settings for that worker.
    """

    actor_id: str
    display_name: str
    source: PolicySource | None = None
    batched: PolicyBackend | None = None
    worker_id: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def exclusive(self) -> bool:
        """Whether only one episode at a time may hold it."""
        if self.batched is not None:
            return self.batched.exclusive
        return self.source is not None and self.source.exclusive

    def make(self, context: ActorContext) -> Actor:
        """The actor for one episode's agent.

        Raises:
            UsageError: The policy lives in a worker process or answers a session alone, or its factory
                returned something that is no policy.
        """
        return self._actors().make(context)

    def backend(self, agent_id: AgentID, sink: Sink, config: Mapping[str, Any]) -> PolicyBackend:
        """The policy behind one slot of a session.

        Args:
            agent_id: The slot.
            sink: Gets its answers.
            config: The binding's settings.

        Raises:
            UsageError: The policy lives in a worker process.
        """
        if self.batched is not None:
            return self.batched
        return ActorBackend.of(self._actors(), agent_id, sink, config)

    def _actors(self) -> PolicySource:
        if self.source is None:
            where = f"is played by worker {self.worker_id}, not in this process"
            raise UsageError(
                f"policy {self.actor_id!r} {where if self.worker_id else 'answers a session alone'}",
                fix="Use gym_gui.evaluate() or `mosaic run`",
            )
        return self.source


class ActorService:
    """Registered policies, and the one that is active where nothing is bound.

    A new service is empty; :func:`default_actor_service` makes one that knows ``random``,
    ``noop``, ``human_keyboard`` and the workers. What is kept are *registrations*, not running
    policies: an actor is made per episode and agent, so that a stateful one never mixes episodes.
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
        """Add a policy; a registration of the same id is replaced.

        Args:
            actor_or_factory: An actor, operator or controller object (held by one episode
                at a time), or a class or function that makes one. A factory that has a
                required parameter is given an :class:`ActorContext`. A function of the observation
                is no factory: register it by :meth:`register_policy`.
            activate: Make it the active one. The first registered is active anyway.
            actor_id: Its name; the object's ``id`` by default. Needed for a factory.
            display_name: Name shown to people; the object's ``name`` or the id by default.

        Raises:
            UsageError: It is neither a policy nor a factory, or it has no name.
        """
        made = isinstance(actor_or_factory, type) or not hasattr(actor_or_factory, "select_action")
        if not made or not callable(actor_or_factory):
            actor = as_actor(actor_or_factory)  # raises for what is neither, and says what it lacks
            name = actor_id or actor.id
            shown = display_name or str(getattr(actor_or_factory, "name", name))
            return self._add(ActorRegistration(name, shown, PolicySource.held(actor)), activate)
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
        """Add a policy that sessions ask in batches.

        Args:
            actor_id: Its name.
            policy: Where its actors come from; or one object that answers for all agents, such as a
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
        """Add a policy that a worker process plays, such as ``cleanrl_ppo``."""
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
        """Forget a policy.

        Raises:
            UnknownNameError: There is none of that id.
        """
        self.registration(actor_id)
        del self._registrations[actor_id]
        self._forget(actor_id)
        if self._active == actor_id:
            self._active = next(iter(self._registrations), None)

    def registration(self, actor_id: str) -> ActorRegistration:
        """What is known of a policy.

        Raises:
            UnknownNameError: There is none of that id (also a ``KeyError``).
        """
        try:
            return self._registrations[actor_id]
        except KeyError:
            raise UnknownNameError("policy", actor_id, self._registrations) from None

    def registrations(self) -> tuple[ActorRegistration, ...]:
        """All policies, in the order they were registered."""
        return tuple(self._registrations.values())

    def available_actor_ids(self) -> tuple[str, ...]:
        """Names of all policies, in the order they were registered."""
        return tuple(self._registrations)

    def get_active_actor_id(self) -> str | None:
        """The policy used where nothing is bound, or ``None`` when there is none at all."""
        return self._active

    def set_active_actor(self, actor_id: str) -> None:
        """Choose the policy used where nothing is bound.

        Raises:
            UnknownNameError: There is none of that id.
        """
        self._active = self.registration(actor_id).actor_id

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """Ask the active policy.

        Raises:
            UsageError: No policy is registered, or the active one lives in a worker process.
        """
        return self._actor_for(snapshot.episode_index, snapshot.agent_id, snapshot.seed).select_action(
            snapshot
        )

    def notify_step(self, snapshot: StepSnapshot) -> None:
        """Tell the active policy what its action led to."""
        self._actor_for(snapshot.episode_index, snapshot.agent_id, snapshot.seed).on_step(snapshot)

    def notify_episode_end(self, summary: EpisodeSummary) -> None:
        """Tell the active policy that an episode is over, and let its actor go."""
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
    """Uniform over legal actions.

    The draw depends on (seed, step) alone: not on what was drawn before, nor on other
    episodes. Without a seed (outside a session) it differs from run to run.
    """

    id = "random"

    def __init__(self, context: ActorContext) -> None:
        self._space = _action_space(context)
        self._seed = secrets.randbits(64) if context.seed is None else context.seed

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """A legal action.

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
        """Nothing to learn."""

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Nothing to forget."""


class NoopActor:
    """Does nothing: the environment's own no-op.

    Where it has none: zero, or the bound nearest to it, for continuous actions and the
    lowest number for discrete ones; the lowest legal number where that is not legal.
    """

    id = "noop"

    def __init__(self, context: ActorContext) -> None:
        self._space = _action_space(context)
        self._noop = context.noop_action
        if self._noop is None and self._space is not None:
            self._noop = zero_action(self._space)

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """The no-op.

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
        """Nothing to learn."""

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Nothing to forget."""


class KeyboardQueue:
    """Actions chosen by people, on their way to the seats they play."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Any]] = {}

    def feed(self, action: Any, agent_id: str = "agent_0") -> None:
        """Hand in an action for ``agent_id``'s next decision."""
        self._waiting.setdefault(agent_id, deque()).append(action)

    def take(self, agent_id: str) -> Any:
        """The oldest action for ``agent_id``, or ``None`` when nothing was chosen yet."""
        waiting = self._waiting.get(agent_id)
        return waiting.popleft() if waiting else None

    def clear(self, agent_id: str) -> None:
        """Drop what was chosen for ``agent_id`` and not played."""
        self._waiting.pop(agent_id, None)


class HumanKeyboardActor:
    """A person, for use without a session. ``select_action`` returns ``None`` as long as nothing was chosen.

    In a session ``human_worker`` plays, which waits for the person.
    """

    id = "human_keyboard"
    name = "Human (keyboard)"

    def __init__(self, queue: KeyboardQueue | None = None) -> None:
        self.queue = queue or KeyboardQueue()

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """The person's action, or ``None`` when there is none yet."""
        return self.queue.take(snapshot.agent_id)

    def on_step(self, snapshot: StepSnapshot) -> None:
        """The person sees the screen."""

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Drop keys that were pressed in this episode and not played."""
        self.queue.clear(summary.agent_id)


def default_actor_service(
    *,
    registry: type[WorkerTypeRegistry] = WorkerTypeRegistry,
    keyboard: KeyboardQueue | None = None,
) -> ActorService:
    """An ActorService with the built-in policies and the default policy of each worker.

    Args:
        registry: Its workers are offered; filled by discovery when it is empty.
        keyboard: Feeds ``human_keyboard``, which is active at first.
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
        # A worker's default may be a built-in by another way ("random"): no process is needed.
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
