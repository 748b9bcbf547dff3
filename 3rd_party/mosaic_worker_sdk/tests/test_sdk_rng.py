"""Random numbers depend on their key and on nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mosaic_worker.rng import bits, uniform

WORDS = st.integers(0, 2**64 - 1)
STEPS = st.integers(0, 2**32 - 1)


def splitmix(z: int) -> int:
    """The finaliser of SplitMix64, in Python's own integers."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def reference(seed: int, step: int, stream: int) -> int:
    gamma = 0x9E3779B97F4A7C15
    key = splitmix((seed + gamma) % 2**64)
    key = splitmix((key + (step + 1) * gamma) % 2**64)
    return splitmix((key + stream * 0xBF58476D1CE4E5B9) % 2**64) if stream else key


@given(WORDS, STEPS, st.integers(0, 2**16))
def test_bits_are_those_of_the_definition(seed: int, step: int, stream: int) -> None:
    assert int(bits(seed, step, stream)[0]) == reference(seed, step, stream)


@given(st.lists(st.tuples(WORDS, STEPS), min_size=1, max_size=8))
def test_company_does_not_matter(keys: list[tuple[int, int]]) -> None:
    seeds, steps = (list(column) for column in zip(*keys))
    together = uniform(np.array(seeds, np.uint64), steps)
    alone = [uniform(seed, step)[0] for seed, step in keys]
    assert together.tolist() == alone
    assert ((together >= 0) & (together < 1)).all()


def test_known_values_never_change() -> None:
    """Recorded runs repeat only as long as these stay."""
    assert bits([0, 1, 2**64 - 1], [0, 5, 9]).tolist() == [
        reference(0, 0, 0),
        reference(1, 5, 0),
        reference(2**64 - 1, 9, 0),
    ]
    assert uniform(42, 7)[0] == (reference(42, 7, 0) >> 11) / 2**53


def test_draws_are_spread_evenly_and_streams_are_apart() -> None:
    seeds = np.arange(20_000)
    one, other = uniform(seeds, 3), uniform(seeds, 3, stream=1)
    for drawn in (one, other, uniform(7, seeds)):
        counts = np.histogram(drawn, bins=20, range=(0, 1))[0]
        assert ((counts - 1000) ** 2 / 1000).sum() < 60  # chi-square, 19 degrees of freedom: p < 1e-5
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
