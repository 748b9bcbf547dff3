"""Data classes for estimates, shares and bounds, and descriptions of statistical methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

BOOTSTRAP = "bootstrap-t over seeds"
PERCENTILE = "expanded percentile bootstrap over seeds"
EXACT_SHARE = "Clopper-Pearson"
PAIRED_SHARES = "Bonett-Price"
MCNEMAR = "McNemar mid-p"
FLIP_EXACT = "sign-flip permutation, exact"
FLIP_SAMPLED = "sign-flip permutation, random patterns"
STUDENT = "Student's t, paired"
SEQUENTIAL = "group-sequential sign-flip permutation"

METHODS: Mapping[str, str] = {
    "mean": "arithmetic mean over completed episodes",
    "iqm": "interquartile mean over completed episodes: a quarter cut off at each end (Agarwal et al. 2021)",
    BOOTSTRAP: (
        "95 % interval of a mean from 9,999 resamples of whole seeds, each measured in its own standard "
        "error (Efron & Tibshirani 1993), at a nominal 97 % to cover skewed returns (for differences that "
        "look normal at 95 %), joined with the means of random subsets of seeds (Hartigan 1969) to cover "
        "sparse values; fixed random seed"
    ),
    PERCENTILE: (
        "95 % interval of an IQM from 9,999 resamples of whole seeds, percentiles widened for few seeds "
        "(Hesterberg 2015), fixed random seed"
    ),
    EXACT_SHARE: "exact 95 % interval of a share (1934); seeds count, not games",
    PAIRED_SHARES: "95 % interval of a mean of differences of one size, some of them 0 (2012)",
    MCNEMAR: "two-sided test of differences of one size, some of them 0, mid-p (Fagerland et al. 2013)",
    FLIP_EXACT: "two-sided paired test, every pattern of signs over seeds",
    FLIP_SAMPLED: "two-sided paired test, 19,999 random patterns of signs over seeds, fixed random seed",
    STUDENT: (
        "two-sided paired test that assumes normal differences; used if all have one sign and look normal, "
        "and sign flips on so few seeds cannot decide so many comparisons"
    ),
    SEQUENTIAL: (
        "two-sided paired test with interim looks while seeds are added (after AdaStop, Mathieu et al. "
        "2023): 9,999 random patterns of signs, fixed random seed; its 95 % intervals hold at all looks "
        "together"
    ),
    "Holm": "p-values of one family of comparisons are corrected by Holm's step-down procedure (1979)",
}


@dataclass(frozen=True)
class Estimate:
    """Estimate from a sample, with its interval.

    Attributes:
        value: The estimate, ``None`` without data.
        low: Lower end of the 95 % interval, ``None`` if there is none.
        high: Upper end of the 95 % interval, ``None`` if there is none.
        n: Number of episodes.
        units: Number of independent units (seeds; episodes if one seed is repeated; one if all episodes are
            identical).
        statistic: ``mean`` or ``iqm``.
        method: Name of the interval's method; empty without an interval.
        note: Reason why there is no interval, or a remark on it.
        unseen: 95 % upper bound of the share of an outcome that no unit showed (the "rule of three").
        values: Mean of each unit, if there are too few units for an interval; else empty.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    units: int
    statistic: str
    method: str = ""
    note: str = ""
    unseen: float | None = None
    values: tuple[float, ...] = ()

    def negated(self) -> Estimate:
        """Return the estimate with the opposite sign, for the reverse difference."""

        def minus(x: float | None) -> float | None:
            return None if x is None else -x

        return replace(self, value=minus(self.value), low=minus(self.high), high=minus(self.low))


@dataclass(frozen=True)
class Bounds:
    """Bounds of a mean for any results of missing episodes within the observed range.

    Attributes:
        low: Mean with the worst observed value in place of each missing one.
        high: Mean with the best observed value in place of each missing one.
        worst: Worst observed value.
        best: Best observed value.
    """

    low: float
    high: float
    worst: float
    best: float


@dataclass(frozen=True)
class Share:
    """Number of hits among n episodes, with the exact 95 % interval of their share.

    Attributes:
        hits: Number of hits.
        n: Number of episodes.
        value: The share; ``None`` if ``n`` is 0, like ``low`` and ``high``.
        low: Lower end of the interval.
        high: Upper end of the interval.
        method: Name of the interval's method.
        units: Number of independent seeds, on which the interval is based.
    """

    hits: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    method: str = EXACT_SHARE
    units: int = 0
