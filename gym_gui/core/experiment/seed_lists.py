"""Reads and writes seeds: a list, a range, or one integer to count up from."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, cast

from gym_gui.core.validation import ConfigError, Plain, integer, sequence, shown, under

MAX_EPISODES: Final = 1_000_000
MAX_SEED: Final = 2**63 - 1
"""Largest accepted seed, so that it fits a signed 64-bit column everywhere."""
_MOST_LISTED: Final = 1000
"""Largest number of consecutive seeds that is written as a list; more are written as a range."""
_RANGE_TEXT: Final = re.compile(
    r"\s*range\(\s*(-?\d{1,19})\s*(?:,\s*(-?\d{1,19})\s*)?(?:,\s*(-?\d{1,19})\s*)?\)\s*"
)


class _Listable(Protocol):
    def tolist(self) -> object: ...


def given_seeds(seeds: Iterable[int] | int | str | None) -> tuple[int, ...]:
    """Check seeds and return them.

    A single integer is returned unchanged; :func:`resolved_seeds` makes a list of it.

    Raises:
        ConfigError: The seeds are not a list, a range or an integer, or are out of range.
    """
    return cast("tuple[int, ...]", _listed(seeds))


def resolved_seeds(
    episodes: int | None, seeds: tuple[int, ...] | int, mode: str
) -> tuple[int, tuple[int, ...]]:
    """Return the number of episodes, and the seeds in the order in which they are used.

    Args:
        episodes: Number of episodes; ``None``: one per seed in a list, else 1.
        seeds: Result of :func:`given_seeds`.
        mode: ``procedural``, or ``fixed``, which repeats the first seed.

    Raises:
        ConfigError: There are no seeds, or they exceed :data:`MAX_SEED`.
    """
    if isinstance(seeds, tuple):
        if not seeds:
            raise ConfigError("must not be empty", where="seeds")
        count = len(seeds) if episodes is None else episodes
        return count, (seeds[0],) * count if mode == "fixed" else seeds
    count = episodes or 1
    if mode == "fixed":
        return count, (seeds,) * count
    if seeds + count - 1 > MAX_SEED:
        raise ConfigError(f"{count} seeds from {seeds} on exceed {MAX_SEED}", where="seeds")
    return count, tuple(range(seeds, seeds + count))


def read_seeds(written: object) -> tuple[int, ...]:
    """Read the seeds of a record: a list, or a range as text.

    Raises:
        ConfigError: The record has neither.
    """
    with under("seeds"):
        seeds = _listed(written)
        if not isinstance(seeds, tuple):
            raise ConfigError(f"cannot be read: {shown(written)}", fix="Write a list or a range")
    return seeds


def written_seeds(seeds: Sequence[int]) -> Plain:
    """Return seeds in the form of records; the record of each part of a divided run contains all seeds."""
    in_a_row = range(seeds[0], seeds[0] + len(seeds)) if seeds else range(0)
    if len(seeds) > _MOST_LISTED and all(map(operator.eq, seeds, in_a_row)):
        return f"range({in_a_row.start}, {in_a_row.stop})"
    return list(seeds)


def _listed(seeds: object) -> tuple[int, ...] | int:
    """Return seeds as a tuple, or the one integer to count up from."""
    if seeds is None:
        return 0
    if isinstance(seeds, str):  # YAML and JSON have no range
        seeds = _parse_range(seeds)
    if isinstance(seeds, range):
        return _range_seeds(seeds)
    if hasattr(seeds, "tolist"):  # numpy's arrays and numbers
        seeds = cast("_Listable", seeds).tolist()
    if not isinstance(seeds, Sequence):
        return _seed(seeds, "")
    items = sequence(cast(object, seeds), "")
    if len(items) > MAX_EPISODES:
        raise ConfigError(f"at most {MAX_EPISODES} seeds are allowed, {len(items)} are given")
    return tuple(_seed(item, f"[{i}]") for i, item in enumerate(items))


def _seed(value: object, where: str) -> int:
    return integer(value, where, low=0, high=MAX_SEED)


def _parse_range(written: str) -> range:
    match = _RANGE_TEXT.fullmatch(written)
    if match is None or (match[3] is not None and int(match[3]) == 0):
        raise ConfigError(
            f"cannot be read: {shown(written)}",
            fix="Write a list, 'range(1000, 1010)', or one integer",
        )
    return range(*(int(part) for part in match.groups() if part is not None))


def _range_seeds(seeds: range) -> tuple[int, ...]:
    if not seeds:
        return ()
    _seed(seeds[0], "[0]")
    _seed(seeds[-1], "[-1]")
    # len() of a range beyond sys.maxsize raises OverflowError.
    if abs(seeds[-1] - seeds[0]) // abs(seeds.step) >= MAX_EPISODES:
        raise ConfigError(f"at most {MAX_EPISODES} seeds are allowed")
    return tuple(seeds)
