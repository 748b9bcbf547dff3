"""How often intervals hold the truth: the simulation behind docs/measurements/calibration.md.

    python scripts/calibration/calibration.py [--studies N] [--only NAME…] [--seeds N…] [--json FILE]

Returns are drawn from distributions whose mean is known, and given to the functions that reports are made
with. Beside it ``calibration_verdicts.py`` says what reports of made-up runs say, ``calibration_pairs.py``
how often equal operators are told apart, ``calibration_looks.py`` the same where they play until it is
decided, ``calibration_power.py`` whether a plan keeps its promise, ``calibration_trainings.py``,
``calibration_ratings.py`` and ``calibration_cross_play.py`` how algorithms, ratings and teams do;
``calibration_tables.py`` puts figures into the docs. Every number is drawn with a fixed seed: the same table,
whenever it is made.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.statistics import intervals, stats
from gym_gui.analysis.statistics.distributions import student_quantile
from gym_gui.core.terminal import print_rows

Rng = np.random.Generator
Floats = NDArray[np.float64]

STUDIES = 5_000
RESAMPLES = 999
SIZES = (5, 10, 20, 50)


@dataclass(frozen=True)
class Held:
    """What intervals of something were like.

    Attributes:
        share: Per cent that held the truth, of those that there were.
        width: Their mean width.
        number: How many there were.
        known: Per cent that the best known method's held where returns are normal: Student's t of a mean or
            of a difference, Tukey and McLaughlin's of an IQM.
        ratio: The width as a multiple of theirs.
        none: Per cent of samples that have no interval.
    """

    share: float
    width: float
    number: int
    known: float
    ratio: float
    none: float = 0.0

    @property
    def error(self) -> float:
        """Twice the binomial standard error, in per cent."""
        return 2 * math.sqrt(self.share * (100 - self.share) / self.number) if self.number else math.nan


@dataclass(frozen=True)
class Coverage:
    """Intervals of returns of one kind, by what they are of; below ten values none of them is ever shown."""

    what: str
    n: int
    mean: Held
    iqm: Held
    difference: Held


def normal(rng: Rng, n: int) -> Floats:
    """Mean 10, standard deviation 3."""
    return rng.normal(10, 3, n)


def exponential(rng: Rng, n: int) -> Floats:
    """Mean 1."""
    return rng.exponential(1, n)


def lognormal(rng: Rng, n: int) -> Floats:
    """Sigma 1, median 1."""
    return rng.lognormal(0, 1, n)


def _two_modes(rng: Rng, n: int) -> Floats:
    return np.where(rng.random(n) < 0.3, 500.0, 100.0) + rng.normal(0, 10, n)


def _capped(rng: Rng, n: int) -> Floats:
    return np.where(rng.random(n) < 0.9, 500.0, rng.uniform(100, 500, n))


def _heavy(rng: Rng, n: int) -> Floats:
    return rng.standard_t(3, n)


def _whole(rng: Rng, n: int) -> Floats:
    return np.rint(rng.normal(0, 1, n))


def disaster(rng: Rng, n: int) -> Floats:
    """About 100, but -1000 on 3 %; mean 67."""
    return np.where(rng.random(n) < 0.03, -1000.0, 100.0) + rng.normal(0, 10, n)


def _two_modes_of_few(rng: Rng, n: int) -> Floats:
    return np.where(rng.random(n) < 0.2, 500.0, 100.0) + rng.normal(0, 10, n)


def _outliers(rng: Rng, n: int) -> Floats:
    return rng.normal(0, 1, n) * np.where(rng.random(n) < 0.05, 30.0, 1.0)


def _rare_step(rng: Rng, n: int) -> Floats:
    return rng.choice([0.0, 0.5, 1.0], n, p=[0.5, 0.4, 0.1])


def signed(q: float) -> Callable[[Rng, int], Floats]:
    """1 and -1, each with probability ``q``, else 0."""

    def draw(rng: Rng, n: int) -> Floats:
        u = rng.random(n)
        return (u < q).astype(np.float64) - (u > 1 - q)

    return draw


def seldom(p: float, drawn: Callable[[Rng, int], Floats]) -> Callable[[Rng, int], Floats]:
    """0, but with probability ``p`` something else."""
    return lambda rng, n: np.where(rng.random(n) < p, drawn(rng, n), 0.0)


def scores(p: float) -> Callable[[Rng, int], Floats]:
    """1 with probability ``p``, else 0."""

    def draw(rng: Rng, n: int) -> Floats:
        return (rng.random(n) < p).astype(np.float64)

    return draw


RETURNS: Mapping[str, tuple[Callable[[Rng, int], Floats], float]] = {
    "normal": (normal, 10.0),
    "Student's t, 3 degrees": (_heavy, 0.0),
    "exponential": (exponential, 1.0),
    "lognormal": (lognormal, math.exp(0.5)),
    "two modes": (_two_modes, 220.0),
    "500, but less on 10 %": (_capped, 480.0),
    "ties: whole numbers about 0": (_whole, 0.0),
    "0 or 1, half ones": (scores(0.5), 0.5),
    "0 or 1, 80 % ones": (scores(0.8), 0.8),
    "0 or 1, 95 % ones": (scores(0.95), 0.95),
    "disaster on 3 %": (disaster, 67.0),
    "two modes, one on 20 %": (_two_modes_of_few, 180.0),
    "5 % outliers, 30 times as far": (_outliers, 0.0),
    "0, 0.5 or, on 10 %, 1": (_rare_step, 0.3),
    "-1, 0 or 1, each sign on 2.5 %": (signed(0.025), 0.0),
    "-1, 0 or 1, each sign on 10 %": (signed(0.1), 0.0),
    "1 or -1, 80 % ones": (lambda rng, n: np.where(rng.random(n) < 0.8, 1.0, -1.0), 0.6),
    "0, but normal on 10 %": (seldom(0.1, lambda rng, n: rng.normal(0, 1, n)), 0.0),
    "0, but exponential on 10 %": (seldom(0.1, exponential), 0.1),
    "0, but exponential on 30 %": (seldom(0.3, exponential), 0.3),
}


def seeded(*words: object) -> Rng:
    """A generator for each figure of a table."""
    return np.random.default_rng(zlib.crc32(repr(words).encode()))


def coverage(
    studies: int, names: Iterable[str] = RETURNS, sizes: Sequence[int] = SIZES
) -> Iterator[Coverage]:
    """Intervals of means, IQMs and paired differences of single episodes."""
    for what in names:
        draw, mean = RETURNS[what]
        iqm = stats.iqm(draw(seeded(what), 1_000_000))
        for n in sizes:
            rng = seeded(what, n)
            x, other = (np.stack([draw(rng, n) for _ in range(studies)]) for _ in "ab")
            d = x - other
            yield Coverage(
                what,
                n,
                _held(
                    [intervals.mean_interval(each, resamples=RESAMPLES, least=n) for each in x],
                    _student(x),
                    mean,
                ),
                _held(
                    [intervals.iqm_interval(each, resamples=RESAMPLES, least=n) for each in x],
                    _trimmed(x),
                    iqm,
                ),
                _held(
                    [intervals.paired_interval(each, resamples=RESAMPLES, least=n) for each in d],
                    _student(d),
                    0.0,
                ),
            )


def _student(x: Floats) -> Floats:
    """Student's interval of the mean of each row: (rows, 2)."""
    n = x.shape[1]
    half = student_quantile(n - 1, 0.975) * x.std(axis=1, ddof=1) / math.sqrt(n)
    return np.stack([x.mean(axis=1) - half, x.mean(axis=1) + half], axis=1)


