"""Finds policies that beat each other in a circle, which no rating can show."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

MOST = 10
WRONG = 0.05
"""Largest expected number of circles found by chance in a pool of equal policies."""


def find_cycles(policies: Sequence[str], beaten: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return circles of policies that surely beat each other: all circles of three, else the shortest one.

    Args:
        policies: The pool; a circle begins with the member that comes first in the pool.
        beaten: Winner and loser of each pair whose difference is certain.
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
    """Return the error rate of one comparison that keeps chance circles of equal policies rare.

    Args:
        policies: Number of policies; chance can close more circles among more policies.
        usual: Error rate for few policies.
    """
    error = usual
    while _expected(policies, error) > WRONG:
        error *= 0.9
    return error


def _expected(policies: int, error: float) -> float:
    """Return the expected number of chance circles: of length k, ``n (n - 1) … / k`` times ``error ** k``."""
    ways = np.cumprod(np.minimum(np.arange(policies, 0, -1)[:100] * error, 2.0))
    return float((ways / np.arange(1, len(ways) + 1))[2:].sum())


def _back_to(start: str, loses: Mapping[str, set[str]]) -> tuple[str, ...] | None:
    """Return the shortest circle from a policy back to it, over sure wins; ``None`` if there is none."""
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
