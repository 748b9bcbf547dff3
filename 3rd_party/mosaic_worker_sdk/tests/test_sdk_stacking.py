"""Stacks, columns and batches: three forms of the same values, whatever the space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui.core.spaces import SpaceCodec, to_space
from mosaic_worker.codec import Codec, NotInSpace, stack
from mosaic_worker.spaces import Space, take
from mosaic_worker.worker import Batch, Slot
from tests.support.space_strategies import any_space

SEEDS = st.integers(0, 2**31 - 1)
COUNTS = st.integers(1, 5)


def samples(space: Any, seed: int, count: int) -> list[Any]:
    space.seed(seed)
    return [space.sample() for _ in range(count)]


@settings(max_examples=150)
@given(any_space, SEEDS, COUNTS)
def test_a_stack_and_a_list_give_the_same_columns(space: Any, seed: int, count: int) -> None:
    codec = SpaceCodec(space)
    values = samples(space, seed, count)
    assert codec.columns(stack(codec.space, values), count) == codec.columns(values, count)


@settings(max_examples=150)
@given(any_space, SEEDS, COUNTS)
def test_taking_from_a_stack_gives_the_values_back(space: Any, seed: int, count: int) -> None:
    codec = SpaceCodec(space)
    rows = [codec.encode(value) for value in samples(space, seed, count)]
    stacked = codec.stacked(codec.join(rows), count)
    assert [codec.encode(take(codec.space, stacked, i)) for i in range(count)] == rows


@settings(max_examples=100)
@given(any_space, SEEDS, COUNTS, st.data())
def test_one_decision_of_a_batch_is_that_decision_alone(
    space: Any, seed: int, count: int, data: st.DataObject
) -> None:
    codec = SpaceCodec(space)
    rows = [codec.encode(value) for value in samples(space, seed, count)]
    slot = Slot(0, "agent_0", "Nothing-v0", codec.space, codec.space)
    masks = np.eye(count, 3, dtype=np.bool_)
    batch = Batch(
        slot,
        ids=[*range(10, 10 + count)],
        episodes=[*range(count)],
        steps=[7] * count,
        seeds=np.arange(count, dtype=np.uint64),
        observations=codec.stacked(codec.join(rows), count),
        action_masks=masks,
        attempts=[*range(count)],
        reasons=[f"reason {i}" for i in range(count)],
    )
    i = data.draw(st.integers(0, count - 1))
    one = batch.only(i)
    assert len(one) == 1 and codec.columns(one.observations, 1) == codec.join([rows[i]])
    (alone,), among = list(one), batch[i]
    assert codec.encode(alone.observation) == codec.encode(among.observation) == rows[i]
    for name in ("id", "episode", "step", "seed", "attempt", "reason", "legal_actions"):
        assert getattr(alone, name) == getattr(among, name)


@settings(max_examples=100)
@given(any_space, SEEDS, COUNTS)
def test_the_wrong_number_of_values_is_refused(space: Any, seed: int, count: int) -> None:
    codec = SpaceCodec(space)
    values = samples(space, seed, count)
    with pytest.raises(NotInSpace):
        codec.columns(values, count + 1)
    columns = codec.columns(values, count)
    if any(column.data or column.sizes for column in columns):  # no bytes, no count
        with pytest.raises(NotInSpace):
            codec.stacked(columns, count + 1)
        with pytest.raises(NotInSpace):
            codec.split(columns, count + 1)
    with pytest.raises(NotInSpace):
        codec.stacked([*columns, columns[0]], count)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6))
def test_discrete_actions_may_be_any_kind_of_integer(actions: list[int]) -> None:
    codec = Codec(Space.from_json({"kind": "Discrete", "dtype": "int64", "n": 3, "start": 0}))
    expected = np.array(actions, "<i8").tobytes()
    for form in (actions, np.array(actions), [np.int64(a) for a in actions], [np.array(a) for a in actions]):
        assert codec.columns(form, len(actions))[0].data == expected


@pytest.mark.parametrize("action", [1.0, "1", None, [1], np.array([0.5]), 2**63])
def test_what_is_no_integer_is_no_discrete_action(action: Any) -> None:
    codec = Codec(Space.from_json({"kind": "Discrete", "dtype": "int64", "n": 3, "start": 0}))
    with pytest.raises(NotInSpace):
        codec.columns([action], 1)


def test_stacked_arrays_can_be_written() -> None:
    space = to_space(Space.from_json({"kind": "MultiBinary", "dtype": "int8", "shape": [2]}))
    stacked = Codec(space).stacked(Codec(space).columns(np.ones((3, 2), np.int8), 3), 3)
    stacked[0] = 0
    assert stacked.tolist() == [[0, 0], [1, 1], [1, 1]]
