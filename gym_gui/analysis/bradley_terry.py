"""Ratings from games with draws and seats, by maximum likelihood.

The model is Bradley and Terry's with Davidson's draws and Davidson and Beaver's order effect. Of two that
meet, the first in seat s and the second in seat t, with ``d = (r_1 + e_s) - (r_2 + e_t)``:

    win : draw : loss  =  exp(d / 2) : exp(v) : exp(-d / 2)

``r`` is a rating on the natural scale, ``e`` what a seat is worth and ``v`` how usual draws are. A game of
more than two sides counts as one comparison of each two of them (a composite likelihood).

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
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ELO = 400 / math.log(10)
"""Points of a rating on the natural scale: 400 are odds of ten to one."""
_ITERATIONS = 60
_CLOSE = 1e-8
_LONGEST_STEP = 2.0
_SEAT_PENALTY = 0.01
"""Keeps what a seat is worth finite where its holder has always won; next to nothing beside a few games."""
_LEAST_DRAW, _MOST_DRAW = -12.0, 12.0
_CHUNK = 1 << 22
"""Numbers in the largest array of a fit."""


@dataclass(frozen=True)
class Comparisons:
    """Results of two at a time, gathered in cells: the same two in the same seats.

    Attributes:
        policies: How many there are.
        seats: How many seats there are.
        cells: int (cells, 4): first policy, its seat, second policy, its seat.
        seeds: How many units are seeds; others are games that are the same on every seed.
        wins: float (units, cells): how often the first won, by the unit in which it did.
        draws: The same of draws.
        losses: The same of losses.
    """

    policies: int
    seats: int
    cells: Ints
    seeds: int
    wins: Floats
    draws: Floats
    losses: Floats

    @cached_property
    def patterns(self) -> tuple[Any, Any]:
        """Sparse (cells, parameters) matrix of ``d``, and (cells, parameters squared) of its products."""
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
        return x, xx


@dataclass(frozen=True)
class Fit:
    """A fit of one or many weightings of the same games, ``b`` of them.

    Attributes:
        ratings: float (b, policies), natural scale; those of the largest group that wins connect in both
            directions have mean 0.
        seats: float (b, seats), natural scale, mean 0.
        draw: float (b,): ``exp(v)``, draws for one win among equals; 0 where there was none.
        regularised: bool (b,): whether each policy was given a drawn game with an average one, since wins do
            not connect all of them in both directions and the likelihood has no maximum.
        groups: int (policies,): in all games together, the group of policies that wins connect, by number.
    """

    ratings: Floats
    seats: Floats
    draw: Floats
    regularised: NDArray[np.bool_]
    groups: Ints


def fit(games: Comparisons, weights: Floats | None = None) -> Fit:
    """Fit the model.

    Args:
        games: The results.
        weights: float (b, units): how often each unit counts; every one once by default.
    """
    whole = np.ones((1, len(games.wins)))
    groups = _groups(games, *((whole @ each)[0] for each in (games.wins, games.draws, games.losses)))
    given = whole if weights is None else weights
    rows = max(1, _CHUNK // max(len(games.cells), (games.policies + games.seats + 1) ** 2))
    parts = [_fit(games, given[at : at + rows], largest(groups)) for at in range(0, len(given), rows)]
    return Fit(
        np.concatenate([part.ratings for part in parts]),
        np.concatenate([part.seats for part in parts]),
        np.concatenate([part.draw for part in parts]),
        np.concatenate([part.regularised for part in parts]),
        groups,
    )


def _fit(games: Comparisons, weights: Floats, anchors: NDArray[np.bool_]) -> Fit:
    n, size = games.policies, games.policies + games.seats + 1
    win, draw, loss = weights @ games.wins, weights @ games.draws, weights @ games.losses
    total, ahead = win + draw + loss, (win - loss) / 2
    x, xx = games.patterns
    apart = np.array([_groups(games, *each).max() > 0 for each in zip(win, draw, loss, strict=True)])
    drawn = draw.sum(axis=1)
    some_drawn = drawn > 0
    beta = np.zeros((len(weights), size))
    beta[:, -1] = np.where(some_drawn, 0.0, -np.inf)
    gauge = np.zeros((size, size))
    gauge[:n, :n] = gauge[n:-1, n:-1] = 1.0
    for _ in range(_ITERATIONS):
        d = (x[:, :-1] @ beta[:, :-1].T).T
        up, down, level = _odds(d, beta[:, -1:])
        lean = (up - down) / 2
        gradient: Floats = (x.T @ (ahead - total * lean).T).T
        gradient[:, -1] = drawn - (total * level).sum(axis=1)
        w_dd = total * ((up + down) / 4 - lean**2)
        hessian: Floats = (xx.T @ w_dd.T).T.reshape(-1, size, size)
        cross: Floats = (x.T @ (-total * level * lean).T).T
        hessian[:, -1, :] += cross
        hessian[:, :, -1] += cross
        hessian[:, -1, -1] = (total * level * (1 - level)).sum(axis=1)
        _penalise(beta, gradient, hessian, n, apart)
        hessian += gauge + 1e-9 * np.eye(size)
        hessian[~some_drawn, -1, -1] = 1.0
        gradient[~some_drawn, -1] = 0.0
        step: Floats = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0].astype(np.float64)
        longest: Floats = np.abs(step).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300))
        beta[:, :-1] += step[:, :-1]
        moved: Floats = np.clip(beta[some_drawn, -1] + step[some_drawn, -1], _LEAST_DRAW, _MOST_DRAW)
        beta[some_drawn, -1] = moved
        if longest.max() < _CLOSE:
            break
    ratings, seats = beta[:, :n], beta[:, n:-1]
    ratings = ratings - ratings[:, anchors].mean(axis=1, keepdims=True)
    seats = seats - seats.mean(axis=1, keepdims=True)
    return Fit(ratings, seats, np.exp(beta[:, -1]), apart, np.zeros(n, np.int64))


def _odds(d: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of wins, losses and draws."""
    top = np.maximum(np.abs(d) / 2, v)
    up, down, level = np.exp(d / 2 - top), np.exp(-d / 2 - top), np.exp(v - top)
    whole = up + down + level
    return up / whole, down / whole, level / whole


