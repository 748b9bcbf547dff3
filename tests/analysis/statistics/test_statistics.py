"""The statistics against oracles: other implementations, enumeration, and simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from gym_gui.analysis.statistics import stats

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


# ------------------------------------------------------- scores that take two values


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_mid_p_value_is_the_exact_one_without_half_of_what_was_seen(ahead: int, behind: int) -> None:
    n = ahead + behind
    seen = oracle.binom.pmf(min(ahead, behind), n, 0.5) * (1 if ahead != behind else 0)
    exact = oracle.binomtest(ahead, n).pvalue if n else 1.0
    assert stats.mcnemar_test(ahead, behind) == pytest.approx(exact - seen, abs=1e-12)


def test_scores_of_two_values_are_tested_by_mcnemar() -> None:
    """Ahead on 5 of 20 seeds and never behind: sign flips cannot decide it."""
    d = np.array([1.0] * 5 + [0.0] * 15)
    assert stats.sign_flip_test(d).p == 0.0625
    assert stats.paired_test(d) == (pytest.approx(0.03125), "McNemar mid-p")
    assert stats.paired_test(3 * d).p == stats.paired_test(-d).p == pytest.approx(0.03125)
    assert stats.paired_test(np.ones(6)) == (2 / 64, "sign-flip permutation, exact"), "no seed is level"
    assert stats.paired_test(np.array([1.0, 2.0, 0.0] * 4)).method == "sign-flip permutation, exact"


@pytest.mark.parametrize("n", [6, 8, 12, 20])
@pytest.mark.parametrize("differing", [0.2, 0.5, 0.8, 0.95, 1.0])
def test_equal_policies_are_seldom_told_apart_by_scores_of_two_values(n: int, differing: float) -> None:
    """The error of the first kind, summed over every sample: no simulation."""
    wrong = 0.0
    for ahead, behind in itertools.product(range(n + 1), repeat=2):
        if ahead + behind <= n:
            d = np.array([1.0] * ahead + [-1.0] * behind + [0.0] * (n - ahead - behind))
            mid = ahead + behind < n
            p = stats.paired_test(d).p if mid else oracle.binomtest(ahead, n).pvalue
            chances = [differing / 2, differing / 2, 1 - differing]
            if p < 0.05:
                wrong += oracle.multinomial.pmf([ahead, behind, n - ahead - behind], n, chances)
    assert wrong < 0.055


# ------------------------------------------------------------- Holm, seeds that are needed


def test_holm_is_that_of_statsmodels() -> None:
    # statsmodels 0.15.0, multipletests([...], method="holm")
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert stats.holm([0.9, 0.8]) == [1.0, 1.0]
    assert stats.holm([]) == []


# ------------------------------------------------------------ few seeds, many comparisons


@given(st.lists(st.floats(0.1, 2.0), min_size=6, max_size=9))
def test_where_signs_cannot_decide_the_t_test_goes_on(above: list[float]) -> None:
    d = 10.0 + np.array(above)
    alone, of_ten = stats.paired_test(d), stats.paired_test(d, 0.0005)
    assert alone == (stats.least_p(len(d)), "sign-flip permutation, exact"), (
        "signs suffice for one comparison"
    )
    if of_ten.method == "Student's t, paired":
        assert of_ten.p == pytest.approx(oracle.ttest_1samp(d, 0.0).pvalue, rel=1e-6)
        assert of_ten.p < alone.p
    else:
        assert of_ten == alone


def test_a_far_difference_is_found_on_few_seeds_and_two_modes_are_not() -> None:
    rng = np.random.default_rng(2)
    found = [
        stats.paired_test(100 + rng.normal(0, 1, n), 0.005).p < 0.005 for n in (6, 7, 8) for _ in range(50)
    ]
    assert np.mean(found) > 0.95
    for d in (np.ones(8), np.array([1.0] * 6 + [40.0] * 2), 100 - rng.normal(size=8) * np.arange(8) ** 9):
        assert stats.paired_test(d, 0.005).method == "sign-flip permutation, exact"


@pytest.mark.parametrize("units", [6, 8])
def test_ten_equal_comparisons_of_few_seeds_are_seldom_decided(units: int) -> None:
    rng = np.random.default_rng(3)
    families = rng.standard_t(4, (1_500, 10, units))
    wrong = np.mean([min(stats.paired_test(d, 0.005).p for d in family) < 0.005 for family in families])
    assert wrong < 0.06
