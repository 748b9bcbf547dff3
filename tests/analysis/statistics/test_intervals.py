"""Intervals against oracles, and how often they hold the truth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from gym_gui.analysis.compute.outliers import outlier_note
from gym_gui.analysis.statistics import intervals
from gym_gui.analysis.statistics.distributions import student_quantile
from gym_gui.analysis.statistics.intervals import (
    Interval,
    iqm_interval,
    mean_interval,
    paired_interval,
    share_interval,
)

Draw = Callable[[np.random.Generator, int], np.ndarray]
BOTH = pytest.mark.parametrize("interval_of", [mean_interval, iqm_interval])


@BOTH
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_too_few_episodes_give_no_interval(interval_of: Callable[..., Interval | None], n: int) -> None:
    assert interval_of([float(i) for i in range(n)]) is None


@pytest.mark.parametrize("interval_of", [mean_interval, iqm_interval, paired_interval])
@pytest.mark.parametrize("n", [6, 20, 500])
def test_equal_values_give_no_interval(interval_of: Callable[..., Interval | None], n: int) -> None:
    """A width of zero would say that nothing else ever happens."""
    assert interval_of([0.1] * n) is None


def test_seeds_with_equal_means_give_no_interval() -> None:
    assert mean_interval([1.0, -1.0] * 10, np.repeat(np.arange(10), 2)) is None


def test_an_iqm_of_equal_middle_halves_has_no_interval() -> None:
    assert iqm_interval([500.0] * 19 + [431.0]) is None
    assert iqm_interval([1.0] * 99 + [0.0]) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=20))
def test_an_interval_has_a_width_and_holds_the_mean(values: list[float]) -> None:
    for found in (mean_interval(values, resamples=199), paired_interval(values, resamples=199)):
        if found is not None:
            mean = float(np.mean(values))
            margin = 1e-9 * max(map(abs, values))
            assert math.isfinite(found.low) and math.isfinite(found.high) and found.low < found.high
            assert found.low - margin <= mean <= found.high + margin or found.method == "Bonett-Price"
    found = iqm_interval(values, resamples=199)
    assert found is None or min(values) <= found.low < found.high <= max(values)


def test_the_iqms_interval_is_scipys_percentile_bootstrap_at_the_expanded_level() -> None:
    x = np.random.default_rng(5).gamma(2.0, 10.0, size=25)
    tail = oracle.norm.cdf(-math.sqrt(25 / 24) * oracle.t.ppf(0.975, 24))
    other = oracle.bootstrap(
        (x,),
        lambda x, axis: oracle.trim_mean(x, 0.25, axis=axis),
        n_resamples=40_000,
        confidence_level=1 - 2 * tail,
        method="percentile",
        rng=1,
    ).confidence_interval
    assert iqm_interval(x, resamples=40_000)[:2] == pytest.approx((other.low, other.high), abs=0.15)  # type: ignore[index]


def test_the_means_interval_is_the_bootstrap_t_of_a_plain_loop() -> None:
    x = np.random.default_rng(6).gamma(2.0, 10.0, size=25)
    samples = np.random.default_rng(7).choice(x, size=(40_000, 25))
    t = (samples.mean(axis=1) - x.mean()) / oracle.sem(samples, axis=1)
    low, high = np.quantile(t, [0.015, 0.985])  # nominally 97 %
    expected = (x.mean() - high * oracle.sem(x), x.mean() - low * oracle.sem(x))
    assert mean_interval(x, resamples=40_000) == (
        *map(pytest.approx, expected, [0.01] * 2),
        "bootstrap-t over seeds",
    )


def test_many_seeds_of_which_many_are_nearly_equal_have_the_intervals_that_plain_loops_give() -> None:
    """Skewed; and one seed in 40 far from all others."""
    rng = np.random.default_rng(8)
    n, draws = 2_100, 3_000
    far = np.where(rng.random(n) < 1 / 40, -1_000.0, rng.normal(100.0, 5.0, n))
    for x in (np.round(rng.gamma(2.0, 10.0, n), 1), far):
        samples = rng.choice(x, size=(draws, n))
        t = (samples.mean(axis=1) - x.mean()) / oracle.sem(samples, axis=1)
        low, high = np.quantile(t, [0.015, 0.985])  # nominally 97 %
        mean, iqm = mean_interval(x), iqm_interval(x)
        middle = np.quantile(oracle.trim_mean(samples, 0.25, axis=1), [0.025, 0.975])
        assert mean is not None and iqm is not None
        expected = (x.mean() - high * oracle.sem(x), x.mean() - low * oracle.sem(x))
        assert mean[:2] == pytest.approx(expected, abs=0.06 * (expected[1] - expected[0]))
        assert iqm[:2] == pytest.approx(middle, abs=0.06 * (middle[1] - middle[0]))


def test_many_seeds_with_several_episodes_each_are_drawn_whole() -> None:
    x = np.random.default_rng(9).normal(size=2_100)
    twice, units = np.repeat(x, 2), np.repeat(np.arange(len(x)), 2)
    for interval_of in (mean_interval, iqm_interval):
        once, clustered = interval_of(x), interval_of(twice, units)
        assert once is not None and clustered is not None
        assert clustered[:2] == pytest.approx(once[:2], abs=0.05 * (once.high - once.low))


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 19, 50, 999, 39_999, 10**12])
@pytest.mark.parametrize("p", [0.5, 0.8, 0.975, 0.999])
def test_students_quantiles_are_scipys(degrees: int, p: float) -> None:
    assert student_quantile(degrees, p) == pytest.approx(oracle.t.ppf(p, degrees), rel=1e-9, abs=1e-12)


def test_the_order_of_seeds_is_no_part_of_an_interval() -> None:
    x = np.random.default_rng(1).normal(size=50)
    assert mean_interval(x) == mean_interval(x.copy()) == mean_interval(x[::-1])
    assert iqm_interval(x) == iqm_interval(x[::-1])


def test_an_end_stops_at_a_bound_that_is_declared_and_at_no_other() -> None:
    """A value that several seeds share is no bound: the next one may lie beyond."""
    x = [1.0] * 18 + [0.5] * 2
    seen, declared = mean_interval(x), mean_interval(x, bounds=(0.0, 1.0))
    assert seen is not None and seen.high > 1.0
    assert declared is not None and declared.high <= 1.0
    assert seen.low < 0.5 < 0.7 < declared.low, "between 0 and 1, no few seeds cost more"
    # Hoeffding's theorem 1: 20 times the relative entropy of 0.95 from the end is log(40).
    assert oracle.entropy([0.95, 0.05], [declared.low, 1 - declared.low]) == pytest.approx(np.log(40) / 20)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5])
def test_declared_bounds_cost_no_truth(p: float) -> None:
    rng = np.random.default_rng(3)
    games = (rng.random((600, 12, 2)) < p).mean(axis=2)
    found = [mean_interval(x, resamples=499, bounds=(0.0, 1.0)) for x in games]
    assert np.mean([i.low <= p <= i.high for i in found if i is not None]) > 0.94


@BOTH
def test_whole_seeds_are_drawn(interval_of: Callable[..., Interval]) -> None:
    """Each seed's value there twice: the same interval as once; as 64 episodes, a narrower one."""
    x = np.random.default_rng(2).normal(size=32)
    twice, units = np.repeat(x, 2), np.repeat(np.arange(32), 2)
    once, clustered, naive = interval_of(x), interval_of(twice, units), interval_of(twice)
    assert clustered[:2] == pytest.approx(once[:2])
    assert naive.high - naive.low < 0.8 * (clustered.high - clustered.low)


