"""Computes tournament ratings with intervals by seed, confidence sets of ranks and seat values."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.compute.games import Game, Games, matches, points
from gym_gui.analysis.findings.standings import APART, BY_SEED, NO_GAME, NOT_RANDOM, TOO_FEW, RankSet
from gym_gui.analysis.statistics import intervals
from gym_gui.analysis.statistics.bradley_terry import ELO, Comparisons, Fit, fit
from gym_gui.analysis.statistics.distributions import (
    CONFIDENCE,
    normal_cdf,
    student_quantile,
)
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.statistics.win_graph import largest

Floats = NDArray[np.float64]

RESAMPLES = 999


@dataclass(frozen=True)
class Ratings:
    """Ratings of the policies of a tournament.

    Attributes:
        ratings: Rating of each policy, in Elo points.
        ranks: Confidence set of each policy's rank; empty if there are too few seeds.
        seats: Advantage of each seat, in Elo points.
        notes: Reason why a policy has no interval, by policy.
        regularized: Whether a drawn game against an average policy was added for each policy.
    """

    ratings: Mapping[str, Estimate]
    ranks: Mapping[str, RankSet]
    seats: Mapping[str, Estimate]
    notes: Mapping[str, str]
    regularized: bool


def rate(found: Games) -> Ratings:
    """Return the ratings of a tournament's policies; at least one game must count."""
    games = comparisons(found)
    whole = fit(games)
    seeds = games.seeds
    drawn = fit(games, _weights_of(len(games.wins)), whole) if seeds >= intervals.MIN_UNITS else None
    decided = min(seeds, int(np.count_nonzero(_decided(games).any(axis=1))))
    anchored = largest(whole.groups)
    played: Counter[str] = Counter(name for each in found.games.values() for g in each for name in g.policies)
    notes = {
        name: note
        for i, name in enumerate(found.policies)
        if (note := _why_none(played[name], bool(anchored[i]), seeds))
    }
    ratings = {
        name: _estimate(
            whole.ratings[0, i] * ELO,
            None if drawn is None or name in notes else drawn.ratings[:, i] * ELO,
            played[name],
            seeds,
            decided,
        )
        for i, name in enumerate(found.policies)
    }
    seats = {
        seat: _estimate(
            whole.seats[0, i] * ELO,
            None if drawn is None else drawn.seats[:, i] * ELO,
            found.count,
            seeds,
            decided,
        )
        for i, seat in enumerate(found.seats)
    }
    ranks = {} if drawn is None else _rank_sets(found.policies, games, whole, drawn, decided)
    return Ratings(ratings, ranks, seats, notes, bool(whole.regularized[0]))


def comparisons(found: Games) -> Comparisons:
    """Return the results of all pairs that met, by seed, for :func:`fit`.

    If all games of a pairing in a seating are identical, nothing in them was random. Together they count as
    one game and form one unit, because counting each of them would overstate the certainty.
    """
    place = {name: i for i, name in enumerate(found.policies)}
    cells: dict[tuple[int, int, int, int], int] = {}
    units: dict[Hashable, int] = {}
    entries: list[tuple[int, int, int, float]] = []
    for pairing, games in found.games.items():
        weights = _weights(games)
        for game, i, j in matches(games):
            a, b = place[game.policies[i]], place[game.policies[j]]
            cell = cells.setdefault((a, i, b, j), len(cells))
            weight, seed = weights[game.policies], game.sample.seed
            drawn = (seed,) if seed is not None else (pairing, game.sample.round)
            unit = units.setdefault(drawn if weight == 1 else pairing, len(units))
            result = points(game.results[i], game.results[j])
            entries.append((unit, cell, int(2 * result), weight))
    counts = np.zeros((3, len(units), len(cells)))
    for unit, cell, kind, weight in entries:
        counts[kind, unit, cell] += weight
    table = np.array(list(cells), dtype=np.int64).reshape(-1, 4)
    return Comparisons(
        len(place),
        len(found.seats),
        table,
        sum(isinstance(key, tuple) for key in units),
        counts[2],
        counts[1],
        counts[0],
    )


def _weights(games: Sequence[Game]) -> dict[tuple[str, ...], float]:
    """Return the weight of each game by seating: 1, or 1 / n if all n games of the seating are identical."""
    digests: dict[tuple[str, ...], list[object]] = defaultdict(list)
    for game in games:
        digests[game.policies].append(game.sample.identity)
    return {
        seating: 1 / len(seen) if seen[0] is not None and len(set(seen)) == 1 else 1.0
        for seating, seen in digests.items()
    }


@lru_cache(maxsize=2)
def _weights_of(units: int) -> Floats:
    """Return how often each resample draws each unit, with replacement; shape (resamples, units)."""
    rng = np.random.default_rng(intervals.SEED)
    return rng.multinomial(units, np.full(units, 1 / units), size=RESAMPLES).astype(np.float64)