def _trimmed(x: Floats) -> Floats:
    """Tukey and McLaughlin's interval of the IQM of each row, from the winsorised spread: (rows, 2).

    Source:
        Tukey & McLaughlin, "Less Vulnerable Confidence and Significance Procedures for Location Based on a
        Single Sample", Sankhya A 25 (1963).
    """
    n = x.shape[1]
    cut = n // 4
    ordered = np.sort(x, axis=1)
    kept = ordered[:, cut : n - cut]
    spread = np.clip(ordered, kept[:, :1], kept[:, -1:]).std(axis=1, ddof=1)
    half = student_quantile(n - 2 * cut - 1, 0.975) * spread * math.sqrt(n) / (n - 2 * cut)
    return np.stack([kept.mean(axis=1) - half, kept.mean(axis=1) + half], axis=1)


def shares(samples: int) -> Iterator[tuple[str, int, float]]:
    """Intervals of the share of games won, two on each seed: how many in a hundred hold it."""
    for what, alike in (("the seed decides", 0.95), ("chance decides", 0.0), ("the seat decides", -1.0)):
        for n in SIZES:
            rng = seeded(what, n)
            found = [_share_of_wins(rng, n, alike) for _ in range(samples)]
            held = sum(each is not None and each.low <= 0.5 <= each.high for each in found)
            yield f"share won, seats swapped: {what}", n, 100 * held / samples


