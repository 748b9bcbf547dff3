"""Series of a training: kept whole, brought down to what a plot shows, smoothed."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.services.trainings.training_series import POINTS, SeriesStore, reduce

Numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=800)


def test_few_values_are_drawn_as_they_came() -> None:
    store = SeriesStore()
    store.add("return", [10, 20, 30], [1.0, 3.0, 2.0])
    curve = store.curve("return")
    assert curve is not None
    assert (list(curve.steps), list(curve.values)) == ([10, 20, 30], [1.0, 3.0, 2.0])
    assert (curve.last, curve.count, curve.span) == (2.0, 3, (10.0, 30.0))
    assert store.curve("length") is None


def test_a_million_values_become_a_few_hundred_points() -> None:
    store = SeriesStore()
    steps = np.arange(1_000_000)
    for part in np.array_split(steps, 7):
        store.add("loss", part, np.sin(part / 100_000))
    curve = store.curve("loss")
    assert curve is not None and curve.count == 1_000_000
    assert len(curve.steps) <= POINTS
    assert curve.span == (0.0, 999_999.0)
    expected = np.sin(curve.steps / 100_000)
    assert np.abs(curve.values - expected)[1:-1].max() < 0.02


def test_what_is_not_finite_is_left_out() -> None:
    store = SeriesStore()
    store.add("loss", [1, 2, 3], [1.0, math.nan, math.inf])
    store.add("nothing", [1], [math.nan])
    curve = store.curve("loss")
    assert curve is not None and curve.count == 1
    assert store.names == ("loss",) and store.count("nothing") == 0


def test_steps_that_go_back_are_sorted_in() -> None:
    curve = reduce(np.array([10.0, 20.0, 30.0, 15.0]), np.array([1.0, 2.0, 3.0, 9.0]), 0.0)
    assert list(curve.steps) == [10, 15, 20, 30] and list(curve.values) == [1, 9, 2, 3]


@given(Numbers)
def test_smoothing_stays_between_the_values(values: list[float]) -> None:
    y = np.array(values)
    curve = reduce(np.arange(len(y), dtype=float), y, 0.9)
    slack = 1e-6 * (1 + np.abs(y).max())
    assert curve.values.min() >= y.min() - slack and curve.values.max() <= y.max() + slack
    assert len(y) > POINTS or abs(curve.values[0] - y[0]) <= slack
    assert (curve.low <= curve.values + slack).all() and (curve.high >= curve.values - slack).all()


def test_smoothing_of_what_does_not_change_changes_nothing() -> None:
    y = np.full(500, 7.5)
    curve = reduce(np.arange(500, dtype=float), y, 0.99)
    assert np.allclose(curve.values, 7.5) and np.allclose(curve.low, curve.high)
