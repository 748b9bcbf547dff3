"""How often intervals over trainings hold the truth, and "is better" is wrong: for docs/measurements.

    python scripts/calibration/calibration_trainings.py [--studies N] [--sixes N] [--json FILE]

Scores of trainings are drawn from distributions whose mean is known, and given to the functions that a
report on algorithms is made with. Every number is drawn with a fixed seed: the table is always the same.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.compute.algorithms import compare_algorithms
from gym_gui.analysis.findings.trainings import TrainedScores
from gym_gui.analysis.statistics import stats, stratified
from gym_gui.core.terminal import print_rows

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
SIZES = (5, 10, 20, 50)
RESAMPLES = 999
SCORES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0),
    "Student's t, 3 degrees": (lambda rng, n: rng.standard_t(3, size=n), 0.0),
    "lognormal (sigma 1)": (lambda rng, n: rng.lognormal(size=n), float(np.exp(0.5))),
    "two modes: 70 % about 500, 30 % about 100": (
        lambda rng, n: np.where(rng.random(n) < 0.7, 500.0, 100.0) + rng.normal(size=n) * 20,
        380.0,
    ),
    "0 or 1, half ones": (lambda rng, n: (rng.random(n) < 0.5).astype(float), 0.5),
    "whole numbers about 0 (ties)": (lambda rng, n: np.round(rng.normal(size=n)), 0.0),
}
"""What scores of trainings are like, each with its mean."""


def main() -> None:
    """Make the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=5_000, help="studies of each kind")
    parser.add_argument("--sixes", type=int, default=500, help="studies of six equal algorithms")
    parser.add_argument("--trainings", type=int, nargs="+", default=SIZES, help="of each algorithm")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    rows = [_row(name, n, asked.studies) for name in SCORES for n in asked.trainings]
    _print(rows)
    sixes = [(name, n) for name in ("normal", "lognormal (sigma 1)") for n in (5, 10) if asked.sixes]
    wrong = [_six(name, n, asked.sixes) for name, n in sixes]
    _print(wrong)
    if asked.json is not None:
        asked.json.write_text(json.dumps({"two": rows, "six": wrong}, indent=1) + "\n")


def _row(name: str, n: int, studies: int) -> dict[str, Any]:
    """Two equal algorithms: how often their intervals hold, and how often one is called better."""
    draw, mean = SCORES[name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), n])
    iqm = stats.iqm(draw(np.random.default_rng(1), 1_000_001))
    held: dict[str, list[bool]] = {"mean": [], "IQM": [], "difference": [], "improvement": []}
    wrong = 0
    for _ in range(studies):
        a, b = [draw(rng, n)], [draw(rng, n)]
        # What a verdict asks beside its test, also where it is not shown.
        beside = stratified.difference_ends(a, b, RESAMPLES, shown=False)
        difference = beside if stratified.enough(a, b) else None
        for what, ends, truth in (
            ("mean", stratified.mean_ends(a, RESAMPLES), mean),
            ("IQM", stratified.iqm_ends(a, RESAMPLES), iqm),
            ("difference", difference, 0.0),
            ("improvement", stratified.improvement_ends(a, b, RESAMPLES), 0.5),
        ):
            if ends is not None:
                held[what].append(bool(ends.low - 1e-9 <= truth <= ends.high + 1e-9))
        apart = not beside.low <= 0 <= beside.high if beside is not None else bool(a[0][0] != b[0][0])
        wrong += apart and stratified.permutation_test(a, b, splits=RESAMPLES).p < 0.05
    shares = {what: round(100 * float(np.mean(each)), 1) if each else None for what, each in held.items()}
    return {
        "scores": name,
        "trainings": n,
        "studies": studies,
        **shares,
        "wrong": round(100 * wrong / studies, 1),
    }


def _six(name: str, n: int, studies: int) -> dict[str, Any]:
    """Six equal algorithms: how often any is called better than another."""
    draw, _ = SCORES[name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), n, 6])
    wrong = 0
    for _ in range(studies):
        scores = [dict(enumerate(map(float, draw(rng, n)))) for _ in range(6)]
        groups = [TrainedScores(f"a{i}", f"a{i}", "x", each) for i, each in enumerate(scores)]
        wrong += any(c.verdict != "undecided" for c in compare_algorithms(groups).comparisons)
    return {"scores": name, "trainings": n, "algorithms": 6, "wrong": round(100 * wrong / studies, 1)}


def _print(rows: list[dict[str, Any]]) -> None:
    if rows:
        cells = [["-" if value is None else str(value) for value in row.values()] for row in rows]
        print_rows(list(rows[0]), cells)


if __name__ == "__main__":
    main()
