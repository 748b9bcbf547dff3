"""How often equal operators are told apart on a fixed number of seeds: for docs/measurements.

    python scripts/calibration/calibration_pairs.py [--studies N] [--tasks N] [--json FILE]

Studies are made up whole, all operators on the same seeds; every two are tested, the family is corrected by
Holm's procedure, and the interval has to exclude 0, as in a report. Sign flips take long: most pairs are
passed by after 199 patterns, which leave them far above any level that Holm's procedure asks for.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from calibration_looks import STUDIED, Study  # beside this file
from numpy.typing import NDArray

from gym_gui.analysis.statistics import intervals, stats
from gym_gui.analysis.statistics.seeds_needed import ALPHA
from gym_gui.core.terminal import print_rows

Floats = NDArray[np.float64]

STUDIES = 5_000
SIZES = (10, 20, 50)
NUMBERS = (2, 6)
RESAMPLES = 999
PATTERNS = 199
PASSED_BY = 0.15
"""Of 199 patterns with a true p of 0.05 more than 15 % lie beyond once in a million pairs."""


@dataclass(frozen=True)
class Told:
    """Results of simulated studies in which no operator is better.

    Attributes:
        what: Kind of the operators.
        operators: How many operators play.
        seeds: Seeds that all of them play.
        studies: How many studies were simulated.
        wrong: Per cent in which an operator was called better.
    """

    what: str
    operators: int
    seeds: int
    studies: int
    wrong: float

    @property
    def error(self) -> float:
        """Twice the binomial standard error, in per cent."""
        return 2 * math.sqrt(self.wrong * (100 - self.wrong) / self.studies)


NOBODY_BETTER: Mapping[str, Study] = {name: study for name, study in STUDIED.items() if not study.ahead}


def told(
    studies: int,
    names: Sequence[str] = tuple(NOBODY_BETTER),
    sizes: Sequence[int] = SIZES,
    numbers: Sequence[int] = NUMBERS,
) -> Iterator[Told]:
    """Make up studies of each kind and size, with each number of operators."""
    for what in names:
        study = NOBODY_BETTER[what]
        for operators in (number for number in study.operators if number in numbers):
            for seeds in sizes:
                rng = np.random.default_rng(zlib.crc32(repr((what, operators, seeds, "fixed")).encode()))
                signs = rng.choice([-1.0, 1.0], (PATTERNS, seeds))
                wrong = 0
                for _ in range(studies):
                    x: Floats = study.draw(rng, (operators, seeds))
                    wrong += is_wrong([x[i] - x[j] for i, j in combinations(range(operators), 2)], signs)
                yield Told(what, operators, seeds, studies, 100 * wrong / studies)


def over_tasks(
    studies: int, tasks: int, names: Sequence[str] = tuple(NOBODY_BETTER), sizes: Sequence[int] = SIZES
) -> Iterator[Told]:
    """The same of two equal operators in so many tasks, whose comparisons are one family."""
    for what in names:
        study = NOBODY_BETTER[what]
        for seeds in sizes:
            rng = np.random.default_rng(zlib.crc32(repr((what, tasks, seeds, "tasks")).encode()))
            signs = rng.choice([-1.0, 1.0], (PATTERNS, seeds))
            wrong = 0
            for _ in range(studies):
                drawn = [study.draw(rng, (2, seeds)) for _ in range(tasks)]
                wrong += is_wrong([x[0] - x[1] for x in drawn], signs)
            yield Told(f"{what}, in {tasks} tasks", 2, seeds, studies, 100 * wrong / studies)


def is_wrong(pairs: Sequence[Floats], signs: Floats) -> bool:
    """Whether a report calls one side of these pairs better than the other.

    Args:
        pairs: A family: the differences of each pair, one a seed.
        signs: float (patterns, seeds): those that pairs far from any level are passed by with.
    """
    p_values = stats.holm([_p_value(d, signs, ALPHA / len(pairs)) for d in pairs])
    return any(p < ALPHA and _excludes_0(d) for d, p in zip(pairs, p_values, strict=True))


def _p_value(d: Floats, signs: Floats, level: float) -> float:
    beyond = np.abs(signs @ d) >= abs(float(d.sum())) - 1e-9 * float(np.abs(d).sum())
    rough = float(np.mean(beyond))
    return 1.0 if rough > PASSED_BY and intervals.step_of(d) is None else stats.paired_test(d, level).p


def _excludes_0(d: Floats) -> bool:
    found = intervals.paired_interval(d, resamples=RESAMPLES, least=intervals.MIN_UNITS)
    return d[0] != 0 if found is None else found.low > 0 or found.high < 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=STUDIES, help="of each kind (default: %(default)s)")
    parser.add_argument("--only", action="append", help="returns of this name; may be given again")
    parser.add_argument("--operators", type=int, nargs="+", default=NUMBERS, help="how many play")
    parser.add_argument("--seeds", type=int, nargs="+", default=SIZES, help="that all play")
    parser.add_argument("--tasks", type=int, help="two operators in so many tasks, which are one family")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    rows: list[Sequence[str]] = []
    found: list[Told] = []
    names = options.only or list(NOBODY_BETTER)
    for each in (
        told(options.studies, names, options.seeds, options.operators)
        if options.tasks is None
        else over_tasks(options.studies, options.tasks, names, options.seeds)
    ):
        found.append(each)
        rows.append((each.what, f"{each.operators}", f"{each.seeds}", f"{each.wrong:.1f} ± {each.error:.1f}"))
    headings = ("returns", "operators", "seeds", "wrong")
    print_rows(headings, rows, title="Operators that are equal: wrong verdicts, in %")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
