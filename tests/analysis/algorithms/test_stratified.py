"""The stratified statistics against rliable's numbers, formulae, enumeration and simulation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats as oracle

from gym_gui.analysis.statistics import stratified
from gym_gui.analysis.statistics.intervals import Floats


def _samples() -> tuple[list[Floats], list[Floats]]:
    """Ten trainings of two algorithms in three environments."""
    rng = np.random.default_rng(7)
    a = np.round(rng.normal([1.0, 2.0, 0.5], [0.4, 0.9, 0.2], (10, 3)), 2)
    b = np.round(rng.normal([0.8, 1.9, 0.6], [0.5, 0.5, 0.2], (10, 3)), 2)
    return list(a.T), list(b.T)


def test_estimates_are_those_of_rliable() -> None:
    """rliable 1.2 gives these for the same scores; it needs an older pandas, so its numbers stand here."""
    a, b = _samples()
    assert stratified.pooled_iqm(a) == pytest.approx(0.81125)
    assert stratified.mean_of_tasks(a) == pytest.approx(0.983)
    assert stratified.improvement(a, b) == pytest.approx(0.4283333333)
    # By the published formulae, on scores with ties.
    tied = [np.round(x) for x in a], [np.round(x) for x in b]
    assert stratified.pooled_iqm(tied[0]) == pytest.approx(
        oracle.trim_mean(np.array(tied[0]), 0.25, axis=None)
    )
    u = [oracle.mannwhitneyu(x, y).statistic / 100 for x, y in zip(*tied, strict=True)]
    assert stratified.improvement(*tied) == pytest.approx(np.mean(u))


def test_intervals_are_those_of_rliable_widened_for_few_trainings() -> None:
    a, b = _samples()
    theirs = {"iqm": (0.7094, 0.9550), "improvement": (0.3100, 0.5517)}  # 20,000 and 5,000 resamples
    ours = {"iqm": stratified.iqm_ends(a), "improvement": stratified.improvement_ends(a, b)}
    # sqrt(n / (n - 1)) times Student's t over the normal quantile, with 3 * 9 degrees of freedom.
    wider = np.sqrt(10 / 9) * oracle.t.ppf(0.975, 27) / oracle.norm.ppf(0.975)
    for name, (low, high) in theirs.items():
        found = ours[name]
        assert found is not None
        assert found.low < low < high < found.high
        assert (found.high - found.low) / (high - low) == pytest.approx(wider, abs=0.05)


def test_a_mean_and_a_difference_of_means_are_near_welchs() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(5, 1, 14), rng.normal(4, 3, 11)
    found = stratified.difference_ends([a], [b])
    welch = oracle.ttest_ind(a, b, equal_var=False).confidence_interval(0.97)
    assert found is not None
    assert found.high - found.low == pytest.approx(welch.high - welch.low, rel=0.25)
    assert sum(found) / 2 == pytest.approx(a.mean() - b.mean(), abs=0.4)
    # Environments are drawn from by themselves: how far they lie apart is no part of the error.
    near, far = stratified.mean_ends([a, b]), stratified.mean_ends([a + 1000, b])
    assert near is not None
    assert far is not None
    assert far.high - far.low == pytest.approx(near.high - near.low)


def test_the_permutation_test_goes_through_every_split() -> None:
    a, b = np.array([3.0, 4.0, 5.5, 6.0, 8.0]), np.array([1.0, 2.0, 2.5, 5.0, 3.5])
    found = stratified.permutation_test([a], [b])
    other = oracle.permutation_test(
        (a, b),
        lambda x, y: abs(oracle.ttest_ind(x, y, equal_var=False).statistic),
        permutation_type="independent",
        alternative="greater",
    )
    assert found.exact
    assert found.p == pytest.approx(other.pvalue)
    # Apart on every training: 2 of 252 splits are as far apart.
    assert stratified.permutation_test([a], [a - 100]).p == pytest.approx(2 / 252)
    assert stratified.permutation_test([a], [a[::-1]]).p == 1.0
    assert stratified.permutation_test([np.full(5, 500.0)], [np.full(5, 9.0)]).p == pytest.approx(2 / 252)


def test_random_splits_agree_with_all_of_them() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.6, 1, 9), rng.normal(0, 1, 9)
    exact = stratified.permutation_test([a], [b])
    padding = np.zeros(9)  # a second environment in which nothing differs, so that splits are drawn
    drawn = stratified.permutation_test([a, padding], [b, padding])
    assert (exact.exact, drawn.exact) == (True, False)
    assert drawn.p == pytest.approx(exact.p, abs=0.02)


def test_equals_are_seldom_called_different() -> None:
    rng = np.random.default_rng(11)
    p = [stratified.permutation_test([rng.lognormal(size=5)], [rng.lognormal(size=5)]).p for _ in range(200)]
    assert sum(value < 0.05 for value in p) <= 20  # binomial, 5 % of 200: at most 20 with 99.9 %


def test_five_trainings_have_an_interval_over_two_environments_and_it_holds_the_truth() -> None:
    """Where 30 % of trainings fail: of one environment, five are all alike in every sixth group."""

    def drawn() -> Floats:
        return np.where(rng.random(5) < 0.7, 500.0, 100.0) + rng.normal(0, 20, 5)

    rng = np.random.default_rng(12)
    assert stratified.mean_ends([drawn()]) is None
    assert stratified.iqm_ends([drawn()]) is None
    assert stratified.difference_ends([drawn()], [drawn()]) is None
    held = 0
    for _ in range(100):
        ends = stratified.mean_ends([drawn(), drawn()], 499)
        assert ends is not None
        held += ends.low <= 380 <= ends.high
    assert held >= 88  # 93 % or more, binomial error left


def test_an_iqm_of_two_scores_has_the_interval_of_their_share() -> None:
    ends = stratified.iqm_ends([np.array([1.0, 1.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0, 1.0])])
    exact = oracle.binomtest(7, 10).proportion_ci()
    assert ends == pytest.approx((2 * exact.low - 0.5, 1.0), abs=1e-9) or ends == pytest.approx(
        (max(0.0, 2 * exact.low - 0.5), 1.0)
    )


def test_too_few_or_equal_trainings_have_no_interval() -> None:
    few, equal = [np.arange(4.0)], [np.full(8, 500.0)]
    for ends in (
        stratified.iqm_ends(few),
        stratified.mean_ends(few),
        stratified.improvement_ends(few, few),
        stratified.difference_ends(few, few),
        stratified.iqm_ends(equal),
        stratified.mean_ends(equal),
        stratified.improvement_ends([np.arange(8.0) + 10], [np.arange(8.0)]),
    ):
        assert ends is None


def test_ranks_share_where_algorithms_are_equal() -> None:
    best, level, other = [np.array([3.0, 3.0])] * 2, [np.array([1.0, 1.0])] * 2, [np.array([1.0, 1.0])] * 2
    for order in permutations([(best, 1.0), (level, 2.5), (other, 2.5)]):
        found = stratified.ranks_of([sample for sample, _ in order])
        assert list(found) == [rank for _, rank in order]


def test_rank_intervals_follow_the_trainings() -> None:
    a, b = _samples()
    apart = [x + 10 for x in a]
    first, second = stratified.rank_ends([apart, b], 199)
    assert (first, second) == (None, None)  # always first, always second
    mixed = stratified.rank_ends([a, b], 999)
    assert all(ends is not None and 1 <= ends.low < ends.high <= 2 for ends in mixed)
