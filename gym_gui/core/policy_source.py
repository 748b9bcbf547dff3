"""Sources of an in-process policy's actors: a factory that makes one per episode and agent, or one object."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from gym_gui.core.protocols import Actor, FunctionActor, as_actor


@dataclass(frozen=True)
class ActorContext:
    """Information about a seat that a factory receives to make the seat's actor.

    Attributes:
        agent_id: The agent, as the environment names it.
        episode_index: Index of the episode in its run.
        seed: Policy seed of (episode, agent), or ``None`` outside a session.
        observation_space: Gymnasium space of the agent's observations, if known.
        action_space: Gymnasium space of the agent's actions, if known.
        noop_action: The environment's own no-op, or ``None``.
        config: Settings of the slot.
    """

    agent_id: str = "agent_0"
    episode_index: int = 0
    seed: int | None = None
    observation_space: Any = None
    action_space: Any = None
    noop_action: Any = None
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class PolicySource:
    """Makes the actors of an in-process policy.

    Attributes:
        make: Returns the actor for one agent in one episode.
        exclusive: Whether ``make`` returns the same object each time, so that only one episode at a time
            may use it.
    """

    make: Callable[[ActorContext], Actor]
    exclusive: bool = False

    @classmethod
    def of(cls, policy: object) -> PolicySource:
        """Return the source of actors for an object that a user passes as a policy.

        Args:
            policy: A class, called for each episode and agent; an object with ``select_action``,
                held by one episode at a time; or a function of the observation.

        Raises:
            UsageError: The object is not a policy.
        """
        if isinstance(policy, type):
            return cls.made_by(policy)
        if hasattr(policy, "select_action"):
            return cls.of_object(policy)
        as_actor(policy)  # refuses an object that is not callable
        function = cast("Callable[..., Any]", policy)
        return cls(lambda _context: FunctionActor(function))

    @classmethod
    def of_object(cls, policy: object) -> PolicySource:
        """Return a source that always returns this object; raises as :func:`as_actor` does."""
        actor = as_actor(policy)
        return cls(lambda _context: actor, exclusive=True)

    @classmethod
    def made_by(cls, factory: Callable[..., object]) -> PolicySource:
        """Return a source that calls ``factory``, with the context if it has a required parameter."""
        if _wants_context(factory):
            return cls(lambda context: as_actor(factory(context)))
        return cls(lambda _context: as_actor(factory()))


def _wants_context(factory: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.kind in positional and p.default is p.empty for p in parameters)
