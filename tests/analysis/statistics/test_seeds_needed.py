"""How many seeds a difference needs: held against tests of that many."""

from __future__ import annotations

import numpy as np
import pytest

from gym_gui.analysis.statistics.intervals import paired_interval
from gym_gui.analysis.statistics.seeds_needed import power_of, seeds_by_signs, seeds_needed
from gym_gui.analysis.statistics.stats import least_p, paired_test


@pytest.mark.parametrize(
    ("effect", "comparisons"), [(0.5, 10), (1.0, 1), (1.0, 3), (1.667, 10), (2.5, 3), (5.0, 45)]
)
def test_so_many_seeds_find_it_as_often_as_they_should(effect: float, comparisons: int) -> None:
    """By the verdict's own rule, in a family whose other comparisons are level."""
    seeds = seeds_needed(effect, 1.0, comparisons=comparisons)
    planned = power_of(seeds, effect, 1.0, comparisons=comparisons)
    rng = np.random.default_rng(1)
    studies = 200
    found = 0
    for d in rng.normal(effect, 1.0, (studies, seeds)):
        ends = paired_interval(d, least=6)
        decided = paired_test(d, 0.05 / comparisons).p < 0.05 / comparisons
        found += decided and (ends is None or ends.low > 0)
    assert planned >= 0.8
    assert found / studies == pytest.approx(
        planned, abs=3 * (planned * (1 - planned) / studies) ** 0.5 + 0.015
    )


def test_a_plan_for_many_seeds_is_that_of_the_normal_distribution() -> None:
    needed = seeds_needed(0.05, 1.0)
    assert needed == pytest.approx(((1.96 + 0.8416) / 0.05) ** 2, rel=0.01)
    assert power_of(needed, 0.05, 1.0) == pytest.approx(0.8, abs=0.01)


def test_the_smaller_the_more() -> None:
    assert seeds_needed(0.5, 1) > 2.5 * seeds_needed(1, 1)
    assert seeds_needed(1, 1, power=0.95) > seeds_needed(1, 1) < seeds_needed(1, 1, comparisons=15)
    assert seeds_needed(100, 1) == 6, "fewer can decide nothing"
    assert power_of(5, 100, 1) == 0 and power_of(6, 1, 0) == 1
    assert power_of(8, 1, 0, comparisons=10) == 0 < power_of(9, 1, 0, comparisons=10), "signs alone"


@pytest.mark.parametrize(("comparisons", "seeds"), [(1, 6), (3, 7), (10, 9), (45, 11)])
def test_signs_alone_decide_so_many_comparisons(comparisons: int, seeds: int) -> None:
    assert seeds_by_signs(comparisons) == seeds
    assert least_p(seeds) * comparisons < 0.05 <= least_p(seeds - 1) * comparisons


def test_a_difference_next_to_nothing_is_planned_for_at_once() -> None:
    """Student's distribution was summed, with a term for every second seed."""
    assert 7e10 < seeds_needed(1e-5, 1.0) < 9e10
    assert seeds_needed(1e-9, 1.0) == 10**12, "beyond that it does not matter how many they are"
