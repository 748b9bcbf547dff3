"""Groups episodes into independent units: a seed counts as one observation, not an episode."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

Scope = Literal["seeds", "one seed", "identical"]
"""Range of validity of a sample: other seeds too, its only seed, or the one episode that it repeats."""


class Sample(NamedTuple):
    """Properties of an episode that show whether it is independent of another one.

    Attributes:
        seed: The environment's seed; ``None`` for an unseeded episode, which is independent of all others.
        round: Number shared by episodes of one seed that belong together (swapped seats).
        identity: Value that is equal for episodes that agree up to the last observation; ``None`` if unknown.
    """

    seed: int | None
    round: int
    identity: Hashable = None


class Units(NamedTuple):
    """Unit of each episode, numbered from 0 without gaps, and the sample's range of validity."""

    codes: list[int]
    scope: Scope

    @property
    def number(self) -> int:
        """Number of units."""
        return max(self.codes, default=-1) + 1


def units_of(samples: Sequence[Sample]) -> Units:
    """Group episodes into independent units; the same for an operator's mean, IQM, length and slots.

    Episodes that share a seed form one unit. If there is only one seed, its rounds are the
    units, and results hold for this seed only. If every round is the same up to the last
    observation (nothing is random, or the environment ignores its seed), all rounds are one
    unit, however many there are: repetitions have shown nothing new.
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
    """Return whether any two samples differ in identity, or the identity of one is unknown."""
    identities = {s.identity for s in samples}
    return None in identities or len(identities) > 1
