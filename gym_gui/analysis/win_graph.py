"""Who has taken points off whom, over however many others: ratings have limits where that connects all.

The likelihood of Bradley and Terry's model has a maximum where every policy is reached from every other one.

Source:
    Ford, "Solution of a Ranking Problem from Binary Comparisons", American Mathematical Monthly 64 (1957).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


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
    """Who is in the largest group: bool (policies,)."""
    return groups == np.bincount(groups).argmax()


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
