"""Policies that beat each other in a circle, which no rating can show."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

MOST = 10
WRONG = 0.05
"""How often, at most, a pool of equals may be said to have a circle."""


def find_cycles(policies: Sequence[str], beaten: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Circles of policies that surely beat each other: all circles of three; where none exist, the shortest.

    Args:
        policies: The pool; a circle begins with the member that comes first in the pool.
        beaten: Winner and loser of each two whose difference lies beyond the interval.
    """
    loses: dict[str, set[str]] = {name: set() for name in policies}
    for winner, loser in beaten:
        loses[winner].add(loser)
    threes = [
        found
        for a, b, c in combinations(policies, 3)
        for found in ((a, b, c), (a, c, b))
        if found[1] in loses[found[0]] and found[2] in loses[found[1]] and found[0] in loses[found[2]]
    ]
    if threes:
        return threes
    rings = [ring for name in policies if (ring := _back_to(name, loses)) is not None]
    return [min(rings, key=len)] if rings else []


def error_of_a_win(policies: int, usual: float) -> float:
    """How often an equal may be called better, so that circles among so many equals are rare.

    Args:
        policies: How many there are; the more, the more circles there are that chance could close.
        usual: What it is where they are few.
    """
    error = usual
    while _expected(policies, error) > WRONG:
        error *= 0.9
    return error


def _expected(policies: int, error: float) -> float:
    """How many circles chance closes: n (n - 1) … / k are of k, each ``error ** k`` probable."""
    ways = np.cumprod(np.minimum(np.arange(policies, 0, -1)[:100] * error, 2.0))
    return float((ways / np.arange(1, len(ways) + 1))[2:].sum())


def _back_to(start: str, loses: Mapping[str, set[str]]) -> tuple[str, ...] | None:
    """The shortest way from a policy over those that each surely beats back to it."""
    ways: deque[tuple[str, ...]] = deque([(start,)])
    seen: set[str] = set()
    while ways:
        way = ways.popleft()
        for name in sorted(loses[way[-1]]):
            if name == start:
                return way
            if name not in seen:
                seen.add(name)
                ways.append((*way, name))
    return None