def test_a_seed_with_more_episodes_weighs_more() -> None:
    x = np.random.default_rng(3).normal(size=30)
    values, units = [*x, *x[:10]], [*range(30), *range(10)]
    found = mean_interval(values, units)
    assert found is not None and found.low < np.mean(values) < found.high


# ---------------------------------------------------------------------- two values


@given(st.integers(1, 60), st.data())
def test_a_share_is_scipys_clopper_pearson(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    other = oracle.binomtest(hits, n).proportion_ci(method="exact")
    assert share_interval(hits, n)[:2] == pytest.approx((other.low, other.high), abs=1e-9)  # type: ignore[index]


def test_a_share_of_nothing_is_nothing() -> None:
    assert share_interval(0, 0) is None and intervals.unseen_share(0) is None


@pytest.mark.parametrize("n", [6, 20, 100])
def test_what_was_never_seen_may_yet_happen(n: int) -> None:
    """With a chance of that size it stays unseen in just one of 20 samples."""
    share = intervals.unseen_share(n)
    assert share is not None and (1 - share) ** n == pytest.approx(0.05)


def test_means_of_two_values_are_no_surer_than_their_share() -> None:
    share, found = share_interval(19, 20), mean_interval([500.0] * 19 + [100.0])
    assert share is not None and found is not None
    assert found.low <= 100 + 400 * share.low and found.high >= 100 + 400 * share.high


@pytest.mark.parametrize("q", [0.025, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("n", [10, 20])
def test_sparse_scores_of_either_sign_hold_their_mean(n: int, q: float) -> None:
    """Values -1, 0 and 1, one side's at a time: a sample that shows two of them has not only these."""
    held = said = 0.0
    for ahead, behind in itertools.product(range(n + 1), repeat=2):
        level = n - ahead - behind
        chance = float(oracle.multinomial.pmf([ahead, behind, max(level, 0)], n, [q, q, 1 - 2 * q]))
        if level < 0 or chance < 1e-5:
            continue
        found = mean_interval([1.0] * ahead + [-1.0] * behind + [0.0] * level, resamples=499)
        said += chance if found else 0.0
        held += chance if found and found.low <= 0 <= found.high else 0.0
    assert held / said > 0.94


@pytest.mark.parametrize("n", [10, 12, 20, 50])
def test_games_without_a_draw_hold_their_mean_difference(n: int) -> None:
    """Plus or minus one on every seed, of any chance between."""
    found = [paired_interval([1.0] * k + [-1.0] * (n - k), resamples=499) for k in range(n + 1)]
    for p in np.arange(0.5, 1.0, 0.03):
        chances = oracle.binom.pmf(range(n + 1), n, p)
        ends = [(c, i) for c, i in zip(chances, found, strict=True) if i is not None]
        held = sum(float(c) for c, i in ends if i.low - 1e-9 <= 2 * p - 1 <= i.high + 1e-9)
        assert held / sum(float(c) for c, _ in ends) > 0.94


@pytest.mark.parametrize("p", [0.5, 0.7, 0.9, 0.95])
@pytest.mark.parametrize("n", [10, 12, 20, 50])
def test_means_of_zeros_and_ones_hold_the_truth(n: int, p: float) -> None:
    """Over every sample, each with its chance: no simulation."""
    for interval_of, truth in ((mean_interval, p), (iqm_interval, min(1.0, 2 * p - 0.5))):
        held = said = 0.0
        for hits in range(n + 1):
            found = interval_of([1.0] * hits + [0.0] * (n - hits))
            chance = float(oracle.binom.pmf(hits, n, p))
            said += chance if found else 0.0
            held += chance if found and found.low <= truth <= found.high else 0.0
        assert held / said > 0.94, interval_of


@pytest.mark.parametrize(("first", "second"), [(0.95, 0.95), (0.95, 0.8), (0.9, 0.5), (0.5, 0.5), (1.0, 0.9)])
@pytest.mark.parametrize("n", [10, 12, 20])
def test_differences_of_zeros_and_ones_hold_the_truth(n: int, first: float, second: float) -> None:
    chances = [first * (1 - second), second * (1 - first)]
    held = said = 0.0
    for ahead, behind in itertools.product(range(n + 1), repeat=2):
        if ahead + behind <= n:
            level = n - ahead - behind
            found = paired_interval([1.0] * ahead + [-1.0] * behind + [0.0] * level)
            chance = float(oracle.multinomial.pmf([ahead, behind, level], n, [*chances, 1 - sum(chances)]))
            said += chance if found else 0.0
            held += chance if found and found.low <= first - second <= found.high else 0.0
    assert held / said > 0.94


# ------------------------------------------------------------------------ coverage


def _normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(10.0, 3.0, n)


def _skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.exponential(1.0, n)


def _heavy(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.lognormal(0.0, 1.0, n)


def _rare(rng: np.random.Generator, n: int) -> np.ndarray:
    """Nine of ten are 0."""
    return np.where(rng.random(n) < 0.1, rng.normal(0.0, 1.0, n), 0.0)


def _rare_gains(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.1, rng.exponential(1.0, n), 0.0)


def _rare_against_rare(rng: np.random.Generator, n: int) -> np.ndarray:
    return _rare_gains(rng, n) - _rare_gains(rng, n)


def _outliers(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(0.0, 1.0, n) * np.where(rng.random(n) < 0.05, 30.0, 1.0)


def _capped(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.9, 500.0, rng.uniform(100.0, 500.0, n))


@pytest.mark.parametrize(
    ("draw", "n", "interval_of", "truth", "least"),
    [
        (_normal, 10, mean_interval, 10.0, 0.93),
        (_normal, 20, mean_interval, 10.0, 0.92),
        (_normal, 20, iqm_interval, 10.0, 0.92),
        (_skewed, 10, mean_interval, 1.0, 0.92),
        (_skewed, 20, mean_interval, 1.0, 0.925),
        # The mean of the middle half of Exp(1): 2 times the integral of -log(1 - u) from 1/4 to 3/4.
        (_skewed, 20, iqm_interval, 2 * (0.75 - 0.75 * math.log(0.75) - 0.25 + 0.25 * math.log(0.25)), 0.92),
        (_heavy, 20, mean_interval, math.exp(0.5), 0.91),
        (_capped, 20, mean_interval, 480.0, 0.93),
        (_rare, 10, mean_interval, 0.0, 0.94),
        (_rare, 50, mean_interval, 0.0, 0.94),
        (_rare_gains, 20, mean_interval, 0.1, 0.925),
        (_rare_against_rare, 50, paired_interval, 0.0, 0.93),
        (_outliers, 50, mean_interval, 0.0, 0.93),
    ],
)
def test_the_interval_covers_the_truth_about_as_often_as_it_says(
    draw: Draw, n: int, interval_of: Callable[..., Interval | None], truth: float, least: float
) -> None:
    rng = np.random.default_rng(20)
    found = [interval_of(draw(rng, n), resamples=499) for _ in range(400)]
    held = [i.low <= truth <= i.high for i in found if i is not None]
    assert least <= np.mean(held)
    assert draw in (_rare, _rare_against_rare, _outliers) or np.mean(held) <= 0.995


def test_what_looks_normal_is_what_passes_shapiros_test() -> None:
    rng = np.random.default_rng(11)
    normal = [intervals.looks_normal(rng.normal(5.0, 2.0, 20)) for _ in range(400)]
    assert 0.85 <= np.mean(normal) <= 0.95, "at a level of a tenth"
    x = rng.normal(size=30)
    assert oracle.shapiro(x).pvalue > 0.2 and intervals.looks_normal(x) == intervals.looks_normal(1e6 - 7 * x)
    assert np.mean([intervals.looks_normal(rng.exponential(1.0, 20)) for _ in range(200)]) < 0.25
    for never in (np.ones(20), np.arange(4.0), np.array([0.0] * 10 + [1.0] * 10)):
        assert not intervals.looks_normal(never)


# ------------------------------------------------------------------------ outliers


def test_a_seed_that_makes_the_mean_is_named() -> None:
    values, seeds = [10.0 + i % 3 for i in range(20)], list(range(100, 120))
    assert outlier_note(values, range(20), seeds, "mean return") == ""
    values[7] = -10_300.0
    note = outlier_note(values, range(20), seeds, "mean return")
    assert note == "1 of 20 seeds (107) moves the mean return to -504.6; without it it is 10.9."


def test_zeros_and_ones_have_no_outliers_but_a_disaster_is_one() -> None:
    seeds = list(range(20))
    assert outlier_note([1.0] * 19 + [0.0], seeds, seeds, "mean return") == ""
    assert outlier_note([500.0 + i % 3 for i in range(19)] + [400.0], seeds, seeds, "mean return") == ""
    assert "(19)" in outlier_note([10.0] * 19 + [-10_300.0], seeds, seeds, "difference in return")


def test_a_skewed_sample_is_no_sample_of_outliers() -> None:
    rng = np.random.default_rng(4)
    noted = [outlier_note(rng.exponential(1.0, 20), range(20), list(range(20)), "mean") for _ in range(60)]
    assert sum(map(bool, noted)) < 9
