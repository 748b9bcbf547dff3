from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium.spaces as gs
import numpy as np
import pytest
from gymnasium.spaces import GraphInstance
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui.core.spaces import to_space
from mosaic_worker.codec import Codec
from mosaic_worker.rng import bits
from mosaic_worker.worker import Batch, Invalid, LoadError, Slot
from operators_worker.main import OperatorsWorker
from operators_worker.random_legal import pick_legal
from operators_worker.sampling import sample

NOTHING = gs.Box(0.0, 1.0, (1,))
SPACES: dict[str, gs.Space[Any]] = {
    "discrete": gs.Discrete(5),
    "discrete from -2": gs.Discrete(3, start=-2),
    "multi_discrete": gs.MultiDiscrete([3, 1, 7]),
    "multi_discrete 2-d": gs.MultiDiscrete([[2, 3], [4, 5]], start=[[1, 0], [0, -1]]),
    "multi_binary": gs.MultiBinary(4),
    "multi_binary 2-d": gs.MultiBinary([2, 3]),
    "box": gs.Box(-1.0, 2.0, (3,)),
    "box float32 limits": gs.Box(np.finfo(np.float32).min, np.finfo(np.float32).max, (2,)),
    "box float64 limits": gs.Box(-1.7e308, 1.7e308, (2,), np.float64),
    "box half": gs.Box(np.array([0.0, -np.inf]), np.array([np.inf, 5.0]), dtype=np.float64),
    "box open": gs.Box(-np.inf, np.inf, (2, 2)),
    "box bytes": gs.Box(0, 255, (4,), np.uint8),
    "box int64": gs.Box(-3, 3, (4,), np.int64),
    "box scalar": gs.Box(0.0, 1.0, ()),
    "dict": gs.Dict({"move": gs.Discrete(3), "aim": gs.Dict({"at": gs.Box(-1.0, 1.0, (2,))})}),
    "tuple": gs.Tuple((gs.Discrete(2), gs.MultiBinary(2), gs.Text(5))),
    "text": gs.Text(6, min_length=2, charset="abc"),
    "sequence": gs.Sequence(gs.Discrete(4)),
    "sequence stacked": gs.Sequence(gs.Box(0.0, 1.0, (2,)), stack=True),
    "graph": gs.Graph(gs.Box(-1.0, 1.0, (2,)), gs.Discrete(3)),
    "graph without edges": gs.Graph(gs.Discrete(3), None),
    "oneof": gs.OneOf((gs.Discrete(2), gs.Box(5.0, 6.0, (2,)))),
}


def _values(space: gs.Space[Any], actions: Any, count: int) -> list[Any]:
    """What the environment gets: the actions after their way over the wire."""
    codec = Codec(to_space(space), GraphInstance)
    return [codec.decode(parts) for parts in codec.split(codec.columns(actions, count), count)]


@pytest.mark.parametrize("name", SPACES)
def test_every_draw_belongs_to_the_space(
    name: str, new_slot: Callable[..., Slot], new_batch: Callable[..., Batch]
):
    space, worker = SPACES[name], OperatorsWorker()
    slot = new_slot(NOTHING, space, "random")
    assert worker.load(slot) == "random"
    batch = new_batch(slot, [np.zeros(1, np.float32)] * 40, seeds=list(range(40)))
    values = _values(space, worker.select_actions(batch), 40)
    assert all(space.contains(value) for value in values)
    assert any(repr(value) != repr(values[0]) for value in values)


@pytest.mark.parametrize("name", SPACES)
def test_a_draw_does_not_depend_on_the_batch_it_is_in(
    name: str, new_slot: Callable[..., Slot], new_batch: Callable[..., Batch]
):
    space, worker = SPACES[name], OperatorsWorker()
    slot = new_slot(NOTHING, space, "random")
    worker.load(slot)
    seeds, steps = [11, 12, 13, 2**63 + 5], [0, 9, 4, 1]
    zero = [np.zeros(1, np.float32)]
    together = worker.select_actions(new_batch(slot, zero * 4, seeds=seeds, steps=steps))
    alone = [
        _values(space, worker.select_actions(new_batch(slot, zero, seeds=[s], steps=[t])), 1)[0]
        for s, t in zip(seeds, steps, strict=True)
    ]
    assert repr(_values(space, together, 4)) == repr(alone)


