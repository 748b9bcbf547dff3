"""Numbers of a summary, each with its n and how it was made: estimates, shares, what a mean could be."""

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
        "error (Efron & Tibshirani 1993), at a nominal 97 %, which is what holds 95 % of skewed returns "
        "or nearly so (of differences that look normal at 95 %), joined with the means of random subsets of "
        "seeds (Hartigan 1969), which hold what is sparse; fixed random seed"
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
        "two-sided paired test that takes differences for normal, where all have one sign and look normal, "
        "and signs of so few seeds cannot decide so many comparisons"
    ),
    SEQUENTIAL: (
        "two-sided paired test that is looked at while seeds are added (after AdaStop, Mathieu et al. 2023): "
        "9,999 random patterns of signs, fixed random seed; its 95 % intervals hold at all looks together"
    ),
    "Holm": "p-values of one family of comparisons are corrected by Holm's step-down procedure (1979)",
}


@dataclass(frozen=True)
class Estimate:
    """A number from a sample.

    Attributes:
        value: The estimate, ``None`` with nothing to estimate from.
        low: Lower end of the 95 % interval, ``None`` where none can be given.
        high: Upper end.
        n: Episodes it rests on.
        units: Independent units among them (seeds; episodes where one seed is repeated; one, where all
            episodes are identical).
        statistic: ``mean`` or ``iqm``.
        method: How the interval was made; empty where there is none.
        note: Why there is no interval.
        unseen: Largest share of units, at 95 %, that may hold what no unit here showed.
        values: Of a mean, that of each unit, where they are too few for an interval; else empty.
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
        """The estimate of a difference the other way round."""

        def minus(x: float | None) -> float | None:
            return None if x is None else -x

        return replace(self, value=minus(self.value), low=minus(self.high), high=minus(self.low))


@dataclass(frozen=True)
class Bounds:
    """What a mean could be, whatever the episodes without a result had given.

    Attributes:
        low: With the worst value that was seen in place of each of them.
        high: With the best.
        worst: That value.
        best: That value.
    """

    low: float
    high: float
    worst: float
    best: float


@dataclass(frozen=True)
class Share:
    """How many of n episodes, with the exact 95 % interval of their share.

    Attributes:
        hits: How many.
        n: Of how many.
        value: The share; it and its ends are ``None`` when n is 0.
        low: Lower end.
        high: Upper end.
        method: How the interval was made.
        units: Seeds they were played on: what the interval counts.
    """

    hits: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    method: str = EXACT_SHARE
    units: int = 0
