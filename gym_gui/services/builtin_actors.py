"""The policies every ActorService starts with: random, no-op, and a person at the keys."""

from __future__ import annotations

import secrets
from collections import deque
from typing import Any

from gym_gui.core.errors import PolicyFailure
from gym_gui.core.spaces import Space, sample_legal, to_space, zero_action
from gym_gui.core.types import EpisodeSummary, StepSnapshot
from gym_gui.services.actor import ActorContext, ActorService
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.rng import bits_of


class RandomActor:
    """Uniform over legal actions.

    The draw depends on (seed, step) alone: not on what was drawn before, nor on other
    episodes. Without a seed (outside a session) it differs from run to run.
    """

    id = "random"

    def __init__(self, context: ActorContext) -> None:
        self._space = _space_of(context)
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
        self._space = _space_of(context)
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
    """A person. ``select_action`` returns ``None`` as long as nothing was chosen."""

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
        """Keys pressed after the end do not count for the next episode."""
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


def _space_of(context: ActorContext) -> Space | None:
    return None if context.action_space is None else to_space(context.action_space)
