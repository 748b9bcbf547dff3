"""Fits ratings of policies to games with draws and seats, by maximum likelihood.

The model is Bradley and Terry's with Davidson's draws and Davidson and Beaver's order effect. For two
policies that meet, the first in seat s and the second in seat t, with ``d = (r_1 + e_s) - (r_2 + e_t)``:

    win : draw : loss  =  exp(d / 2) : exp(v) : exp(-d / 2)

``r`` is a rating on the natural scale, ``e`` the advantage of a seat, and ``v`` the frequency of draws. A
game of more than two sides counts as one comparison of each pair of sides (a composite likelihood).

Sources:
    Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments",
    Journal of the American Statistical Association 65 (1970). Davidson & Beaver, "On Extending the
    Bradley-Terry Model to Incorporate Within-Pair Order Effects", Biometrics 33 (1977).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gym_gui.analysis.statistics.win_graph import (
    do_draws_hide,
    groups_behind_draws,
    groups_of,
    have_several_groups,
    largest,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ELO = 400 / math.log(10)
"""Elo points per unit of the natural scale: 400 Elo points are odds of ten to one."""
_ITERATIONS = 60
_CLOSE = 1e-5
"""Length of a Newton step below which a fit has converged; the next step is about its square."""
_LONGEST_STEP = 2.0
_SEAT_PENALTY = 0.01
"""Penalty that keeps a seat's advantage finite if the seat always won; small compared to a few games."""
_LEAST_DRAW, _MOST_DRAW = -12.0, 12.0
_CHUNK = 1 << 22
"""Number of elements of the largest array of a fit."""


@dataclass(frozen=True)
class Comparisons:
    """Results of pairs of policies, by cell; a cell is two policies in two seats.

    Attributes:
        policies: Number of policies.
        seats: Number of seats.
        cells: int (cells, 4): first policy, its seat, second policy, its seat.
        seeds: Number of units that are seeds; the other units are games that are identical on all seeds.
        wins: float (units, cells): number of games that the first policy won.
        draws: float (units, cells): number of drawn games.
        losses: float (units, cells): number of games that the second policy won.
    """

    policies: int
    seats: int
    cells: Ints
    seeds: int
    wins: Floats
    draws: Floats
    losses: Floats

    @property
    def met(self) -> Ints:
        """First and second policy of each cell: int (cells, 2)."""
        return self.cells[:, [0, 2]]

    @cached_property
    def patterns(self) -> tuple[Any, Any, Any]:
        """Sparse design matrix (cells, parameters), its transpose, and the products of its columns.

        The products have shape (parameters squared, cells).
        """
        size, rows = self.policies + self.seats + 1, len(self.cells)
        columns = np.stack(
            [
                self.cells[:, 0],
                self.policies + self.cells[:, 1],
                self.cells[:, 2],
                self.policies + self.cells[:, 3],
            ],
            axis=1,
        )
        signs = np.array([1.0, 1.0, -1.0, -1.0])
        at = np.repeat(np.arange(rows), 4)
        x = sparse.csr_matrix((np.tile(signs, rows), (at, columns.ravel())), shape=(rows, size))
        products = (columns[:, :, None] * size + columns[:, None, :]).reshape(rows, 16)
        values = np.tile(np.outer(signs, signs).ravel(), rows)
        xx = sparse.csr_matrix(
            (values, (np.repeat(np.arange(rows), 16), products.ravel())), shape=(rows, size * size)
        )
        return x[:, :-1].tocsr(), x.T.tocsr(), xx.T.tocsr()