def _held(found: Sequence[intervals.Interval | None], known: Floats, truth: float) -> Held:
    """Both methods on the samples of which ours gives an interval."""
    given = np.array([i is not None for i in found])
    if not given.any():
        return Held(math.nan, math.nan, 0, math.nan, math.nan, 100.0)
    ours = np.array([i[:2] for i in found if i is not None])
    margin = 1e-9 * max(1.0, abs(truth))

    def share(ends: Floats) -> float:
        return 100 * float(np.mean((ends[:, 0] - margin <= truth) & (truth <= ends[:, 1] + margin)))

    def width(ends: Floats) -> float:
        return float(np.mean(ends[:, 1] - ends[:, 0]))

    theirs = known[given]
    ratio, none = width(ours) / (width(theirs) or math.nan), 100 * float(np.mean(~given))
    return Held(share(ours), width(ours), len(ours), share(theirs), ratio, none)


def _share_of_wins(rng: Rng, n: int, alike: float) -> intervals.Interval | None:
    """Two games on each of ``n`` seeds; their results are the same, the reverse, or independent."""
    first = rng.random(n) < 0.5
    bound = rng.random(n) < abs(alike)
    second = np.where(bound, first if alike > 0 else ~first, rng.random(n) < 0.5)
    return intervals.share_interval(float(first.sum() + second.sum()) / 2, n)


def show(
    held: Sequence[Coverage],
    won: Sequence[tuple[str, int, float]],
) -> None:
    """Print the tables."""
    headings = ("returns", "n", "mean", "IQM", "difference")
    title = "95 % intervals that hold the truth, in % (width to the best known method's, which holds; none)"
    rows = [(c.what, f"{c.n}", *map(_cell, (c.mean, c.iqm, c.difference))) for c in held]
    print_rows(headings, rows, title=title)
    for what, n, share in won:
        print(f"{what}, {n} seeds: {share:.1f}")


def _cell(held: Held) -> str:
    told = f"{held.share:.1f} ± {held.error:.1f} ({held.ratio:.2f}, {held.known:.0f}; {held.none:.0f})"
    return told if held.number else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--studies",
        type=int,
        default=STUDIES,
        help="samples for intervals, of each kind (default: %(default)s)",
    )
    parser.add_argument("--only", action="append", help="returns of this name; may be given again")
    parser.add_argument("--seeds", type=int, nargs="+", default=SIZES, help="sizes of samples")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    held = list(coverage(options.studies, options.only or list(RETURNS), options.seeds))
    won = list(shares(options.studies))
    show(held, won)
    if options.json is not None:
        figures = {"coverage": [asdict(c) for c in held], "won": won}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
