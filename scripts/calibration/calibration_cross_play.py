"""How often intervals of cross-play hold the truth and its verdicts are wrong: for docs/cross_play.md.

    python scripts/calibration/calibration_cross_play.py [--studies N] [--only VALUES]… [--json FILE]

Studies are made up whole: three policies, every two of them and each with itself twice on each seed. A seed
is easier or harder for all teams, suits some policies more than others, and the rest of a game is chance.
What teams made is given to the functions that reports are made with, with fewer resamples.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from calibration_pairs import PATTERNS, RESAMPLES, is_wrong  # beside this file
from numpy.typing import NDArray

from gym_gui.analysis.compute.games import Games
from gym_gui.analysis.compute.team_values import TeamValue, TeamValues
from gym_gui.analysis.statistics import intervals
from gym_gui.analysis.statistics.distributions import normal_quantile, student_quantile
from gym_gui.core.terminal import print_rows

Floats = NDArray[np.float64]

STUDIES = 5_000
SIZES = (10, 20, 50)
POLICIES = ("a", "b", "c")
_HARD, _SUITS = 0.3, 0.3
"""Parts of the variance of a game that its seed decides: for all teams, and for teams of some policies."""


@dataclass(frozen=True)
class Values:
    """What a game gives, from a standard normal variable, with itself and with others; and its means."""

    own: Callable[[Floats], Floats]
    cross: Callable[[Floats], Floats]
    means: tuple[float, float]


def _scores(own: float, cross: float) -> Values:
    def of(p: float) -> Callable[[Floats], Floats]:
        limit = normal_quantile(p) if p < 1 else math.inf
        return lambda z: (z < limit).astype(np.float64)

    return Values(of(own), of(cross), (own, cross))


def _two_modes(z: Floats) -> Floats:
    return np.where(z < normal_quantile(0.3), 0.0, 100.0) + z


VALUES: Mapping[str, Values] = {
    "normal, better by one with itself": Values(lambda z: z + 1, lambda z: z, (1.0, 0.0)),
    "lognormal (sigma 1), half more with itself": Values(
        lambda z: 1.5 * np.exp(z), np.exp, (1.5 * math.exp(0.5), math.exp(0.5))
    ),
    "0 or 1, 90 % ones with itself, 60 % with others": _scores(0.9, 0.6),
    "0 or 1, all ones with itself, 90 % with others": _scores(1.0, 0.9),
    "nobody better: normal": Values(lambda z: z, lambda z: z, (0.0, 0.0)),
    "nobody better: lognormal (sigma 1)": Values(np.exp, np.exp, (math.exp(0.5), math.exp(0.5))),
    "nobody better: two modes (70 % about 100, 30 % about 0)": Values(_two_modes, _two_modes, (70.0, 70.0)),
    "nobody better: 0 or 1, half ones": _scores(0.5, 0.5),
    "nobody better: 0 or 1, 95 % ones": _scores(0.95, 0.95),
}
"""What games give."""


@dataclass(frozen=True)
class Crossed:
    """Results of simulated studies of one kind, in per cent.

    Attributes:
        what: Kind of the games' results.
        n: Seeds.
        studies: How many studies were simulated.
        gap: Intervals of self-play minus cross-play that hold the true difference, of all intervals given.
        ratio: Their width as a multiple of the width of Student's t intervals.
        student: How many of Student's t intervals hold the true difference.
        lift: Intervals of what one policy adds to another's team that hold the true value.
        wrong_gap: Self-play or cross-play was called better, and neither is; ``None`` where one is.
        wrong_lift: A policy was said to lift or cost some team, and none does; ``None`` likewise.
    """

    what: str
    n: int
    studies: int
    gap: float
    ratio: float
    student: float
    lift: float
    wrong_gap: float | None
    wrong_lift: float | None

    @property
    def error(self) -> float:
        """Twice the binomial standard error at 95 %, in per cent; a study counts as one."""
        return 200 * math.sqrt(0.95 * 0.05 / self.studies)


def crossed(
    studies: int, names: Sequence[str] = tuple(VALUES), sizes: Sequence[int] = SIZES
) -> Iterator[Crossed]:
    """Make up studies of each kind and size."""
    for what in names:
        values = VALUES[what]
        truth = values.means[0] - values.means[1]
        for n in sizes:
            rng = np.random.default_rng(zlib.crc32(repr((what, n, "crossed")).encode()))
            signs = rng.choice([-1.0, 1.0], (PATTERNS, n))
            gaps, lifts, widths = list[bool](), list[bool](), list[tuple[float, float]]()
            student = wrong_gap = wrong_lift = 0
            for _ in range(studies):
                played = _played(rng, values, n)
                gap = _differences(played.pairs(played.own(), played.cross()).differences)
                lifted = [_differences(pairs.differences) for pairs in played.lifts().values()]
                half = student_quantile(n - 1, 0.975) * float(gap.std(ddof=1)) / math.sqrt(n)
                if (found := intervals.paired_interval(gap, resamples=RESAMPLES)) is not None:
                    gaps.append(_holds(found, truth))
                    student += abs(float(gap.mean()) - truth) <= half
                    widths.append((found.high - found.low, 2 * half))
                for each in lifted:
                    if (found := intervals.paired_interval(each, resamples=RESAMPLES)) is not None:
                        lifts.append(_holds(found, -truth))
                if not truth:
                    wrong_gap += is_wrong([gap], signs)
                    wrong_lift += is_wrong(lifted, signs)
            ours, theirs = np.array(widths).sum(axis=0)
            yield Crossed(
                what,
                n,
                studies,
                100 * float(np.mean(gaps)),
                float(ours / theirs),
                100 * student / len(gaps),
                100 * float(np.mean(lifts)),
                None if truth else 100 * wrong_gap / studies,
                None if truth else 100 * wrong_lift / studies,
            )


def _differences(found: Sequence[float]) -> Floats:
    return np.array(found, dtype=np.float64)


def _holds(found: intervals.Interval, truth: float) -> bool:
    return found.low - 1e-9 <= truth <= found.high + 1e-9


def _played(rng: np.random.Generator, values: Values, n: int) -> TeamValues:
    """Each two of the pool, and each with itself, twice on each seed."""
    played = TeamValues(Games(POLICIES, ("first", "second")), list(POLICIES), [])
    played.seeds = {seed: seed for seed in range(n)}
    hard = math.sqrt(_HARD) * rng.normal(size=n)
    suits = math.sqrt(_SUITS) * rng.normal(size=(len(POLICIES), n))
    for i, policy in enumerate(POLICIES):
        for j, partner in enumerate(POLICIES[i:], i):
            # With itself it suits twice, with another one the half of either: as much in all.
            together = suits[i] if i == j else (suits[i] + suits[j]) / math.sqrt(2)
            chance = math.sqrt(1 - _HARD - _SUITS) * rng.normal(size=(2, n))
            made = (values.own if i == j else values.cross)(hard + together + chance).mean(axis=0)
            team = {seed: TeamValue(value, (None, None)) for seed, value in enumerate(made.tolist())}
            played.teams[policy, partner] = played.teams[partner, policy] = team
    return played


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=STUDIES, help="of each kind (default: %(default)s)")
    parser.add_argument("--only", action="append", help="values of this name; may be given again")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    headings = ("values", "seeds", "gap holds", "width", "Student's", "lift holds", "wrong gap", "wrong lift")
    rows: list[Sequence[str]] = []
    found: list[Crossed] = []
    for c in crossed(options.studies, options.only or tuple(VALUES)):
        found.append(c)
        wrong = ("-" if each is None else f"{each:.1f}" for each in (c.wrong_gap, c.wrong_lift))
        held = (f"{c.gap:.1f} ± {c.error:.1f}", f"{c.ratio:.2f}", f"{c.student:.1f}", f"{c.lift:.1f}")
        rows.append((c.what, f"{c.n}", *held, *wrong))
    print_rows(headings, rows, title="Cross-play, in %")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(c) for c in found], indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
