"""The graph of which policy took points off which: ratings have limits where its paths connect all policies.

The likelihood of Bradley and Terry's model has a maximum where every policy is reached from every other one.
Davidson's model also estimates how usual draws are, and needs more: where no policy lost to one that it has
beaten, ever larger rating differences may explain the wins, and ever more usual draws the draws among these
policies.

Source:
    Ford, "Solution of a Ranking Problem from Binary Comparisons", American Mathematical Monthly 64 (1957).
    Albert & Anderson, "On the Existence of Maximum Likelihood Estimates in Logistic Regression Models",
    Biometrika 71 (1984): along which directions a likelihood never falls.
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
    """Policies that have taken points off each other, in both directions: int (policies,), a number each.

    Args:
        policies: How many there are.
        met: int (cells, 2): two that met.
        took: bool (cells,): the first has taken points off the second.
        gave: bool (cells,): the second off the first.
    """
    tails = np.concatenate([met[took, 0], met[gave, 1]])
    heads = np.concatenate([met[took, 1], met[gave, 0]])
    graph = sparse.csr_matrix((np.ones(len(tails)), (tails, heads)), shape=(policies, policies))
    _, labels = connected_components(graph, directed=True, connection="strong")
    return labels.astype(np.int64)


def largest(groups: Ints) -> Bools:
    """Which policies are in the largest group: bool (policies,); all false where no group has two members."""
    sizes = np.bincount(groups)
    return (groups == sizes.argmax()) & (sizes.max() > 1)


def are_apart(policies: int, met: Ints, took: Bools, gave: Bools) -> Bools:
    """Whether :func:`groups_of` would find more than one, of many sets of games at once: bool (b,).

    Args:
        policies: How many there are.
        met: int (cells, 2): two that met.
        took: bool (cells, b): the first has taken points off the second.
        gave: bool (cells, b): the second off the first.
    """
    tails, heads = np.concatenate([met, met[:, ::-1]]).T
    edges = np.concatenate([took, gave])
    return ~(_all_reached(policies, tails, heads, edges) & _all_reached(policies, heads, tails, edges))


def _all_reached(policies: int, tails: Ints, heads: Ints, edges: Bools) -> Bools:
    """Whether the first policy leads to all others, along the edges (edges, b) that there are."""
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
    """Whether ratings may grow apart without limit while draws grow more usual, in many sets of games.

    Args:
        policies: How many there are.
        met: int (cells, 2): two that met.
        won: bool (cells, b): the first has won some game.
        drawn: bool (cells, b): some game was drawn.
        lost: bool (cells, b): the second has won some game.

    Returns:
        bool (b,).
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
    """Policies whose ratings stay together where those of others grow apart: int (policies,), a number each.

    Args:
        policies: How many there are.
        met: int (cells, 2): two that met.
        won: bool (cells,): see :func:`do_draws_hide`, which is true of these games.
        drawn: Likewise.
        lost: Likewise.
    """
    pairs, kinds = _by_pair(policies, met, *(each[:, None] for each in (won, drawn, lost)))
    distances = _distances(policies, pairs, kinds[:, 0])
    assert distances is not None
    together = (distances == 0) & (distances.T == 0)
    return np.asarray(together.argmax(axis=1), dtype=np.int64)


def _by_pair(
    policies: int, met: Ints, won: Bools, drawn: Bools, lost: Bools
) -> tuple[Ints, NDArray[np.int8]]:
    """Each two policies that met, int (pairs, 2), and their kinds of results in any seats, (pairs, b)."""
    turned = met[:, 0] > met[:, 1]
    keys, at = np.unique(met.min(axis=1) * policies + met.max(axis=1), return_inverse=True)
    first, second = (np.where(turned[:, None], other, mine) for mine, other in ((won, lost), (lost, won)))
    of_cell = first * np.int8(_WON) | second * np.int8(_LOST) | drawn * np.int8(_DRAWN)
    order = np.argsort(at.ravel(), kind="stable")
    begins = np.searchsorted(at.ravel()[order], np.arange(len(keys)))
    kinds = np.bitwise_or.reduceat(of_cell[order], begins, axis=0)
    return np.stack([keys // policies, keys % policies], axis=1), kinds


def _distances(policies: int, pairs: Ints, kinds: NDArray[np.int8]) -> NDArray[np.float64] | None:
    """How far ratings may come apart for each step by which draws grow more usual, (policies, policies).

    Who has won only comes ahead by a step at least, who has won and drawn by a step exactly, and who has
    drawn only by a step at most.

    Returns:
        From the row to the column, the most by which the column may come ahead; ``None``: there is no way.
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
