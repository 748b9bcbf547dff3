"""Analyzes the graph of points between policies, to determine whether ratings have a maximum likelihood.

The likelihood of Bradley and Terry's model has a maximum if every policy is reachable from every other one.
Davidson's model, which also estimates the frequency of draws, needs more: if no policy lost to one that it
has beaten, the likelihood may grow without limit, with ever larger differences of ratings and ever more
draws.

Source:
    Ford, "Solution of a Ranking Problem from Binary Comparisons", American Mathematical Monthly 64 (1957).
    Albert & Anderson, "On the Existence of Maximum Likelihood Estimates in Logistic Regression Models",
    Biometrika 71 (1984): directions along which a likelihood never falls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import NegativeCycleError, connected_components, floyd_warshall

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_WON, _LOST, _DRAWN = 1, 2, 4


def groups_of(policies: int, met: Ints, took: Bools, gave: Bools) -> Ints:
    """Return groups of policies that have won points from each other, directly or indirectly, both ways.

    Args:
        policies: Number of policies.
        met: int (cells, 2): two policies that met.
        took: bool (cells,): whether the first won points against the second.
        gave: bool (cells,): whether the second won points against the first.

    Returns:
        int (policies,): number of each policy's group.
    """
    tails = np.concatenate([met[took, 0], met[gave, 1]])
    heads = np.concatenate([met[took, 1], met[gave, 0]])
    graph = sparse.csr_matrix((np.ones(len(tails)), (tails, heads)), shape=(policies, policies))
    _, labels = connected_components(graph, directed=True, connection="strong")
    return labels.astype(np.int64)


def largest(groups: Ints) -> Bools:
    """Return which policies are in the largest group, bool (policies,); all false if no group has two."""
    sizes = np.bincount(groups)
    return (groups == sizes.argmax()) & (sizes.max() > 1)


def have_several_groups(policies: int, met: Ints, took: Bools, gave: Bools) -> Bools:
    """Return whether :func:`groups_of` would return several groups, bool (b,), for many sets of games.

    Args:
        policies: Number of policies.
        met: int (cells, 2): two policies that met.
        took: bool (cells, b): whether the first won points against the second.
        gave: bool (cells, b): whether the second won points against the first.
    """
    tails, heads = np.concatenate([met, met[:, ::-1]]).T
    edges = np.concatenate([took, gave])
    return ~(_all_reached(policies, tails, heads, edges) & _all_reached(policies, heads, tails, edges))


def _all_reached(policies: int, tails: Ints, heads: Ints, edges: Bools) -> Bools:
    """Return whether all policies are reachable from the first one, bool (b,); ``edges`` is (edges, b)."""
    order = np.argsort(heads, kind="stable")
    tails, edges = tails[order], edges[order]
    ends, begins = np.unique(heads[order], return_index=True)
    reached = np.zeros((policies, edges.shape[1]), np.bool_)
    reached[0] = True
    number = -1
    while number < (number := int(reached.sum())):
        reached[ends] |= np.logical_or.reduceat(reached[tails] & edges, begins, axis=0)
    return np.asarray(reached.all(axis=0))


def do_draws_hide(policies: int, met: Ints, won: Bools, drawn: Bools, lost: Bools) -> Bools:
    """Return whether the likelihood grows without limit if ratings diverge and draws become more frequent.

    Args:
        policies: Number of policies.
        met: int (cells, 2): two policies that met.
        won: bool (cells, b): whether the first won a game.
        drawn: bool (cells, b): whether a game was drawn.
        lost: bool (cells, b): whether the second won a game.

    Returns:
        bool (b,), for each of many sets of games.
    """
    pairs, kinds = _by_pair(policies, met, won, drawn, lost)
    decided = kinds & (_WON | _LOST)
    mutual = (decided == (_WON | _LOST)).any(axis=0)
    maybe = np.flatnonzero(~mutual & decided.any(axis=0) & (kinds & _DRAWN).any(axis=0))
    found = np.zeros(kinds.shape[1], np.bool_)
    if len(maybe):
        known, which = np.unique(kinds[:, maybe], axis=1, return_inverse=True)
        room = [_distances(policies, pairs, each) is not None for each in known.T]
        found[maybe] = np.array(room)[which.ravel()]
    return found


def groups_behind_draws(policies: int, met: Ints, won: Bools, drawn: Bools, lost: Bools) -> Ints:
    """Return groups of policies whose ratings stay close if other ratings diverge (:func:`do_draws_hide`).

    Args:
        policies: Number of policies.
        met: int (cells, 2): two policies that met.
        won: bool (cells,): as in :func:`do_draws_hide`, which must be true of these games.
        drawn: bool (cells,): as in :func:`do_draws_hide`.
        lost: bool (cells,): as in :func:`do_draws_hide`.

    Returns:
        int (policies,): number of each policy's group.
    """
    pairs, kinds = _by_pair(policies, met, *(each[:, None] for each in (won, drawn, lost)))
    distances = _distances(policies, pairs, kinds[:, 0])
    assert distances is not None
    together = (distances == 0) & (distances.T == 0)
    return np.asarray(together.argmax(axis=1), dtype=np.int64)


def _by_pair(
    policies: int, met: Ints, won: Bools, drawn: Bools, lost: Bools
) -> tuple[Ints, NDArray[np.int8]]:
    """Return the pairs that met, int (pairs, 2), and bit masks of their kinds of results, int (pairs, b)."""
    turned = met[:, 0] > met[:, 1]
    keys, at = np.unique(met.min(axis=1) * policies + met.max(axis=1), return_inverse=True)
    first, second = (np.where(turned[:, None], other, mine) for mine, other in ((won, lost), (lost, won)))
    of_cell = first * np.int8(_WON) | second * np.int8(_LOST) | drawn * np.int8(_DRAWN)
    order = np.argsort(at.ravel(), kind="stable")
    begins = np.searchsorted(at.ravel()[order], np.arange(len(keys)))
    kinds = np.bitwise_or.reduceat(of_cell[order], begins, axis=0)
    return np.stack([keys // policies, keys % policies], axis=1), kinds


def _distances(policies: int, pairs: Ints, kinds: NDArray[np.int8]) -> NDArray[np.float64] | None:
    """Return the largest possible differences of ratings if draws become one step more frequent.

    A policy that only won against another one must lead by at least one step, one that won and drew by
    exactly one step, and one that only drew by at most one step.

    Returns:
        float (policies, policies): largest lead of the column over the row; ``None`` if no ratings fit.
    """
    most = np.full((policies, policies), np.inf)
    np.fill_diagonal(most, 0.0)
    a, b = pairs.T
    for ahead, behind, wins, losses in ((a, b, _WON, _LOST), (b, a, _LOST, _WON)):
        won, level = (kinds & wins) > 0, ((kinds & _DRAWN) > 0) & ((kinds & losses) == 0)
        most[behind[level], ahead[level]] = 1.0
        most[ahead[won], behind[won]] = -1.0
    try:
        return np.asarray(floyd_warshall(most), dtype=np.float64)
    except NegativeCycleError:
        return None
