"""In-process policies by name, and how one is made for an episode's agent.

``ActorService`` keeps *registrations*, not running policies: the
:class:`~gym_gui.services.policy_mapping.PolicyMappingService` makes an actor per episode
and agent from a factory, so that a stateful policy never mixes episodes. An object that
was registered as it is can only be held by one episode at a time (``exclusive``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.protocols import Actor, PolicyController, as_actor
from gym_gui.core.types import EpisodeSummary, StepSnapshot

__all__ = [
    "Actor",
    "ActorContext",
    "ActorFactory",
    "ActorRegistration",
    "ActorService",
    "EpisodeSummary",
    "PolicyController",
    "StepSnapshot",
]


def _no_config() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class ActorContext:
    """What a factory may know about the seat its actor will take.

    Attributes:
        agent_id: The agent, as the environment names it.
        episode_index: Index of the episode in its run.
        seed: Policy seed of (episode, agent), or ``None`` outside a session.
        observation_space: Gymnasium space of what the agent sees, where known.
        action_space: Gymnasium space of what it may do, where known.
        noop_action: The environment's own no-op, or ``None``.
        config: The binding's settings.
    """

    agent_id: str = "agent_0"
    episode_index: int = 0
    seed: int | None = None
    observation_space: Any = None
    action_space: Any = None
    noop_action: Any = None
    config: Mapping[str, Any] = field(default_factory=_no_config)


ActorFactory = Callable[[ActorContext], object]
"""Returns anything that :func:`~gym_gui.core.protocols.as_actor` accepts."""


@dataclass(frozen=True)
class ActorRegistration:
    """A policy that agents can be bound to.

    Exactly one of ``factory``, ``instance`` and ``worker_id`` is set.

    Attributes:
        actor_id: Its name in bindings.
        display_name: Name shown to people.
        factory: Makes an actor per episode and agent.
        instance: The one object there is.
        worker_id: The policy is played by this worker's process, not in ours.
        settings: Settings for that worker.
    """

    actor_id: str
    display_name: str
    factory: ActorFactory | None = None
    instance: Actor | None = None
    worker_id: str = ""
    settings: Mapping[str, Any] = field(default_factory=_no_config)

    @property
    def exclusive(self) -> bool:
        """Whether only one episode at a time may hold it."""
        return self.instance is not None

    def make(self, context: ActorContext) -> Actor:
        """The actor for one episode's agent.

        Raises:
            UsageError: The policy lives in a worker process, or the factory returned
                something that is no policy.
        """
        if self.instance is not None:
            return self.instance
        if self.factory is None:
            raise UsageError(
                f"policy {self.actor_id!r} is played by worker {self.worker_id}, not in this process",
                fix=f"Bind it with worker_id={self.worker_id!r} in a session",
            )
        return as_actor(self.factory(context))


class ActorService:
    """Registered policies, and the one that is active where nothing is bound.

    A new service is empty; :func:`gym_gui.services.builtin_actors.default_actor_service`
    makes one that knows ``random``, ``noop``, ``human_keyboard`` and the workers.
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
                required parameter is given an :class:`ActorContext`.
            activate: Make it the active one. The first registered is active anyway.
            actor_id: Its name; the object's ``id`` by default. Needed for a factory.
            display_name: Name shown to people; the object's ``name`` or the id by default.

        Raises:
            UsageError: It is neither a policy nor a factory, or it has no name.
        """
        if isinstance(actor_or_factory, type) or not hasattr(actor_or_factory, "select_action"):
            registration = _from_factory(actor_or_factory, actor_id, display_name)
        else:
            actor = as_actor(actor_or_factory)
            name = actor_id or actor.id
            shown = display_name or str(getattr(actor_or_factory, "name", name))
            registration = ActorRegistration(name, shown, instance=actor)
        return self._add(registration, activate)

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


def _from_factory(factory: object, actor_id: str | None, display_name: str) -> ActorRegistration:
    if not callable(factory):
        as_actor(factory)  # raises, and says what it lacks
        raise AssertionError("unreachable")
    if actor_id is None:
        raise UsageError(
            f"{getattr(factory, '__name__', 'the factory')} needs a name", fix="Pass actor_id='…'"
        )
    shown = display_name or actor_id
    if _wants_context(factory):
        return ActorRegistration(actor_id, shown, factory=factory)
    return ActorRegistration(actor_id, shown, factory=lambda _context: factory())


def _wants_context(factory: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.kind in positional and p.default is p.empty for p in parameters)
