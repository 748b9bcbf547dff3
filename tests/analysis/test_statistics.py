"""The statistics against oracles: other implementations, enumeration, and simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from gym_gui.analysis import stats

returns = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


# ------------------------------------------------------------------------------ IQM


@given(returns)
def test_iqm_is_scipys_trimmed_mean(values: list[float]) -> None:
    assert stats.iqm(values) == pytest.approx(oracle.trim_mean(values, 0.25), abs=1e-6)


@given(returns, st.randoms())
def test_iqm_needs_no_rule_for_ties_or_order(values: list[float], random: object) -> None:
    values = values + values[:3]
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert stats.iqm(values) == stats.iqm(shuffled)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([7.0], 7.0), ([1.0, 2.0], 1.5), ([1.0, 2.0, 30.0], 11.0), ([-99.0, 1.0, 3.0, 99.0], 2.0)],
)
def test_iqm_of_few(values: list[float], expected: float) -> None:
    assert stats.iqm(values) == expected


@given(st.floats(-1e6, 1e6), st.integers(1, 30))
def test_a_mean_of_equal_values_is_that_value(value: float, n: int) -> None:
    assert stats.mean([value] * n) == value == stats.iqm([value] * n)


# ------------------------------------------------------------------------ bootstrap


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_too_few_episodes_give_no_interval(n: int) -> None:
    assert stats.bootstrap_interval([float(i) for i in range(n)]) is None


def test_constant_data_give_their_value() -> None:
    assert stats.bootstrap_interval([0.1] * 20) == (0.1, 0.1)
    assert stats.bootstrap_interval([0.1] * 20, statistic="iqm") == (0.1, 0.1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=20), st.sampled_from(["mean", "iqm"]))
def test_an_interval_is_finite_and_inside_the_data(values: list[float], statistic: str) -> None:
    found = stats.bootstrap_interval(values, statistic=statistic, resamples=199)  # type: ignore[arg-type]
    assert found is not None
    margin = 1e-9 * max(1.0, *map(abs, values))
    assert min(values) - margin <= found.low <= found.high <= max(values) + margin


@pytest.mark.parametrize("statistic", ["mean", "iqm"])
def test_the_interval_is_scipys_percentile_bootstrap_at_the_expanded_level(statistic: str) -> None:
    x = np.random.default_rng(5).gamma(2.0, 10.0, size=25)
    tail = oracle.norm.cdf(-math.sqrt(25 / 24) * oracle.t.ppf(0.975, 24))
    function = np.mean if statistic == "mean" else lambda x, axis: oracle.trim_mean(x, 0.25, axis=axis)
    other = oracle.bootstrap(
        (x,), function, n_resamples=40_000, confidence_level=1 - 2 * tail, method="percentile", rng=1
    ).confidence_interval
    found = stats.bootstrap_interval(x, statistic=statistic, resamples=40_000)  # type: ignore[arg-type]
    assert found == pytest.approx((other.low, other.high), abs=0.15)


def test_a_report_made_twice_is_equal() -> None:
    x = np.random.default_rng(1).normal(size=50)
    assert stats.bootstrap_interval(x) == stats.bootstrap_interval(x.copy())


@pytest.mark.parametrize("statistic", ["mean", "iqm"])
def test_whole_seeds_are_drawn(statistic: str) -> None:
    """Each seed's value there twice: the same interval as once; as 60 episodes, a narrower one."""
    x = np.random.default_rng(2).normal(size=30)
    twice, units = np.repeat(x, 2), np.repeat(np.arange(30), 2)
    once = stats.bootstrap_interval(x)
    clustered = stats.bootstrap_interval(twice, units)
    naive = stats.bootstrap_interval(twice)
    assert once is not None and clustered is not None and naive is not None
    assert clustered == pytest.approx(once)
    assert naive.high - naive.low < 0.8 * (clustered.high - clustered.low)


def _normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(10.0, 3.0, n)


def _skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.exponential(1.0, n)


def _sparse(rng: np.random.Generator, n: int) -> np.ndarray:
    return (rng.random(n) < 0.3).astype(float)


@pytest.mark.parametrize(
    ("draw", "n", "statistic", "truth", "least"),
    [
        (_normal, 6, "mean", 10.0, 0.88),
        (_normal, 20, "mean", 10.0, 0.92),
        (_normal, 20, "iqm", 10.0, 0.92),
        (_skewed, 20, "mean", 1.0, 0.89),
        # The mean of the middle half of Exp(1): 2 times the integral of -log(1 - u) from 1/4 to 3/4.
        (_skewed, 20, "iqm", 2 * (0.75 - 0.75 * math.log(0.75) - 0.25 + 0.25 * math.log(0.25)), 0.92),
        (_sparse, 20, "mean", 0.3, 0.91),
    ],
)
def test_the_interval_covers_the_truth_about_as_often_as_it_says(
    draw: Callable[[np.random.Generator, int], np.ndarray], n: int, statistic: str, truth: float, least: float
) -> None:
    rng = np.random.default_rng(20)
    hits = 0
    for _ in range(500):
        found = stats.bootstrap_interval(draw(rng, n), statistic=statistic, resamples=999)  # type: ignore[arg-type]
        assert found is not None
        hits += found.low <= truth <= found.high
    assert least <= hits / 500 <= 0.99


