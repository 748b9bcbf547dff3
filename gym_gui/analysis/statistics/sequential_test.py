"""Tests paired differences by sign flips, with interim looks while seeds are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.statistics.intervals import CHUNK, SEED, Floats

PATTERNS = 9_999
"""Number of random sign patterns, with which the observed one is compared."""

ALPHA = 0.05

SPENDING = 1.5
"""Exponent of error spending: after a ``share`` of the units, ``share ** SPENDING`` of the allowed error may
be spent. With 1, as in AdaStop, strong differences are decided a little sooner, but skewed returns lead to
errors after only ten units too often; with 2 it is the reverse."""

_FINEST = 1e-4
_STEP = 1.2
"""Factor between the levels at which p-values are reported, down to about :data:`_FINEST`."""
_COARSER = 1.05
"""Factor between the ranks of Holm's procedure whose levels are used in a large family; for other ranks, the
next smaller level is used."""


class InterimResult(NamedTuple):
    """Result of one interim look at a comparison.

    Attributes:
        statistic: Absolute sum of the differences so far.
        boundary: Value that the statistic must exceed to be significant at the requested level; ``inf`` if
            there are too few units.
        level: The requested level.
        p: Smallest level at which this look or an earlier one is significant, which is a p-value that is
            valid for any number of looks.
        tail: Share of all patterns beyond the boundary of :data:`ALPHA`. ``1 - tail`` is the confidence level
            of this look's interval at which the intervals of all looks together have the usual level.
    """

    statistic: float
    boundary: float
    level: float
    p: float
    tail: float


class SequentialTest:
    """Group-sequential sign-flip test of the hypothesis that two sides do equally well on a seed.

    As in AdaStop, equally likely sign patterns are evaluated at each look. Patterns that exceed a boundary
    count as errors and are excluded from later looks. Each look sets the boundary as low as possible such
    that the errors so far stay within ``level * share ** SPENDING``, where ``share`` is the share of all
    units evaluated so far (Kim and DeMets' power family). The test is exact for any number of looks and any
    data; error that a look leaves unspent is available at the next one. Unlike in AdaStop, units are paired,
    so that a pattern flips the signs of differences, and Holm's procedure corrects for the comparisons of a
    family (AdaStop tests the largest difference of a family, which is that of the side that varies most).

    The boundaries of all levels are computed together; that of a smaller level is never below that of a
    larger one. So the smallest level that is reached is a p-value that is valid at any look, and Holm's
    procedure can correct it like any other p-value.

    Args:
        family: Number of comparisons in the family, which determines the levels of Holm's procedure.
        rows: Number of comparisons that are tested at once, independently, with the same patterns.
        patterns: Number of random patterns of signs.
        levels: Levels at which p-values are reported, including :data:`ALPHA`; by default a fixed scale.
        seed: Seed of the patterns.

    Source:
        Mathieu, Della Vecchia, Shilova, Centa de Medeiros, Kohler, Maillard, Preux: "AdaStop: adaptive
        statistical testing for sound comparisons of Deep RL agents", TMLR 2024.
        Kim & DeMets, "Design and Analysis of Group Sequential Tests Based on the Type I Error Spending
        Rate Function", Biometrika 74 (1987).
        Liu & Anderson, "On Adaptive Extensions of Group Sequential Trials for Clinical
        Investigations", JASA 103 (2008), for the p-value.
    """

    def __init__(
        self,
        family: int = 1,
        *,
        rows: int = 1,
        patterns: int = PATTERNS,
        levels: Sequence[float] = (),
        seed: int = SEED,
    ) -> None:
        self._levels = np.sort(np.unique(levels))[::-1] if levels else _levels(family)
        self._rng = np.random.default_rng(seed)
        self._sums = np.zeros((rows, patterns + 1))
        self._sizes = np.zeros((rows, 1))
        # Number of levels, from the largest on, whose boundaries each pattern has exceeded.
        self._crossed: NDArray[np.int16] = np.zeros((rows, patterns + 1), np.int16)

    def update(
        self, differences: Sequence[float] | Floats, share: float, level: float = ALPHA
    ) -> InterimResult:
        """Add new differences of the only comparison and return the result of the look.

        Args:
            differences: One difference per new unit (seed).
            share: Number of units so far divided by the planned largest number, in (0, 1]; must not decrease.
            level: Level whose boundary is returned.
        """
        return self.update_all(np.asarray(differences, dtype=np.float64)[None], share, level)[0]

    def update_all(self, differences: Floats, share: float, level: float = ALPHA) -> list[InterimResult]:
        """Add new differences of all comparisons and return the results of the looks.

        Args:
            differences: float (rows, new units).
            share: See :meth:`update`.
            level: See :meth:`update`.
        """
        self._add(differences)
        # Round, so that rounding errors do not separate patterns that are equal in exact arithmetic.
        grains = np.where(self._sizes > 0, 1e-9 * self._sizes, 1.0)
        reached = np.rint(np.abs(self._sums) / grains)
        boundaries = self._spend(reached, share)
        requested, usual = (int(np.argmax(self._levels <= each * (1 + 1e-9))) for each in (level, ALPHA))
        tails = np.count_nonzero(reached > boundaries[usual], axis=1) / reached.shape[1]
        smallest = np.concatenate([[1.0], self._levels])[self._crossed[:, 0]]
        limits = boundaries[requested, :, 0] * grains[:, 0]
        return [
            InterimResult(abs(float(row[0])), float(f"{limit:.9g}"), level, float(p), float(tail))
            for row, limit, p, tail in zip(self._sums, limits, smallest, tails, strict=True)
        ]

    def _add(self, d: Floats) -> None:
        """Add differences, float (rows, units), to the sums of all patterns; the first is the observed."""
        units = d.shape[1]
        at_once = max(1, CHUNK // max(1, units))
        self._sizes += np.abs(d).sum(axis=1, keepdims=True)
        self._sums[:, 0] += d.sum(axis=1)
        for start in range(1, self._sums.shape[1], at_once):
            part = self._sums[:, start : start + at_once]
            signs = self._rng.integers(0, 2, size=(part.shape[1], units), dtype=np.int8)
            part += d @ (2.0 * signs.T - 1.0)

    def _spend(self, reached: Floats, share: float) -> Floats:
        """Spend the error of one look.

        Return the boundaries, an array of shape (levels, rows, 1) with the largest level first. In
        ``_crossed``, mark each sign pattern that lies beyond one of them.
        """
        rows, patterns = reached.shape
        allowed = [int(level * share**SPENDING * patterns + 1e-9) for level in self._levels]
        # Never more patterns than allowed lie beyond a boundary, so the largest ones decide where it is.
        most = min(patterns, allowed[0] + 1)
        order = np.argpartition(-reached, most - 1, axis=1)[:, :most]
        order = np.take_along_axis(order, np.argsort(-np.take_along_axis(reached, order, axis=1), axis=1), 1)
        largest_first = np.take_along_axis(reached, order, axis=1)
        crossed_before = np.take_along_axis(self._crossed, order, axis=1)
        spent_by, spent_at = np.nonzero(self._crossed)
        spent_to = self._crossed[spent_by, spent_at]
        boundaries = np.empty((len(self._levels), rows, 1))
        highest = np.full((rows, 1), -1.0)
        for i, may in enumerate(allowed):
            left = np.cumsum(crossed_before <= i, axis=1, dtype=np.int32)
            room = may - np.bincount(spent_by[spent_to > i], minlength=rows)[:, None]
            at = np.argmax(left > room, axis=1)[:, None]
            last = np.where(left[:, -1:] > room, np.take_along_axis(largest_first, at, axis=1), -1.0)
            boundaries[i] = highest = np.maximum(np.where(room > 0, last, np.inf), highest)
        beyond = np.nonzero(reached > boundaries[0])
        sizes, count = reached[beyond], np.zeros(len(beyond[0]), np.int16)
        for boundary in boundaries:
            count += sizes > boundary[beyond[0], 0]
        self._crossed[beyond] = np.maximum(self._crossed[beyond], count)
        return boundaries


def _levels(family: int) -> Floats:
    """Return the levels of Holm's procedure and of reported p-values, float (levels,), largest first."""
    of_holm, rank = list[float](), 1
    while rank <= family:
        of_holm.append(ALPHA / rank)
        rank = max(rank + 1, int(rank * _COARSER))
    rungs = 1 + int(np.log(1 / _FINEST) / np.log(_STEP))
    return np.array(sorted({*of_holm, *(_STEP**-i for i in range(rungs + 1))}, reverse=True))
