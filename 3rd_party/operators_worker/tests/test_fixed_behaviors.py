from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium.spaces as gs
import numpy as np
import pytest
from gymnasium.spaces import GraphInstance

from gym_gui.core.spaces import to_space
from mosaic_worker.codec import Codec
from mosaic_worker.worker import EpisodeEnd, Invalid, LoadError, Slot
from operators_worker.fixed import zero_action
from operators_worker.main import OperatorsWorker

NOTHING = gs.Box(0.0, 1.0, (1,))
ZERO = np.zeros(1, np.float32)


@pytest.mark.parametrize(
    "space",
    [
        gs.Discrete(3, start=4),
        gs.MultiDiscrete([2, 3], start=[1, 2]),
        gs.MultiBinary([2, 2]),
        gs.Box(1.0, 2.0, (2,)),
        gs.Box(-np.inf, np.inf, (2,)),
        gs.Text(4, min_length=2, charset="xy"),
        gs.Sequence(gs.Discrete(2)),
        gs.Sequence(gs.Box(0.0, 1.0, (2,)), stack=True),
        gs.Graph(gs.Box(-1.0, 1.0, (2,)), gs.Discrete(3)),
        gs.OneOf((gs.Discrete(2), gs.Discrete(3))),
        gs.Dict({"a": gs.Discrete(2), "b": gs.Tuple((gs.MultiBinary(1),))}),
    ],
    ids=str,
)
def test_the_zero_action_belongs_to_the_space(space: gs.Space[Any]):
    codec = Codec(to_space(space), GraphInstance)
    assert space.contains(codec.decode(codec.encode(zero_action(to_space(space)))))


def test_zero_is_moved_into_the_bounds():
    zero = zero_action(to_space(gs.Box(np.array([-1.0, 2.0]), np.array([1.0, 3.0]), dtype=np.float64)))
    assert zero.tolist() == [0.0, 2.0]


def test_noop_prefers_the_environments_own(new_seat: Callable[..., Any]):
    seat = new_seat(NOTHING, gs.Discrete(8), "noop", noop_action=3)
    assert seat.act(ZERO, 0, 0, 1) == 3
    assert seat.act(ZERO, 0, 1, 1, mask=[1, 1, 0, 1, 0, 0, 0, 0]) == 3
    assert seat.act(ZERO, 0, 2, 1, mask=[0, 0, 1, 0, 0, 1, 0, 0]) == 2
    assert isinstance(seat.act(ZERO, 0, 3, 1, mask=[0] * 8), Invalid)


def test_masks_count_from_the_spaces_start(new_seat: Callable[..., Any]):
    seat = new_seat(NOTHING, gs.Discrete(4, start=1), "noop", noop_action=2)
    assert seat.act(ZERO, 0, 0, 1, mask=[0, 1, 0, 1]) == 2
    assert seat.act(ZERO, 0, 1, 1, mask=[0, 0, 1, 1]) == 3


def test_noop_keeps_the_masks_of_components(new_seat: Callable[..., Any]):
    seat = new_seat(NOTHING, gs.MultiDiscrete([2, 3], start=[0, 7]), "noop")
    assert seat.act(ZERO, 0, 0, 1).tolist() == [0, 7]
    assert seat.act(ZERO, 0, 1, 1, mask=[0, 1, 0, 0, 1]).tolist() == [1, 9]


def test_cycle_goes_through_the_legal_actions(new_seat: Callable[..., Any]):
    seat = new_seat(NOTHING, gs.Discrete(4, start=1), "cycle")
    assert [seat.act(ZERO, 0, t, 1) for t in range(6)] == [1, 2, 3, 4, 1, 2]
    # The next in turn is 3; where that is not legal, the one after it.
    assert seat.act(ZERO, 0, 6, 1, mask=[1, 1, 0, 1]) == 4
    assert seat.act(ZERO, 0, 7, 1) == 1


def test_cycle_counts_decisions_not_environment_steps(new_seat: Callable[..., Any]):
    seat = new_seat(NOTHING, gs.Discrete(4), "cycle")
    assert [seat.act(ZERO, 0, t, 1) for t in (0, 2, 4, 6)] == [0, 1, 2, 3]


def test_cycle_repeats_itself_when_asked_again(new_seat: Callable[..., Any]):
    seat = new_seat(NOTHING, gs.Discrete(4), "cycle")
    assert [seat.act(ZERO, 0, t, 1) for t in (0, 1, 1, 2)] == [0, 1, 1, 2]


def test_cycle_starts_anew_in_each_episode(new_seat: Callable[..., Any]):
    seat = new_seat(NOTHING, gs.Discrete(4), "cycle")
    assert [seat.act(ZERO, e, 0, 1) for e in (0, 1)] == [0, 0]
    seat.worker.on_episode_end(seat.slot, [EpisodeEnd(0, 0.0, 1, "completed")])
    assert seat.act(ZERO, 0, 5, 1) == 0
    assert seat.act(ZERO, 1, 1, 1) == 1


def test_cycle_reaches_every_combination(new_seat: Callable[..., Any]):
    seat = new_seat(NOTHING, gs.MultiDiscrete([2, 3], start=[0, 5]), "cycle")
    played = {tuple(seat.act(ZERO, 0, t, 1).tolist()) for t in range(6)}
    assert played == {(a, b) for a in (0, 1) for b in (5, 6, 7)}
    binary = new_seat(NOTHING, gs.MultiBinary(2), "cycle")
    assert [binary.act(ZERO, 0, t, 1).tolist() for t in range(4)] == [[0, 0], [1, 0], [0, 1], [1, 1]]


def test_cycle_needs_a_finite_space(new_slot: Callable[..., Slot]):
    with pytest.raises(LoadError, match=r"cycle.*Discrete"):
        OperatorsWorker().load(new_slot(NOTHING, gs.Box(0.0, 1.0, (1,)), "cycle"))
