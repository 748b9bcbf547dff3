"""How many seeds a difference needs: held against tests of that many."""

from __future__ import annotations

import numpy as np
import pytest

from gym_gui.analysis.power import power_of, seeds_needed, spread_of
from gym_gui.analysis.stats import sign_flip_test
from gym_gui.analysis.units import Sample
from gym_gui.analysis.verdicts import Pairs, Sides, compare_family

SIDES = Sides("operators", "", "a", "b", "a", "b", "return")


@pytest.mark.parametrize(("spread", "comparisons"), [(2.0, 1), (1.2, 1), (3.0, 3)])
def test_so_many_seeds_find_it_as_often_as_they_should(spread: float, comparisons: int) -> None:
    seeds = seeds_needed(1.0, spread, comparisons=comparisons)
    rng = np.random.default_rng(1)
    found = [
        sign_flip_test(rng.normal(1.0, spread, seeds), flips=499).p < 0.05 / comparisons for _ in range(300)
    ]
    assert 0.72 < np.mean(found) < 0.9
    assert 0.8 <= power_of(seeds, 1.0, spread, comparisons=comparisons) < 0.84
    assert power_of(seeds - 1, -1.0, spread, comparisons=comparisons) < 0.81


def test_the_smaller_the_more() -> None:
    assert seeds_needed(0.5, 1) > 3 * seeds_needed(1, 1)
    assert seeds_needed(1, 1, power=0.95) > seeds_needed(1, 1) < seeds_needed(1, 1, comparisons=15)
    assert seeds_needed(100, 1) == 6, "fewer can decide nothing"
    assert power_of(5, 100, 1) == 0 and power_of(6, 1, 0) == 1


def test_a_seed_of_two_seatings_is_one_of_the_spread() -> None:
    rng = np.random.default_rng(0)
    by_seed = rng.normal(1, 2, 30)
    samples = tuple(Sample(seed, seed) for seed in range(30) for _ in "12")
    d = tuple(float(x + side) for x in by_seed for side in (5, -5))
    (comparison,) = compare_family([(SIDES, Pairs(samples, d, shared=60))])
    spread = spread_of(comparison)
    assert spread is not None and spread.seeds == 30
    assert spread.value == pytest.approx(by_seed.std(ddof=1)) and spread.low < 2 < spread.high


def test_five_seeds_have_no_spread() -> None:
    pairs = Pairs(tuple(Sample(i, i) for i in range(5)), (1.0, 2.0, 3.0, 4.0, 5.0), shared=5)
    assert spread_of(compare_family([(SIDES, pairs)])[0]) is None
