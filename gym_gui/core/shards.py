"""Parts of an experiment that need nothing from each other, cut in the same way wherever they are played."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.core.record_fields import count, integers, mapping
from gym_gui.core.validation import shown

SHARD: Final = "shard"
"""Key of ``run.json``: which part of an experiment the run is, where it is one."""
SHARDS: Final = "shards"
"""Key of ``run.json``: the parts that a run was merged of."""
MOST_SHARDS: Final = 1_000_000

_WRITTEN = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Scheduled:
    """How much of an experiment is an operator's.

    Attributes:
        operator_id: The operator.
        episodes: Its episodes, 0 to this.
        seatings: How many of them in a row have one seed.
    """

    operator_id: str
    episodes: int
    seatings: int = 1

    @property
    def seeds(self) -> int:
        """Seeds that it plays, the last perhaps not in every seating."""
        return -(-self.episodes // self.seatings)


@dataclass(frozen=True, order=True, slots=True)
class Shard:
    """One part of an experiment.

    Attributes:
        number: Which, from 1.
        of: How many there are.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, written: str) -> Shard:
        """A shard as a person writes it: ``3/64``.

        Raises:
            UsageError: It is none.
        """
        match = _WRITTEN.fullmatch(written.strip())
        if match is None:
            raise UsageError(f"--shard {shown(written)} is no part of a whole", fix="Write such as 3/64")
        number, of = int(match[1]), int(match[2])
        if not 1 <= of <= MOST_SHARDS:
            raise UsageError(
                f"--shard {number}/{of}: an experiment is cut into 1 to {MOST_SHARDS:,} parts, not {of:,}",
                fix="Write such as 3/64",
            )
        if not 1 <= number <= of:
            raise UsageError(
                f"--shard {number}/{of}: there is no such part", fix=f"Parts count from 1/{of} to {of}/{of}"
            )
        return cls(number, of)

    @classmethod
    def of_run(cls, header: Mapping[str, Any]) -> Shard | None:
        """Which part a run is, from ``run.json``; ``None`` where it is a run of its own."""
        about = mapping(header.get(SHARD)) or {}
        number, of = count(about.get("number")), count(about.get("of"))
        return cls(number, of) if number and of and number <= of <= MOST_SHARDS else None

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def words(self) -> str:
        """What it is, within a sentence."""
        return f"shard {self.number} of {self.of}"

    def episodes(self, scheduled: Sequence[Scheduled]) -> dict[str, range]:
        """The episodes of this part, by operator; operators without any are not in it.

        Parts are stretches of all episodes, operator after operator: so each has few of them, starts few
        session processes and loads few policies. (Each operator more costs about half of what a part with
        one costs before its first step.) A seed stays with all its seatings in one part, unless there are
        more parts than seeds. Parts differ by one seed, or by one episode; there may be empty ones.

        Args:
            scheduled: Operators in the experiment's order.
        """
        total = sum(each.episodes for each in scheduled)
        whole = sum(each.seeds for each in scheduled) >= self.of
        found: dict[str, range] = {}
        before = 0
        for each in scheduled:
            size = each.seatings if whole else 1
            first = self._first_from(self.number, before, each.episodes, size, total)
            end = self._first_from(self.number + 1, before, each.episodes, size, total)
            if first < end:
                found[each.operator_id] = range(first, end)
            before += each.episodes
        return found

    def _first_from(self, number: int, before: int, episodes: int, size: int, total: int) -> int:
        """The first of an operator's episodes that is of this part or a later one."""

        def part_of(unit: int) -> int:
            first, end = unit * size, min((unit + 1) * size, episodes)
            # Where the middle of what stays together lies among all episodes.
            return (2 * before + first + end) * self.of // (2 * total) + 1

        units = range(-(-episodes // size))
        return min(bisect_left(units, number, key=part_of) * size, episodes)


def episodes_of(header: Mapping[str, Any]) -> dict[str, tuple[int, ...]] | None:
    """The episodes of a shard by operator, from ``run.json``; ``None`` where the run is none."""
    about = mapping(header.get(SHARD))
    if about is None:
        return None
    listed = mapping(about.get("episodes")) or {}
    return {operator: tuple(integers(of) or ()) for operator, of in listed.items()}
