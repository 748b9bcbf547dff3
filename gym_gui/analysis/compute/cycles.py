"""Finds cycles among policies (A beats B, B beats C, C beats A), which no rating can show."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

MOST = 10
WRONG = 0.05
"""Largest expected number of cycles that chance produces in a pool of equal policies."""


def find_cycles(policies: Sequence[str], beaten: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return the cycles of certain wins: all cycles of three policies, else the shortest longer cycle.

    Args:
        policies: The pool; a cycle begins with the member that comes first in the pool.
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
    rings = [ring for name in policies if (ring := _shortest_cycle(name, loses)) is not None]
    return [min(rings, key=len)] if rings else []


def error_of_a_win(policies: int, usual: float) -> float:
    """Return the error rate of one comparison at which equal policies rarely form a cycle by chance.

    Args:
        policies: Number of policies; more policies can form more cycles.
        usual: Error rate for few policies.
    """
    error = usual
    while _expected(policies, error) > WRONG:
        error *= 0.9
    return error


def _expected(policies: int, error: float) -> float:
    """Return the expected number of chance cycles: for each length k, ``n (n - 1) … / k * error ** k``."""
    ways = np.cumprod(np.minimum(np.arange(policies, 0, -1)[:100] * error, 2.0))
    return float((ways / np.arange(1, len(ways) + 1))[2:].sum())


def _shortest_cycle(start: str, loses: Mapping[str, set[str]]) -> tuple[str, ...] | None:
    """Return the shortest cycle of certain wins that begins with a policy; ``None`` if there is none."""
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
