"""How often ratings of a tournament are right: for docs/measurements.

    python scripts/calibration/calibration_ratings.py [--samples N] [--only POOL]… [--json FILE]

Games are drawn from Davidson's model, in which the truth is known. Everybody meets everybody, on each seed
once from either seat. In some pools a seed suits some policies more than others, in all their games on it:
each game by itself follows the model, those of one seed are alike. Every number is drawn with a fixed seed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from gym_gui.analysis.compute.games import Game, Games
from gym_gui.analysis.compute.ratings import rate
from gym_gui.analysis.statistics.bradley_terry import ELO
from gym_gui.analysis.statistics.distributions import normal_quantile
from gym_gui.analysis.statistics.units import Sample
from gym_gui.core.terminal import print_rows

SAMPLES = 5_000
SIZES = (6, 10, 20, 50)


@dataclass(frozen=True)
class Pools:
    """What was said of policies that all met each other from both seats, in per cent.

    Attributes:
        what: Who meets.
        n: Seeds.
        rating: Intervals of a rating that held it, of those that were given.
        width: Their mean width, in points.
        ranks: Pools with a rank outside what was printed, an equal called better included.
        best: Pools whose best was named, and is none.
        none_given: Ratings without an interval.
        samples: Pools that were made up.
    """

    what: str
    n: int
    rating: float
    width: float
    ranks: float
    best: float
    none_given: float
    samples: int

    @property
    def error(self) -> float:
        """Twice the binomial standard error of :attr:`rating`, in per cent; a pool counts as one."""
        return 2 * math.sqrt(self.rating * (100 - self.rating) / self.samples)


@dataclass(frozen=True)
class Pool:
    """Davidson's model: strengths and what the first seat is worth, natural scale; draws among equals.

    ``luck`` is which part of the variance of a game is decided by how well its seed suits either policy.
    """

    strengths: tuple[float, ...]
    seat: float = 0.0
    draw: float = 0.3
    luck: float = 0.0


POOLS: Mapping[str, Pool] = {
    "4 policies, the first seat worth 87 points": Pool((0.9, 0.3, -0.3, -0.9), seat=0.5),
    "5 policies, few draws": Pool((1.0, 0.5, 0.0, -0.5, -1.0), draw=0.05),
    "6 equal policies": Pool((0.0,) * 6),
    "4 policies, seeds decide half": Pool((0.9, 0.3, -0.3, -0.9), luck=0.5),
    "4 policies, half of games drawn": Pool((0.9, 0.3, -0.3, -0.9), seat=0.5, draw=2.5),
    "4 policies, most games drawn": Pool((0.9, 0.3, -0.3, -0.9), seat=0.5, draw=15.0),
    "2 equal policies, most games drawn": Pool((0.0,) * 2, draw=6.0),
    "3 equal policies, 97 of 100 games drawn": Pool((0.0,) * 3, draw=78.0),
    "6 equal policies, 19 of 20 games drawn": Pool((0.0,) * 6, draw=38.0),
    "8 equal policies, 97 of 100 games drawn, seats worth 240 points": Pool((0.0,) * 8, seat=1.39, draw=80.0),
}


def _games(rng: np.random.Generator, pool: Pool, n: int) -> Games:
    names = tuple(f"p{i}" for i in range(len(pool.strengths)))
    found = Games(names, ("first", "second"))
    suits = math.sqrt(pool.luck / 2) * rng.normal(size=(len(names), n))
    for i, j in combinations(range(len(names)), 2):
        played = found.games.setdefault(f"{i} {j}", [])
        for first, second in ((i, j), (j, i)):
            half = (pool.strengths[first] - pool.strengths[second] + pool.seat) / 2
            odds = np.array([math.exp(-half), pool.draw, math.exp(half)])
            lost, level, _ = np.cumsum(odds / odds.sum())
            chance = suits[first] - suits[second] + math.sqrt(1 - pool.luck) * rng.normal(size=n)
            made = 0.5 * (chance > normal_quantile(lost)) + 0.5 * (chance > normal_quantile(level))
            for seed, points in enumerate(made.tolist()):
                met = (names[first], names[second])
                played.append(Game(met, (points, 1 - points), Sample(seed, seed)))
    return found


def pools(samples: int, names: Iterable[str] = POOLS, sizes: Sequence[int] = SIZES) -> Iterator[Pools]:
    """Intervals of ratings, and what ranks may be, of games that were drawn from the model itself."""
    for what in names:
        pool = POOLS[what]
        truth = (np.array(pool.strengths) - np.mean(pool.strengths)) * ELO
        ahead = [sum(other > mine for other in truth) for mine in truth]
        behind = [sum(other < mine for other in truth) for mine in truth]
        for n in sizes:
            rng = np.random.default_rng(zlib.crc32(repr((what, n)).encode()))
            wrong = best = 0
            given: list[tuple[float, float, float]] = []
            for _ in range(samples):
                said = rate(_games(rng, pool, n))
                for true, e in zip(truth, said.ratings.values(), strict=True):
                    if e.low is not None and e.high is not None:
                        given.append((e.low, float(true), e.high))
                wrong += any(
                    not (found.best <= 1 + over and found.worst >= len(truth) - under)
                    for found, over, under in zip(said.ranks.values(), ahead, behind, strict=True)
                )
                first = [found.best == 1 for found in said.ranks.values()]
                best += int(sum(first) == 1 and sum(over == 0 for over in ahead) > 1)
            held = sum(low <= true <= high for low, true, high in given) / max(1, len(given))
            width = sum(high - low for low, _, high in given) / max(1, len(given))
            none = 1 - len(given) / (samples * len(truth))
            named = 100 * best / samples
            yield Pools(what, n, 100 * held, width, 100 * wrong / samples, named, 100 * none, samples)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of each kind (default: %(default)s)")
    parser.add_argument("--only", action="append", help="a pool of this name; may be given again")
    parser.add_argument("--seeds", type=int, nargs="+", default=SIZES, help="on which all meet")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    found = list(pools(options.samples, options.only or list(POOLS), options.seeds))
    headings = ("pool", "seeds", "interval holds", "width", "wrong ranks", "wrong best", "no interval")
    rows: list[Sequence[str]] = []
    for p in found:
        figures = (p.width, p.ranks, p.best, p.none_given)
        held = f"{p.rating:.1f} ± {p.error:.1f}" if p.none_given < 100 else "-"
        rows.append((p.what, f"{p.n}", held, *(f"{figure:.1f}" for figure in figures)))
    print_rows(headings, rows, title="Ratings, in %")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(p) for p in found], indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
