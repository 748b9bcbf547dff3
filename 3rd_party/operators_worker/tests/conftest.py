"""A slot and a single question, as the SDK's runtime would put them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from gym_gui.core.spaces import Codec, to_space
from mosaic_worker.codec import stack
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, Slot
from operators_worker.main import OperatorsWorker


def make_slot(
    observation_space: Any,
    action_space: Any,
    behavior: str,
    *,
    index: int = 0,
    agent_id: str = "agent_0",
    env_id: str = "test",
    noop_action: int | None = None,
    action_meanings: Sequence[str] = (),
    options: Sequence[str] = (),
    **settings: Any,
) -> Slot:
    spaces = [s if isinstance(s, Space) else to_space(s) for s in (observation_space, action_space)]
    everything: Mapping[str, Any] = {"behavior": behavior, **settings}
    return Slot(
        index, agent_id, env_id, *spaces, everything, action_meanings, noop_action, options=tuple(options)
    )


def make_batch(
    slot: Slot,
    observations: list[Any],
    *,
    episodes: list[int] | None = None,
    steps: list[int] | None = None,
    seeds: list[int] | None = None,
    masks: Any = None,
    attempts: list[int] | None = None,
) -> Batch:
    """Observations take the way over the wire, so that a worker sees what it will see in a session."""
    codec = Codec(slot.observation_space)
    n = len(observations)
    arrived = [codec.decode(codec.encode(o)) for o in observations]
    return Batch(
        slot,
        list(range(n)),
        episodes or [0] * n,
        steps or list(range(n)),
        np.array(seeds or [7] * n, np.uint64),
        stack(slot.observation_space, arrived),
        None if masks is None else np.array(masks, np.bool_),
        attempts or [0] * n,
        [""] * n,
    )


class Seat:
    """One worker with one slot that is asked one question at a time."""

    def __init__(self, slot: Slot) -> None:
        self.slot, self.worker = slot, OperatorsWorker()
        self.policy = self.worker.load(slot)

    def act(self, observation: Any, episode: int, step: int, seed: int, mask: Any = None) -> Any:
        masks = None if mask is None else [mask]
        where = {"episodes": [episode], "steps": [step], "seeds": [seed], "masks": masks}
        return self.worker.select_actions(make_batch(self.slot, [observation], **where))[0]


@pytest.fixture
def new_slot() -> Callable[..., Slot]:
    return make_slot


@pytest.fixture
def new_batch() -> Callable[..., Batch]:
    return make_batch


@pytest.fixture
def new_seat() -> Callable[..., Seat]:
    return lambda *args, **kwargs: Seat(make_slot(*args, **kwargs))
