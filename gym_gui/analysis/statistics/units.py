"""Groups episodes into independent units, so that a seed counts as one observation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

Scope = Literal["seeds", "one seed", "identical"]
"""Range in which results of a sample hold: other seeds too, its only seed, or only its repeated episode."""


class Sample(NamedTuple):
    """Properties of an episode by which dependent episodes are recognized.

    Attributes:
        seed: The environment's seed; ``None`` for an unseeded episode, which is independent of all others.
        round: Number shared by episodes of one seed that belong together (swapped seats).
        identity: Value (such as a digest) that is equal for identical episodes; ``None`` if unknown.
    """

    seed: int | None
    round: int
    identity: Hashable = None


class Units(NamedTuple):
    """Number of each episode's unit, from 0 without gaps, and the range in which results hold."""

    codes: list[int]
    scope: Scope

    @property
    def number(self) -> int:
        """Number of units."""
        return max(self.codes, default=-1) + 1


def units_of(samples: Sequence[Sample]) -> Units:
    """Group episodes into independent units.

    Episodes that share a seed form one unit. If there is only one seed, its rounds are the
    units, and results hold for this seed only. If all rounds are identical (nothing is
    random, or the environment ignores its seed), all rounds together are one unit.
    """
    return _units_of(tuple(samples))


@lru_cache(maxsize=16)
def _units_of(samples: tuple[Sample, ...]) -> Units:
    seeds = {s.seed for s in samples}
    if len(seeds) == len(samples) > 1 and None not in seeds and _differ(samples):
        return Units(list(range(len(samples))), "seeds")
    rounds: dict[tuple[int | None, int], list[Hashable]] = {}
    for s in samples:
        rounds.setdefault((s.seed, s.round), []).append(s.identity)
    known = all(identity is not None for of_round in rounds.values() for identity in of_round)
    if len(rounds) > 1 and known and len({tuple(of_round) for of_round in rounds.values()}) == 1:
        return Units([0] * len(samples), "identical")
    alone = len(seeds) == 1 and None not in seeds
    keys: list[Hashable] = [(s.seed, s.round) if alone or s.seed is None else s.seed for s in samples]
    codes: dict[Hashable, int] = {}
    scope: Scope = "one seed" if alone and len(rounds) > 1 else "seeds"
    return Units([codes.setdefault(key, len(codes)) for key in keys], scope)


def _differ(samples: Sequence[Sample]) -> bool:
    """Return whether two samples differ in identity, or an identity is unknown."""
    identities = {s.identity for s in samples}
    return None in identities or len(identities) > 1
