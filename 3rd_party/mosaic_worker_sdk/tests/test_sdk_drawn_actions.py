"""Actions are drawn by given numbers alone, and what is illegal is never played."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mosaic_worker.playing.checkpoint_worker import Draws
from mosaic_worker.playing.drawn_actions import counted_actions, draw_normals, greedy_index, hide_illegal
from mosaic_worker.spaces import Space

ROWS = 2000
ONE = Space("Discrete", np.dtype(np.int64), n=3, start=5)
TWO = Space(
    "MultiDiscrete", np.dtype(np.int32), (2,), nvec=np.array([3, 2]), starts=np.array([0, 10], np.int64)
)


def uniforms(seed: int) -> Draws:
    return lambda component: np.random.default_rng([seed, component]).random(ROWS)


def rows(*numbers: float) -> NDArray[np.float64]:
    return np.tile(np.asarray(numbers, np.float64), (ROWS, 1))


def test_actions_are_drawn_as_often_as_they_are_likely() -> None:
    actions = counted_actions(np.log(rows(0.7, 0.2, 0.1)), ONE, uniforms(1))
    shares = np.bincount(actions - 5, minlength=3) / ROWS
    assert actions.dtype == np.int64 and np.allclose(shares, [0.7, 0.2, 0.1], atol=0.04)


def test_choices_are_drawn_apart_and_start_where_the_space_does() -> None:
    likeliest = counted_actions(rows(0, 2, 1, 4, 3), TWO, None)
    assert likeliest.dtype == np.int32 and likeliest.tolist() == [[1, 10]] * ROWS
    drawn = counted_actions(rows(0, 0, 0, 0, 0), TWO, uniforms(2))
    assert {tuple(pair) for pair in drawn.tolist()} == {(a, b) for a in range(3) for b in (10, 11)}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_illegal_is_never_played(seed: int) -> None:
    masks = np.random.default_rng(seed).random((ROWS, 5)) < 0.6
    outputs = np.random.default_rng(seed).normal(size=(ROWS, 5))
    able = hide_illegal(outputs, masks, TWO)
    assert (able == (masks[:, :3].any(1) & masks[:, 3:].any(1))).all() and 0 < able.sum() < ROWS
    for draws in (None, uniforms(seed)):
        first, second = counted_actions(outputs, TWO, draws)[able].T
        assert masks[able, first].all() and masks[able, 3 + second - 10].all()


def test_rows_beyond_the_masks_may_do_everything() -> None:
    outputs = rows(1, 0, 0)
    able = hide_illegal(outputs, np.zeros((1, 3), np.bool_), ONE)
    assert not able[0] and able[1:].all() and outputs[0].tolist() == [0, 0, 0]


def test_the_best_is_left_as_often_as_epsilon_says() -> None:
    values = rows(1, 3, -np.inf)
    assert (greedy_index(values, None, 0.5) == 1).all()
    chosen = greedy_index(values, uniforms(3), 0.4)
    assert abs((chosen == 0).mean() - 0.2) < 0.04 and not (chosen == 2).any()


def test_normal_numbers_are_normal_and_finite() -> None:
    found = draw_normals(lambda component: uniforms(4)(component) if component else np.zeros(ROWS), 2)
    assert np.isfinite(found).all() and (found[:, 0] < -8).all()
    assert abs(found[:, 1].mean()) < 0.1 and abs(found[:, 1].std() - 1) < 0.05