def _penalise(beta: Floats, gradient: Floats, hessian: Floats, n: int, apart: NDArray[np.bool_]) -> None:
    """A faint pull on seats, and a drawn game with an average policy where ratings had no maximum."""
    seats = list(range(n, beta.shape[1] - 1))
    gradient[:, seats] -= _SEAT_PENALTY * beta[:, seats]
    hessian[:, seats, seats] += _SEAT_PENALTY
    likely = 1 / (1 + np.exp(-np.clip(beta[:, :n], -500, 500)))
    policies = np.arange(n)
    gradient[:, :n] += np.where(apart[:, None], 0.5 - likely, 0.0)
    hessian[:, policies, policies] += np.where(apart[:, None], likely * (1 - likely), 0.0)


def _groups(games: Comparisons, win: Floats, draw: Floats, loss: Floats) -> Ints:
    """Policies that have taken points off each other, in both directions, over however many others.

    The likelihood has a maximum where that is all of them (Ford 1957).
    """
    first, second = games.cells[:, 0], games.cells[:, 2]
    took, gave = win + draw > 0, loss + draw > 0
    tails = np.concatenate([first[took], second[gave]])
    heads = np.concatenate([second[took], first[gave]])
    graph = sparse.csr_matrix((np.ones(len(tails)), (tails, heads)), shape=(games.policies, games.policies))
    _, labels = connected_components(graph, directed=True, connection="strong")
    return labels.astype(np.int64)


def largest(groups: Ints) -> NDArray[np.bool_]:
    """Who is in the largest group."""
    return groups == np.bincount(groups).argmax()
