"""A paired permutation test that may be looked at again and again while seeds are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.statistics.intervals import CHUNK, SEED, Floats

PATTERNS = 9_999
"""Random patterns of signs; with the one seen they are what it is ranked among."""

ALPHA = 0.05

SPENDING = 1.5
"""Of the error allowed, ``share ** SPENDING`` may have been made once this share of the units is seen. At 1,
as in AdaStop, strong differences show a little sooner, and what only ten units say is believed too often
where returns are skewed; at 2 it is the other way round."""

_FINEST = 1e-4
_STEP = 1.2
"""p-values stand on a ladder whose rungs are a fifth apart, from this one on."""
_COARSER = 1.05
"""Of a large family not every level of Holm's procedure is kept, only ranks so far apart; between them the
next smaller level counts."""


class Look(NamedTuple):
    """What one look at a comparison gave.

    Attributes:
        statistic: Sum of the differences so far, without its sign.
        boundary: What it has to exceed to be significant at the level asked for; ``inf`` where so few
            units can show nothing.
        level: The one asked for.
        p: Smallest level at which this look or an earlier one is significant: a p-value, however
            often was looked.
        tail: Part of all patterns beyond the boundary of :data:`ALPHA`: 1 minus it is the confidence that an
            interval of this look needs so that the intervals of all looks hold the truth together.
    """

    statistic: float
    boundary: float
    level: float
    p: float
    tail: float


class SequentialTest:
    """Group-sequential sign-flip test that two sides do equally well on a seed.

    As in AdaStop, patterns that could as well have been seen are followed from look to look. Those that
    go beyond a boundary are counted as errors and left out from then on; at each look the boundary is set
    as low as keeps the errors so far within ``level * share ** SPENDING``, ``share`` being the part of all
    units that has been seen (Kim and DeMets' power family). It is exact at any number of looks, whatever
    their data: what few units leave unspent is there at the next look. Unlike there, units are paired, so
    that a pattern flips the signs of differences, and the comparisons of a family are corrected by Holm's
    procedure: the largest difference of a family, which is followed there, is that of who varies most.

    Boundaries of all levels are kept at once, none of a smaller level below that of a larger one. So the
    smallest level that was reached is a p-value that may be looked at whenever one likes, and that
    Holm's procedure can correct as any other.

    Args:
        family: Comparisons in the family: the levels that Holm's procedure asks for are among those kept, of
            large families the most.
        rows: Comparisons that are tested side by side, each by itself, with the same patterns.
        patterns: Random patterns of signs.
        levels: Told are p-values at these levels alone, :data:`ALPHA` among them; by default on a ladder.
        seed: Of the patterns.

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
        # Of how many levels, the largest first, a pattern was beyond the boundary: of all larger ones, too.
        self._crossed: NDArray[np.int16] = np.zeros((rows, patterns + 1), np.int16)

    def look(self, differences: Sequence[float] | Floats, share: float, level: float = ALPHA) -> Look:
        """Take in what was played of the first comparison since the last look, and look.

        Args:
            differences: One per new unit (seed).
            share: Part of all units that may be played at most, these included, in (0, 1]; never less than
                before.
            level: The level whose boundary the look returns.
        """
        return self.looks(np.asarray(differences, dtype=np.float64)[None], share, level)[0]

    def looks(self, differences: Floats, share: float, level: float = ALPHA) -> list[Look]:
        """The same for all rows.

        Args:
            differences: float (rows, new units).
            share: See :meth:`look`.
            level: See :meth:`look`.
        """
        self._add(differences)
        # Patterns equal in exact arithmetic must not be told apart by rounding.
        grains = np.where(self._sizes > 0, 1e-9 * self._sizes, 1.0)
        reached = np.rint(np.abs(self._sums) / grains)
        boundaries = self._spend(reached, share)
        told, usual = (int(np.argmax(self._levels <= each * (1 + 1e-9))) for each in (level, ALPHA))
        tails = np.count_nonzero(reached > boundaries[usual], axis=1) / reached.shape[1]
        smallest = np.concatenate([[1.0], self._levels])[self._crossed[:, 0]]
        limits = boundaries[told, :, 0] * grains[:, 0]
        return [
            Look(abs(float(row[0])), float(f"{limit:.9g}"), level, float(p), float(tail))
            for row, limit, p, tail in zip(self._sums, limits, smallest, tails, strict=True)
        ]

    def _add(self, d: Floats) -> None:
        """Sums of the patterns, carried on; the first pattern is what was seen."""
        units = d.shape[1]
        at_once = max(1, CHUNK // max(1, units))
        self._sizes += np.abs(d).sum(axis=1, keepdims=True)
        self._sums[:, 0] += d.sum(axis=1)
        for start in range(1, self._sums.shape[1], at_once):
            part = self._sums[:, start : start + at_once]
            signs = self._rng.integers(0, 2, size=(part.shape[1], units), dtype=np.int8)
            part += d @ (2.0 * signs.T - 1.0)

    def _spend(self, reached: Floats, share: float) -> Floats:
        """Boundaries (levels, rows, 1), the largest level's first; patterns beyond them are marked."""
        rows, patterns = reached.shape
        allowed = [int(level * share**SPENDING * patterns + 1e-9) for level in self._levels]
        # Beyond a boundary there never are more patterns than are allowed, so that these decide where it is.
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
    """Levels, largest first: those of Holm's procedure, and the rungs that p-values can stand on."""
    of_holm, rank = list[float](), 1
    while rank <= family:
        of_holm.append(ALPHA / rank)
        rank = max(rank + 1, int(rank * _COARSER))
    rungs = 1 + int(np.log(1 / _FINEST) / np.log(_STEP))
    return np.array(sorted({*of_holm, *(_STEP**-i for i in range(rungs + 1))}, reverse=True))
