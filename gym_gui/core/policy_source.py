"""Where the actors of an in-process policy come from: one made for each episode's agent, or one object."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from gym_gui.core.protocols import Actor, FunctionActor, as_actor


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
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class PolicySource:
    """An in-process policy, as episodes get at it.

    Attributes:
        make: Returns the actor of one episode's agent.
        exclusive: It returns the same object each time, which one episode at a time may hold.
    """

    make: Callable[[ActorContext], Actor]
    exclusive: bool = False

    @classmethod
    def of(cls, policy: object) -> PolicySource:
        """The source of what a person passes as a policy.

        Args:
            policy: A class, called for each episode and agent; an object with ``select_action``,
                held by one episode at a time; or a function of the observation.

        Raises:
            UsageError: It is no policy.
        """
        if isinstance(policy, type):
            return cls.made_by(policy)
        if hasattr(policy, "select_action"):
            return cls.held(policy)
        as_actor(policy)  # what cannot be called either is refused here
        function = cast("Callable[..., Any]", policy)
        return cls(lambda _context: FunctionActor(function))

    @classmethod
    def held(cls, policy: object) -> PolicySource:
        """The one object there is; raises as :func:`~gym_gui.core.protocols.as_actor`."""
        actor = as_actor(policy)
        return cls(lambda _context: actor, exclusive=True)

    @classmethod
    def made_by(cls, factory: Callable[..., object]) -> PolicySource:
        """What ``factory`` makes; where it has a required parameter, it is given the context."""
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
