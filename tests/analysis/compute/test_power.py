"""What a pilot says of the seeds that are needed."""

from __future__ import annotations

import numpy as np
import pytest

from gym_gui.analysis.compute.power import spread_of
from gym_gui.analysis.compute.verdicts import compare_family
from gym_gui.analysis.findings.pairs import Pairs, Sides
from gym_gui.analysis.statistics.units import Sample

SIDES = Sides("operators", "", "a", "b", "a", "b", "return")


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
