"""The test that may be looked at while seeds are added, against patterns that are all gone through."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from gym_gui.analysis.statistics.sequential_test import ALPHA, PATTERNS, SPENDING, SequentialTest

LOOKS = (4, 8, 10)


def signs(n: int) -> np.ndarray:
    return np.array(list(product((1.0, -1.0), repeat=n)))


def decided_at(sizes: np.ndarray, looks: Sequence[int], level: float) -> np.ndarray:
    """For each pattern of signs the look that decides it, 0 for none: the definition, by enumeration."""
    sums = np.abs(np.cumsum(signs(len(sizes)) * sizes, axis=1))
    at = np.zeros(len(sums), int)
    for number, n in enumerate(looks, 1):
        reached = np.round(sums[:, n - 1], 9)
        allowed = level * (n / looks[-1]) ** SPENDING * len(sums)
        for limit in sorted(set(reached)):
            beyond = (at > 0) | (reached > limit)
            if beyond.sum() <= allowed:
                at[(at == 0) & (reached > limit)] = number
                break
    return at


def looked_at(sizes: np.ndarray, looks: Sequence[int], level: float) -> np.ndarray:
    """The same by the test: every pattern of signs as if it had been seen."""
    d = signs(len(sizes)) * sizes
    test = SequentialTest(rows=len(d), patterns=8_000, levels=sorted({level, ALPHA}))
    at, before = np.zeros(len(d), int), 0
    for number, n in enumerate(looks, 1):
        seen = test.update_all(d[:, before:n], n / looks[-1])
        at[(at == 0) & (np.array([look.p for look in seen]) <= level)] = number
        before = n
    return at


@pytest.mark.parametrize(
    "sizes",
    [
        np.random.default_rng(3).exponential(1, 10),
        np.ones(10),
        np.array([1, 1, 2, 2, 3, 1, 1, 100, 1, 1.0]),
    ],
    ids=["exponential", "equal sizes", "one far out"],
)
def test_decides_as_the_definition_says(sizes: np.ndarray) -> None:
    expected, found = decided_at(sizes, LOOKS, ALPHA), looked_at(sizes, LOOKS, ALPHA)
    assert 0 < (expected > 0).mean() <= ALPHA
    assert (found > 0).mean() <= ALPHA + 0.01
    # Random patterns place a boundary a little higher or lower than all patterns do.
    assert (expected != found).mean() < 0.03


def test_looks_together_are_wrong_no_more_often_than_one_may_be() -> None:
    rng = np.random.default_rng(8)
    rows, n = 2_000, 40
    d = rng.standard_t(2, (rows, n))
    test = SequentialTest(rows=rows, patterns=999, levels=[0.01, ALPHA])
    for start in range(0, n, 4):
        seen = test.update_all(d[:, start : start + 4], (start + 4) / n)
    wrong = np.mean([look.p <= ALPHA for look in seen])
    assert 0.03 < wrong < ALPHA + 4 * math.sqrt(ALPHA * (1 - ALPHA) / rows)


def test_a_p_value_only_falls_and_stays_what_it_was_when_nothing_more_shows() -> None:
    test = SequentialTest(family=3)
    rng = np.random.default_rng(1)
    ps = [test.update(rng.normal(1.5, 1, 5), share).p for share in (0.25, 0.5, 0.75)]
    ps.append(test.update(rng.normal(0, 20, 5), 1.0).p)
    assert ps == sorted(ps, reverse=True) and ps[2] < 0.01


def test_few_seeds_can_show_nothing() -> None:
    seen = SequentialTest().update([3.0] * 4, 0.2)
    assert seen.boundary == seen.statistic == 12.0 and seen.p > ALPHA and seen.tail == 0


def test_equal_differences_are_decided_and_none_never() -> None:
    test, level = SequentialTest(), SequentialTest()
    for share in (0.1, 0.2, 0.3):
        seen, nothing = test.update([0.1] * 10, share), level.update([0.0] * 10, share)
        assert nothing.p == 1.0 and nothing.tail == 0
    assert seen.p <= 0.002


def test_signs_do_not_matter_nor_does_the_unit() -> None:
    d = np.random.default_rng(4).normal(1, 1, 20)
    looks = [[SequentialTest().update(x[:20], 0.5).p] for x in (d, -d, d * 1e-12, d * 1e12)]
    assert all(found == looks[0] for found in looks)


def test_families_are_met_exactly() -> None:
    """Holm's procedure asks for 0.05 / 15: a p-value on a ladder must not miss that by a rung."""
    levels = [ALPHA / rank for rank in range(1, 16)]
    rng = np.random.default_rng(5)
    seen = [SequentialTest(15, patterns=PATTERNS).update(rng.normal(0.9, 1, 14), 1.0).p for _ in range(12)]
    single = [
        [
            SequentialTest(patterns=PATTERNS, levels=[level, ALPHA]).update(d, 1.0).p <= level
            for level in levels
        ]
        for d in (np.random.default_rng(5).normal(0.9, 1, (12, 14)))
    ]
    assert [[p <= level for level in levels] for p in seen] == single