def test_legal_actions_are_equally_likely(new_slot: Callable[..., Slot], new_batch: Callable[..., Batch]):
    worker, slot = OperatorsWorker(), new_slot(NOTHING, gs.Discrete(6, start=10), "random")
    worker.load(slot)
    n = 6000
    masks = np.tile([True, False, True, True, False, False], (n, 1))
    batch = new_batch(slot, [np.zeros(1, np.float32)] * n, seeds=list(range(n)), masks=masks)
    counts = np.bincount(np.asarray(worker.select_actions(batch)) - 10, minlength=6)
    assert counts[[1, 4, 5]].sum() == 0
    # 2000 each is expected; 5 standard deviations of a binomial(6000, 1/3) are 183.
    assert np.abs(counts[[0, 2, 3]] - 2000).max() < 183


def test_masks_of_components_are_kept(new_slot: Callable[..., Slot], new_batch: Callable[..., Batch]):
    worker, slot = OperatorsWorker(), new_slot(NOTHING, gs.MultiDiscrete([3, 2], start=[5, 0]), "random")
    worker.load(slot)
    masks = [[False, True, True, False, True]] * 50
    batch = new_batch(slot, [np.zeros(1, np.float32)] * 50, seeds=list(range(50)), masks=masks)
    actions = np.asarray(worker.select_actions(batch))
    assert set(actions[:, 0].tolist()) == {6, 7}
    assert set(actions[:, 1].tolist()) == {1}


def test_where_nothing_is_legal_only_that_decision_is_invalid(
    new_slot: Callable[..., Slot], new_batch: Callable[..., Batch]
):
    worker, slot = OperatorsWorker(), new_slot(NOTHING, gs.Discrete(3), "random")
    worker.load(slot)
    masks = [[False, False, False], [False, True, False]]
    first, second = worker.select_actions(new_batch(slot, [np.zeros(1, np.float32)] * 2, masks=masks))
    assert isinstance(first, Invalid)
    assert second == 1


def test_a_retry_draws_anew(new_slot: Callable[..., Slot], new_batch: Callable[..., Batch]):
    worker, slot = OperatorsWorker(), new_slot(NOTHING, gs.Discrete(1000), "random")
    worker.load(slot)
    zero = [np.zeros(1, np.float32)] * 2
    where: dict[str, Any] = {"seeds": [3, 4], "steps": [5, 5]}
    asked = worker.select_actions(new_batch(slot, zero, **where)).tolist()
    again = worker.select_actions(new_batch(slot, zero, attempts=[0, 1], **where)).tolist()
    assert again[0] == asked[0]
    assert again[1] != asked[1]


def test_a_space_of_unknown_kind_is_refused(new_slot: Callable[..., Slot]):
    class Own(gs.Space[Any]):
        pass

    with pytest.raises(LoadError, match="action space of known kinds"):
        OperatorsWorker().load(new_slot(NOTHING, gs.Dict({"a": Own()}), "random"))


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.floats(0, 1, exclude_max=True))
def test_pick_legal_is_the_ranked_legal_entry(mask: list[bool], drawn: float):
    legal = [i for i, ok in enumerate(mask) if ok]
    picked = int(pick_legal(np.array([mask]), np.array([drawn]))[0])
    assert picked == (legal[int(drawn * len(legal))] if legal else 0)


@settings(max_examples=50)
@given(st.integers(-100, 100), st.integers(0, 4), st.integers(0, 2**63))
def test_integer_boxes_reach_both_bounds_and_no_further(low: int, width: int, seed: int):
    space = gs.Box(low, low + width, (3,), np.int16)
    keys = bits(np.full(400, seed, np.uint64), np.arange(400))
    drawn = sample(to_space(space), keys)
    assert set(np.unique(drawn).tolist()) == set(range(low, low + width + 1))