# --------------------------------------------------------------------------- Wilson


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # statsmodels 0.15.0, proportion_confint(hits, n, method="wilson")
        (0, 10, 0.0, 0.27753279986288926),
        (1, 10, 0.017876213095072924, 0.40415002679523854),
        (5, 10, 0.23659309051256394, 0.7634069094874361),
        (10, 10, 0.7224672001371106, 1.0),
        (34, 40, 0.7092767563351029, 0.9293881228267965),
        (1, 1, 0.2065493143772374, 1.0),
        (0, 1, 0.0, 0.7934506856227627),
        (997, 1000, 0.9912169859464969, 0.9989792161188614),
    ],
)
def test_wilson_is_that_of_statsmodels(hits: int, n: int, low: float, high: float) -> None:
    assert stats.wilson_interval(hits, n) == pytest.approx((low, high), abs=1e-12)


def test_wilson_of_nothing_is_nothing() -> None:
    assert stats.wilson_interval(0, 0) is None


# ------------------------------------------------------------------------ sign flips


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_the_exact_p_value_is_that_of_plain_enumeration(d: list[int]) -> None:
    seen = abs(sum(d))
    patterns = list(itertools.product((-1, 1), repeat=len(d)))
    hits = sum(abs(sum(s * x for s, x in zip(signs, d, strict=True))) >= seen for signs in patterns)
    found = stats.sign_flip_test([float(x) for x in d])
    assert found.exact
    assert found.p == pytest.approx(hits / len(patterns))


def test_the_exact_p_value_is_scipys() -> None:
    d = np.random.default_rng(3).normal(0.4, 1.0, size=11)
    other = oracle.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert stats.sign_flip_test(d).p == pytest.approx(other.pvalue)


def test_the_sampled_p_value_is_near_the_exact_one() -> None:
    d = np.random.default_rng(4).normal(0.55, 1.0, size=17)
    sampled = stats.sign_flip_test(d)
    bits = (np.arange(1 << 17)[:, None] >> np.arange(17)) & 1
    exact = np.mean(np.abs((2 * bits - 1) @ d) >= abs(d.sum()) - 1e-12)
    assert not sampled.exact and sampled.patterns == stats.FLIPS
    assert sampled.p == pytest.approx(exact, abs=5 * math.sqrt(exact / stats.FLIPS))


def test_rounding_does_not_tell_equal_patterns_apart() -> None:
    assert stats.sign_flip_test([0.1] * 6).p == 2 / 64
    assert stats.sign_flip_test([0.1, 0.2, -0.3]).p == 1.0


def test_a_p_value_is_never_zero() -> None:
    assert stats.sign_flip_test([1.0] * 400).p == 1 / (1 + stats.FLIPS)
    assert stats.sign_flip_test([]).p == stats.sign_flip_test([0.0, 0.0]).p == 1.0


@pytest.mark.parametrize("n", [12, 30])
def test_under_the_null_p_values_are_uniform(n: int) -> None:
    rng = np.random.default_rng(8)
    p = [stats.sign_flip_test(rng.laplace(size=n), flips=999).p for _ in range(400)]
    assert oracle.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.asarray(p) < 0.05) == pytest.approx(0.05, abs=0.03)


def test_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(9)
    assert (
        np.mean([stats.sign_flip_test(rng.normal(1, 1, 20), flips=999).p < 0.05 for _ in range(100)]) > 0.95
    )


# ------------------------------------------------------------- Holm, seeds that are needed


def test_holm_is_that_of_statsmodels() -> None:
    # statsmodels 0.15.0, multipletests([...], method="holm")
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert stats.holm([0.9, 0.8]) == [1.0, 1.0]
    assert stats.holm([]) == []


def test_the_number_of_seeds_asked_for_gives_the_power_it_says() -> None:
    rng = np.random.default_rng(10)
    needed = stats.units_to_decide(rng.normal(0.5, 1.0, 20_000))
    assert needed is not None
    found = [stats.sign_flip_test(rng.normal(0.5, 1.0, needed), flips=499).p < 0.05 for _ in range(400)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.07)


@pytest.mark.parametrize("d", [[], [1.0], [0.0, 0.0], [1.0, -1.0], [2.0, 2.0]])
def test_where_nothing_can_be_said_no_number_is(d: list[float]) -> None:
    assert stats.units_to_decide(d) is None
