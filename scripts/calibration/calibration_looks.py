"""How often playing until it is decided calls an equal one better: for docs/measurements.

    python scripts/calibration/calibration_looks.py [--studies N] [--json FILE]

Studies are made up whole: all operators on the same seeds, looked at as runs do, each pair until it is
decided, by the test, Holm's procedure and the interval that runs use. Only their number of random patterns of
signs is smaller; they are drawn anew every so many studies.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.statistics import intervals
from gym_gui.analysis.statistics.sequential_test import ALPHA, SequentialTest
from gym_gui.analysis.statistics.stats import holm
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.core.terminal import print_rows

Rng = np.random.Generator
Floats = NDArray[np.float64]

STUDIES = 5_000
PATTERNS = 1_199
RESAMPLES = 999
INTERVALS = 400
"""Of studies made up together, those whose interval is looked at also where nothing was decided."""


@dataclass(frozen=True)
class Looked:
    """Results of simulated studies of one kind.

    Attributes:
        what: Kind of the operators.
        operators: How many operators play.
        seeds: Seeds that are played at most.
        studies: How many studies were simulated.
        wrong: Per cent in which an operator was called better that is not.
        right: Per cent in which the first was called better, where it is.
        played: Mean number of seeds that the first pair was played for.
        held: Per cent of intervals of the first pair's difference that hold it, in a part of the studies.
    """

    what: str
    operators: int
    seeds: int
    studies: int
    wrong: float
    right: float | None
    played: float
    held: float

    @property
    def error(self) -> float:
        """Half the width of the 95 % interval of :attr:`wrong`, in per cent."""
        share = max(self.wrong, 5.0) / 100
        return 196 * math.sqrt(share * (1 - share) / self.studies)


def _scores(p: float) -> Callable[[Rng, tuple[int, int]], Floats]:
    return lambda rng, shape: (rng.random(shape) < p).astype(np.float64)


def _ahead(by: float) -> Callable[[Rng, tuple[int, int]], Floats]:
    """Normal returns; the first operator is better by so many standard deviations."""

    def draw(rng: Rng, shape: tuple[int, int]) -> Floats:
        x = rng.normal(0, 1, shape)
        x[0] += by
        return x

    return draw


def _against_always(mean: float, draw: Callable[[Rng, int], Floats]) -> Callable[..., Floats]:
    """The first operator earns on average what the others always earn."""

    def drawn(rng: Rng, shape: tuple[int, int]) -> Floats:
        x = np.full(shape, mean)
        x[0] = draw(rng, shape[1])
        return x

    return drawn


@dataclass(frozen=True)
class Study:
    """Returns (operators, seeds), how much better the first operator is, and how many there may be."""

    draw: Callable[[Rng, tuple[int, int]], Floats]
    ahead: float = 0.0
    operators: tuple[int, ...] = (2, 6)


STUDIED: Mapping[str, Study] = {
    "normal": Study(lambda rng, shape: rng.normal(0, 1, shape)),
    "heavy tails (Student's t, 2 degrees)": Study(lambda rng, shape: rng.standard_t(2, shape)),
    "lognormal (sigma 1)": Study(lambda rng, shape: rng.lognormal(0, 1, shape)),
    "0 or 1, half ones": Study(_scores(0.5)),
    "0 or 1, 95 % ones": Study(_scores(0.95)),
    "ties: whole numbers about 0": Study(lambda rng, shape: np.rint(rng.normal(0, 0.7, shape))),
    "0, but normal on 10 %": Study(
        lambda rng, shape: np.where(rng.random(shape) < 0.1, rng.normal(0, 1, shape), 0.0)
    ),
    "-1, 0 or 1, each sign on 10 %": Study(
        lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], shape, p=[0.1, 0.8, 0.1])
    ),
    "5 % outliers, 30 times as far": Study(
        lambda rng, shape: rng.normal(0, 1, shape) * np.where(rng.random(shape) < 0.05, 30.0, 1.0)
    ),
    "equal means, exponential against always 1": Study(
        _against_always(1.0, lambda rng, n: rng.exponential(1, n)), operators=(2,)
    ),
    "equal means, lognormal against always the same": Study(
        _against_always(math.exp(0.5), lambda rng, n: rng.lognormal(0, 1, n)), operators=(2,)
    ),
    "better by half a standard deviation": Study(_ahead(0.5), 0.5),
    "better by one standard deviation": Study(_ahead(1.0), 1.0),
    "better by two standard deviations": Study(_ahead(2.0), 2.0),
}
SIZES = (20, 50, 100)


def looked(
    studies: int,
    names: Sequence[str] = tuple(STUDIED),
    sizes: Sequence[int] = SIZES,
    numbers: Sequence[int] = (2, 6),
) -> Iterator[Looked]:
    """Make up studies of each kind and size, with each number of operators."""
    for what in names:
        study = STUDIED[what]
        for operators in (number for number in study.operators if number in numbers):
            for seeds in sizes:
                rng = np.random.default_rng(zlib.crc32(repr((what, operators, seeds)).encode()))
                at_once = max(10, 1_000 // operators**2)
                found = [
                    outcome
                    for start in range(0, studies, at_once)
                    for outcome in _played(study, rng, operators, seeds, min(at_once, studies - start))
                ]
                held = [each.held for each in found if not math.isnan(each.held)]
                yield Looked(
                    what,
                    operators,
                    seeds,
                    studies,
                    100 * sum(each.wrong for each in found) / studies,
                    100 * sum(each.right for each in found) / studies if study.ahead else None,
                    sum(each.played for each in found) / studies,
                    100 * sum(held) / len(held) if held else math.nan,
                )


def _played(study: Study, rng: Rng, operators: int, most: int, studies: int) -> list[_Outcome]:
    """Studies side by side, with the same patterns of signs."""
    x = np.stack([study.draw(rng, (operators, most)) for _ in range(studies)])
    pairs = list(combinations(range(operators), 2))
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    d = x[:, first] - x[:, second]
    levels = [ALPHA / rank for rank in range(1, len(pairs) + 1)]
    rows, seed = studies * len(pairs), int(rng.integers(2**32))
    test = SequentialTest(len(pairs), rows=rows, patterns=PATTERNS, levels=levels, seed=seed)
    outcomes = [_Outcome(played=most) for _ in range(studies)]
    p_values = np.ones((studies, len(pairs)))  # those of pairs that are decided stay what they were
    decided = np.zeros((studies, len(pairs)), np.bool_)
    before = 0
    for seeds in ExecutionConfig(most).interim_seed_counts(most):
        seen = test.update_all(d[:, :, before:seeds].reshape(rows, -1), seeds / most)
        now = np.array([each.p for each in seen]).reshape(decided.shape)
        p_values = np.where(decided, p_values, now)
        tail = np.array([each.tail for each in seen]).reshape(decided.shape)
        before = seeds
        for i, outcome in enumerate(outcomes):
            significant = np.array(holm(p_values[i].tolist())) * (1 - 1e-9) < ALPHA
            asked = significant
            if seeds == most and i < INTERVALS:
                asked = asked | (np.arange(len(pairs)) == 0)
            for j in np.flatnonzero(asked & ~decided[i]):
                low, high = _interval(d[i, j, :seeds], tail[i, j])
                truth = study.ahead if first[j] == 0 else 0.0
                is_over = bool(significant[j]) and (low > 0 or high < 0)
                decided[i, j] = is_over
                outcome.wrong |= bool(is_over and (1 if low > 0 else -1) * truth <= 0)
                if j == 0 and i < INTERVALS:
                    outcome.held = math.nan if math.isnan(low) else float(low <= truth <= high)
                if j == 0:
                    outcome.right |= bool(is_over and truth > 0 and low > 0)
                    outcome.played = seeds if is_over else most
    return outcomes


@dataclass
class _Outcome:
    """The result of one study."""

    played: int
    wrong: bool = False
    right: bool = False
    held: float = math.nan


def _interval(d: Floats, tail: float) -> tuple[float, float]:
    """As a verdict has it: of equal differences, the value; not a number where none can be given."""
    if d.min() == d.max() and len(d) >= intervals.MIN_UNITS:
        return float(d[0]), float(d[0])
    if tail <= 0 or len(d) < intervals.MIN_UNITS:
        return math.nan, math.nan
    found = intervals.paired_interval(d, resamples=RESAMPLES, confidence=1 - tail)
    return (math.nan, math.nan) if found is None else (found.low, found.high)


def show_looks(found: Sequence[Looked]) -> None:
    """Print the table."""
    headings = ("returns", "operators", "at most", "wrong", "right", "seeds", "interval holds")
    rows: list[Sequence[str]] = []
    for each in found:
        right = "-" if each.right is None else f"{each.right:.0f}"
        cells = (f"{each.operators}", f"{each.seeds}", f"{each.wrong:.1f} ± {each.error:.1f}", right)
        rows.append((each.what, *cells, f"{each.played:.0f}", f"{each.held:.1f}"))
    print_rows(headings, rows, title="Played until it is decided: verdicts in %, seeds of the first pair")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=STUDIES, help="of each kind (default: %(default)s)")
    parser.add_argument("--only", action="append", help="returns of this name; may be given again")
    parser.add_argument("--operators", type=int, nargs="+", default=(2, 6), help="how many play")
    parser.add_argument("--seeds", type=int, nargs="+", default=SIZES, help="that are played at most")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    names = options.only or list(STUDIED)
    found = list(looked(options.studies, names, options.seeds, options.operators))
    show_looks(found)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