@dataclass(frozen=True)
class Fit:
    """Fitted parameters for one or many (``b``) weightings of the same games.

    Attributes:
        ratings: float (b, policies), natural scale. Ratings of the largest group that results connect have
            mean 0, or all ratings if results connect no two policies.
        seats: float (b, seats), natural scale, mean 0.
        draw: float (b,): ``exp(v)``, draws per win between equal policies; 0 if no game was drawn.
        regularized: bool (b,): whether a drawn game against an average policy was added for each policy,
            because the results do not connect all policies and the likelihood has no maximum.
        groups: int (policies,): number of the group of each policy, from all games together. Within a group,
            results limit the differences of ratings.
    """

    ratings: Floats
    seats: Floats
    draw: Floats
    regularized: NDArray[np.bool_]
    groups: Ints


def fit(games: Comparisons, weights: Floats | None = None, near: Fit | None = None) -> Fit:
    """Return the fit of the model to each weighting of the games.

    Args:
        games: The results.
        weights: float (b, units): weight of each unit; 1 by default.
        near: Fit of a similar weighting as the starting point, which saves steps.
    """
    whole = np.ones((1, len(games.wins)))
    given = whole if weights is None else weights
    if near is None:
        groups = _groups(games)
        begin = np.zeros(games.policies + games.seats + 1)
    else:
        groups = near.groups
        begin = np.concatenate([near.ratings[0], near.seats[0], _log(near.draw)])
    rows = max(1, _CHUNK // max(2 * len(games.cells), (games.policies + games.seats + 1) ** 2))
    parts = [
        _Weightings.of(games, given[at : at + rows]).fitted(begin, groups)
        for at in range(0, len(given), rows)
    ]
    return Fit(
        np.concatenate([part.ratings for part in parts]),
        np.concatenate([part.seats for part in parts]),
        np.concatenate([part.draw for part in parts]),
        np.concatenate([part.regularized for part in parts]),
        groups,
    )


def _groups(games: Comparisons) -> Ints:
    """Return the number of the group of each policy, int (policies,), as described in :class:`Fit`."""
    won, drawn, lost = (each.sum(axis=0) > 0 for each in (games.wins, games.draws, games.losses))
    groups = groups_of(games.policies, games.met, won | drawn, lost | drawn)
    some = (won[:, None], drawn[:, None], lost[:, None])
    if not do_draws_hide(games.policies, games.met, *some)[0]:
        return groups
    behind = groups_behind_draws(games.policies, games.met, won, drawn, lost)
    both = np.unique(np.stack([groups, behind]), axis=1, return_inverse=True)[1]
    return np.asarray(both.ravel(), dtype=np.int64)


def _log(draw: Floats) -> Floats:
    """Return ``v`` of a fit, at least :data:`_LEAST_DRAW`; without draws, ``v`` is not used."""
    return np.log(np.maximum(draw, math.exp(_LEAST_DRAW)))


@dataclass(frozen=True)
class _Weightings:
    """Weightings of the same games that are fitted together, along the last axis.

    Attributes:
        games: The games.
        total: float (cells, b): number of games of two policies.
        ahead: float (cells, b): half of the first policy's wins minus losses.
        drawn: float (b,): number of drawn games.
        apart: bool (b,): ``regularized`` of :class:`Fit`.
    """

    games: Comparisons
    total: Floats
    ahead: Floats
    drawn: Floats
    apart: NDArray[np.bool_]

    @classmethod
    def of(cls, games: Comparisons, weights: Floats) -> _Weightings:
        """Sum up the results for each weighting; ``weights`` is float (b, units)."""
        win, draw, loss = (each.T @ weights.T for each in (games.wins, games.draws, games.losses))
        won, drawn, lost = (each > 0 for each in (win, draw, loss))
        apart = have_several_groups(games.policies, games.met, won | drawn, lost | drawn)
        apart |= do_draws_hide(games.policies, games.met, won, drawn, lost)
        return cls(games, win + draw + loss, (win - loss) / 2, draw.sum(axis=0), apart)

    def taken(self, at: Ints) -> _Weightings:
        """Return the weightings with the given indices."""
        return _Weightings(self.games, self.total[:, at], self.ahead[:, at], self.drawn[at], self.apart[at])

    def fitted(self, begin: Floats, groups: Ints) -> Fit:
        """Run Newton's method from ``begin``, float (parameters,), for each weighting until it converges."""
        n = self.games.policies
        beta: Floats = np.repeat(begin[:, None], len(self.drawn), axis=1)
        beta[-1] = np.where(self.drawn > 0, beta[-1], -np.inf)
        left, still = np.arange(len(self.drawn)), self
        for _ in range(_ITERATIONS):
            step = still.step(beta[:, left])
            moved = beta[:, left] + step
            moved[-1] = np.where(still.drawn > 0, np.clip(moved[-1], _LEAST_DRAW, _MOST_DRAW), -np.inf)
            beta[:, left] = moved
            goes_on = np.flatnonzero(np.abs(step).max(axis=0) >= _CLOSE)
            if not len(goes_on):
                break
            if len(goes_on) < len(left):
                left, still = left[goes_on], still.taken(goes_on)
        ratings, seats = beta[:n].T, beta[n:-1].T
        middle = largest(groups)
        ratings = ratings - ratings[:, middle if middle.any() else ~middle].mean(axis=1, keepdims=True)
        seats = seats - seats.mean(axis=1, keepdims=True)
        return Fit(ratings, seats, np.exp(beta[-1]), self.apart, groups)

    def step(self, beta: Floats) -> Floats:
        """Return the next step of each weighting from ``beta``, float (parameters, b)."""
        x, x_t, products = self.games.patterns
        size = len(beta)
        lean, level = _odds(x @ beta[:-1], beta[-1])
        expected = self.total * level
        gradient: Floats = x_t @ (self.ahead - self.total * lean)
        gradient[-1] = self.drawn - expected.sum(axis=0)
        hessian: Floats = (products @ (self.total * ((1 - level) / 4 - lean**2))).reshape(size, size, -1)
        cross: Floats = x_t @ (expected * -lean)
        hessian[-1] += cross
        hessian[:, -1] += cross
        hessian[-1, -1] = (expected * (1 - level)).sum(axis=0)
        self._penalise(beta, gradient, hessian)
        none_drawn = self.drawn == 0
        hessian[-1, -1, none_drawn] = 1.0
        gradient[-1, none_drawn] = 0.0
        step = np.linalg.solve(hessian.transpose(2, 0, 1), gradient.T[:, :, None])[:, :, 0].T
        longest = np.maximum(np.abs(step).max(axis=0), 1e-300)
        shortened: Floats = (step * np.minimum(1.0, _LONGEST_STEP / longest)).astype(np.float64)
        return shortened

    def _penalise(self, beta: Floats, gradient: Floats, hessian: Floats) -> None:
        """Change gradient and Hessian so that the likelihood has exactly one maximum.

        The means of ratings and of seats are fixed, and seats get a small penalty. If the ratings had no
        maximum, a drawn game against an average policy is added for each policy.
        """
        n, size = self.games.policies, len(beta)
        hessian[:n, :n] += np.where(self.apart, 0.0, 1.0)
        hessian[n:-1, n:-1] += 1.0
        hessian[range(size), range(size)] += 1e-9
        seats, policies = range(n, size - 1), range(n)
        gradient[n:-1] -= _SEAT_PENALTY * beta[n:-1]
        hessian[seats, seats] += _SEAT_PENALTY
        likely = 1 / (1 + np.exp(-np.clip(beta[:n], -500, 500)))
        gradient[:n] += np.where(self.apart, 0.5 - likely, 0.0)
        hessian[policies, policies] += np.where(self.apart, likely * (1 - likely), 0.0)


def _odds(d: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Return half of (probability of a win minus that of a loss), and the probability of a draw."""
    behind = np.exp(-np.abs(d) / 2)  # relative to a win of the policy that is ahead
    level = np.exp(v) * behind
    behind *= behind
    whole = 1 + level + behind
    return np.copysign((1 - behind) / (2 * whole), d), level / whole
