"""Random numbers of a program, from the episode's seed and the step, equal in Python and in Java."""

from __future__ import annotations

_GAMMA = 0x9E3779B97F4A7C15
_BITS = (1 << 64) - 1


class ProgramRandom:
    """SplitMix64 generator (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""

    def __init__(self) -> None:
        self._state = 0

    def seed(self, seed: int, step: int) -> None:
        """Start the sequence of random numbers for one decision.

        Args:
            seed: Seed of the episode.
            step: Step of the environment.
        """
        self._state = _mixed(_mixed(seed + _GAMMA) + step + _GAMMA)

    def random(self) -> float:
        """Return the next number, at least 0 and below 1."""
        self._state += _GAMMA
        return (_mixed(self._state) >> 11) * 2.0**-53


def _mixed(value: int) -> int:
    value &= _BITS
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _BITS
    return value ^ (value >> 31)
