"""Whether a plan keeps its promise: how often verdicts find the difference that seeds were planned for.

    python scripts/calibration/calibration_power.py [--studies N] [--json FILE]

Differences are normal, and seeds are planned by the rule of ``mosaic power``, in a family whose other
comparisons are level; the verdict's own test and interval say what is found. Figures that the file has are
kept: a table that was cut off is finished by another call.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from gym_gui.analysis.statistics import intervals, stats
from gym_gui.analysis.statistics.seeds_needed import ALPHA, power_of, seeds_needed
from gym_gui.core.terminal import print_rows

STUDIES = 4_000
EFFECTS = (0.4, 0.5, 0.8, 1.0, 1.667, 2.5, 5.0)
FAMILIES = (1, 3, 10, 45)


@dataclass(frozen=True)
class Planned:
    """A plan and the results of simulated studies that follow it.

    Attributes:
        effect: The true difference, in standard deviations.
        comparisons: Comparisons in the family.
        planned_seeds: Seeds that the plan asks for.
        promised: Power that the plan has, in per cent.
        kept: Per cent of studies in which the difference was found.
        studies: How many studies.
    """

    effect: float
    comparisons: int
    planned_seeds: int
    promised: float
    kept: float
    studies: int

    @property
    def error(self) -> float:
        """Twice the binomial standard error, in per cent."""
        return 2 * math.sqrt(self.kept * (100 - self.kept) / self.studies)


def plans(
    studies: int,
    effects: Sequence[float] = EFFECTS,
    families: Sequence[int] = FAMILIES,
    known: Sequence[Planned] = (),
) -> Iterator[Planned]:
    """Plan for each difference in each family, and play."""
    kept = {(each.effect, each.comparisons): each for each in known if each.studies == studies}
    for effect in effects:
        for comparisons in families:
            yield kept.get((effect, comparisons)) or _played(effect, comparisons, studies)


def _played(effect: float, comparisons: int, studies: int) -> Planned:
    seeds = seeds_needed(effect, 1.0, comparisons=comparisons)
    rng = np.random.default_rng(zlib.crc32(repr((effect, comparisons)).encode()))
    level, found = ALPHA / comparisons, 0
    for _ in range(studies):
        d = rng.normal(effect, 1.0, seeds)
        if stats.paired_test(d, level).p < level:
            ends = intervals.paired_interval(d, least=intervals.MIN_UNITS)
            found += ends is None or ends.low > 0
    promised = 100 * power_of(seeds, effect, 1.0, comparisons=comparisons)
    return Planned(effect, comparisons, seeds, promised, 100 * found / studies, studies)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=STUDIES, help="of each plan (default: %(default)s)")
    parser.add_argument("--effects", type=float, nargs="+", default=EFFECTS, help="in standard deviations")
    parser.add_argument("--comparisons", type=int, nargs="+", default=FAMILIES, help="in the family")
    parser.add_argument("--json", type=Path, help="write the figures there, and go on with those that it has")
    options = parser.parse_args(arguments)
    file: Path | None = options.json
    known = [Planned(**row) for row in json.loads(file.read_text("utf-8"))] if file and file.exists() else []
    rows: list[Sequence[str]] = []
    found: list[Planned] = []
    for each in plans(options.studies, options.effects, options.comparisons, known):
        found.append(each)
        kept = f"{each.kept:.1f} ± {each.error:.1f}"
        rows.append(
            (f"{each.effect}", f"{each.comparisons}", f"{each.planned_seeds}", f"{each.promised:.1f}", kept)
        )
        if file is not None:
            file.write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n", "utf-8")
    print_rows(("difference", "comparisons", "seeds", "promised", "kept"), rows, title="Plans, in %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
