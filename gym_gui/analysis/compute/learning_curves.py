"""Computes learning curves: interquartile mean return of an algorithm's trainings over steps, with a band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_gui.analysis.findings.trainings import CurveBand, LearningCurve, TrainedScores
from gym_gui.analysis.statistics import stratified
from gym_gui.analysis.statistics.intervals import Floats
from gym_gui.analysis.statistics.stats import iqm

POINTS = 50
LAST_EPISODES = 100
"""Number of episodes in the moving mean of a learning curve, and of the progress of a running training."""
_RESAMPLES = 999


def curve_band(group: TrainedScores) -> CurveBand | None:
    """Return an algorithm's learning curve in one environment; ``None`` if a training has no episodes.

    The curve begins where every training has finished an episode and ends where the shortest training ends.
    """
    curves = [curve for _, curve in sorted(group.curves.items()) if len(curve.steps)]
    if not curves or len(curves) < len(group.scores):
        return None
    first = max(float(curve.steps[0]) for curve in curves)
    last = min(float(curve.steps[-1]) for curve in curves)
    if not last > first:
        return None
    steps = np.linspace(first, last, POINTS)
    values = np.array([returns_at(curve, steps) for curve in curves])  # (trainings, points)
    low: list[float] = []
    high: list[float] = []
    if stratified.enough([values[:, 0]]):
        for i in range(len(steps)):
            ends = stratified.iqm_ends([values[:, i]], _RESAMPLES)
            low.append(iqm(values[:, i]) if ends is None else ends.low)
            high.append(iqm(values[:, i]) if ends is None else ends.high)
    return CurveBand(
        algorithm=group.algorithm,
        env_id=group.env_id,
        steps=tuple(map(float, steps)),
        values=tuple(iqm(values[:, i]) for i in range(len(steps))),
        low=tuple(low),
        high=tuple(high),
        trainings={
            seed: tuple(map(float, row)) for seed, row in zip(sorted(group.curves), values, strict=True)
        },
    )


def returns_at(curve: LearningCurve, steps: Sequence[float] | Floats) -> Floats:
    """Return the mean return of the last :data:`LAST_EPISODES` episodes that ended by each step.

    Args:
        curve: Episodes of a training; at least one must have ended by the first step.
        steps: Steps in ascending order.
    """
    sums = np.concatenate([[0.0], np.cumsum(curve.returns)])
    ended = np.searchsorted(curve.steps, np.asarray(steps), side="right")
    begin = np.maximum(ended - LAST_EPISODES, 0)
    found: Floats = (sums[ended] - sums[begin]) / (ended - begin)
    return found