def _why_none(played: int, anchored: bool, seeds: int) -> str:
    if not played:
        return NO_GAME
    if seeds < intervals.MIN_UNITS:
        return TOO_FEW if seeds else NOT_RANDOM
    return "" if anchored else APART


def _estimate(value: float, drawn: Floats | None, games: int, seeds: int, decided: int) -> Estimate:
    """Return a rating with an interval from its standard error in resamples and Student's t.

    Percentiles of the resamples are not used, because they exaggerate the bias of maximum-likelihood ratings
    away from 0. Student's t counts the ``decided`` seeds, which have a game that was not drawn.
    """
    error = 0.0 if drawn is None else float(drawn.std())
    if drawn is None or error < 1e-6 or decided < 2:
        note = "no interval" if drawn is None else "1 decided seed" if decided == 1 else "equal on all seeds"
        return Estimate(float(value), None, None, games, seeds, "rating", note=note)
    half = error * _student(decided, (1 + CONFIDENCE) / 2)
    return Estimate(float(value), float(value - half), float(value + half), games, seeds, "rating", BY_SEED)


def _student(n: int, below: float) -> float:
    """Return the half-width of an interval in standard errors of resamples, for ``n`` units (at least 2)."""
    return math.sqrt(n / (n - 1)) * student_quantile(n - 1, below)


def _rank_sets(
    names: Sequence[str], games: Comparisons, whole: Fit, drawn: Fit, decided: int
) -> dict[str, RankSet]:
    """Return the confidence set of each policy's rank, from simultaneous intervals of all differences."""
    first, second = np.triu_indices(len(names), 1)
    gap = whole.ratings[0, first] - whole.ratings[0, second]
    spread = drawn.ratings[:, first] - drawn.ratings[:, second] - gap
    error = np.maximum(spread.std(axis=0), 1e-9)
    critical = float(np.quantile(np.abs(spread / error).max(axis=1), CONFIDENCE))
    # Convert the critical value from a normal distribution to Student's t.
    outside = max(1 - normal_cdf(critical), 1e-12)
    margin = _student(max(decided, 2), 1 - outside) * error
    # If one policy never lost to the other, no resample has a loss, so require a sign test on seeds.
    apart = whole.groups[first] != whole.groups[second]
    sure = (np.abs(gap) > margin) & (~apart | (_seeds_won(games)[first, second] >= _enough(len(first))))
    # If nearly all games are drawn, a few decided seeds are not enough evidence.
    sure &= _seeds_decided(games)[first, second] >= min(_enough(len(first)), games.seeds)
    ahead = np.zeros((len(names), len(names)), np.bool_)
    ahead[first[sure & (gap > 0)], second[sure & (gap > 0)]] = True
    ahead[second[sure & (gap < 0)], first[sure & (gap < 0)]] = True
    for i in range(len(names)):  # being ahead is transitive
        ahead |= ahead[:, i, None] & ahead[None, i]
    return {
        name: RankSet(1 + int(ahead[:, i].sum()), len(names) - int(ahead[i].sum()))
        for i, name in enumerate(names)
    }


def _enough(pairs: int) -> int:
    """Return how many seeds a policy must win, without a loss, in a sign test corrected for all pairs."""
    return math.ceil(1 - math.log2((1 - CONFIDENCE) / pairs) - 1e-9)


def _decided(games: Comparisons) -> NDArray[np.bool_]:
    """Return which units have a game that was not drawn in each cell; shape (units, cells)."""
    return (games.wins + games.losses) > 0


def _seeds_decided(games: Comparisons) -> NDArray[np.int64]:
    """Count the units on which either policy of a pair has a game that was not drawn.

    Returns:
        int (policies, policies).
    """
    decided = _decided(games)
    of_policy = np.zeros((len(decided), games.policies), np.bool_)
    for (a, b), each in zip(games.met, decided.T, strict=True):
        of_policy[:, a] |= each
        of_policy[:, b] |= each
    return np.count_nonzero(of_policy[:, :, None] | of_policy[:, None, :], axis=0)


def _seeds_won(games: Comparisons) -> NDArray[np.int64]:
    """Count the units on which the first policy of a pair won more games than the second.

    Returns:
        int (policies, policies).
    """
    keys = games.met[:, 0] * games.policies + games.met[:, 1]
    won = np.zeros((len(games.wins), games.policies**2))
    for cell, key in enumerate(keys):
        won[:, key] += games.wins[:, cell] - games.losses[:, cell]
    more = won.reshape(-1, games.policies, games.policies)
    return np.count_nonzero(more - more.transpose(0, 2, 1), axis=0)
