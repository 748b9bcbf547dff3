"""Divides an experiment into independent parts (shards), in the same way on every machine."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.core.record_fields import count, integers, mapping
from gym_gui.core.validation import shown

if TYPE_CHECKING:
    from gym_gui.core.experiment.execution import ExecutionConfig

SHARD: Final = "shard"
"""Key of ``run.json`` for the shard that the run is, if it is one."""
SHARDS: Final = "shards"
"""Key of ``run.json`` for the shards from which a run was merged."""
BY_SEEDS: Final = "by_seeds"
"""Key of a shard's entry: whether the shard plays the same seeds for all operators."""
MOST_SHARDS: Final = 1_000_000
COORDINATED: Final = "MOSAIC_COORDINATED"
"""Environment variable of a coordinated shard: the folder in which the shard and its coordinator write."""
PLAYED_AT_ONCE: Final = "MOSAIC_PLAYED_AT_ONCE"
"""Environment variable of a coordinated shard: number of shards that are played at the same time and divide
the limits per minute between them."""
HAND: Final = "MOSAIC_HAND"
"""Environment variable of a process that plays several shards: each shard with the number of its attempt."""

_WRITTEN = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True, slots=True)
class ScheduledEpisodes:
    """The episodes of one operator in an experiment.

    Attributes:
        operator_id: The operator.
        episodes: Number of its episodes.
        seatings: Number of consecutive episodes that share a seed.
        looks: For ``until: decided``: number of episodes played before each evaluation.
        by_seeds: Whether a shard plays the same seeds for all operators.
    """

    operator_id: str
    episodes: int
    seatings: int = 1
    looks: tuple[int, ...] = ()
    by_seeds: bool = False

    @property
    def seeds(self) -> int:
        """Number of seeds that the operator plays. The last seed may lack some of its seatings."""
        return -(-self.episodes // self.seatings)


@dataclass(frozen=True, order=True, slots=True)
class Shard:
    """One of the parts into which an experiment is divided.

    Attributes:
        number: Number of the part, from 1.
        of: Number of parts.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, written: str) -> Shard:
        """Read a shard in the form ``3/64``.

        Raises:
            UsageError: The text is not a shard.
        """
        match = _WRITTEN.fullmatch(written.strip())
        if match is None:
            raise UsageError(f"--shard {shown(written)} is not a shard", fix="Write for example 3/64")
        number, of = int(match[1]), int(match[2])
        if not 1 <= of <= MOST_SHARDS:
            raise UsageError(
                f"--shard {number}/{of}: an experiment is cut into 1 to {MOST_SHARDS:,} shards, not {of:,}",
                fix="Write for example 3/64",
            )
        if not 1 <= number <= of:
            raise UsageError(
                f"--shard {number}/{of}: there is no such shard",
                fix=f"Shards are numbered from 1/{of} to {of}/{of}",
            )
        return cls(number, of)

    @classmethod
    def parse_all(cls, written: str) -> list[Shard]:
        """Read shards in the forms ``3/64``, ``1-16/64`` and ``3,7-9/64``.

        Returns:
            The shards, each once, sorted.

        Raises:
            UsageError: A part of the text is not a shard.
        """
        listed, _, of = "".join(written.split()).partition("/")
        found: set[Shard] = set()
        for each in listed.split(","):
            ends = [cls.parse(f"{end}/{of}") for end in each.split("-")]
            if len(ends) > 2 or ends[-1] < ends[0]:
                raise UsageError(
                    f"--shard {shown(written)} is not a list of shards", fix="Write for example 1-16/64"
                )
            found.update(cls(number, ends[0].of) for number in range(ends[0].number, ends[-1].number + 1))
        return sorted(found)

    @classmethod
    def of_run(cls, header: Mapping[str, Any]) -> Shard | None:
        """Return the shard that a run is, from ``run.json``; ``None`` if the run is not a shard."""
        about = mapping(header.get(SHARD)) or {}
        number, of = count(about.get("number")), count(about.get("of"))
        return cls(number, of) if number and of and number <= of <= MOST_SHARDS else None

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def words(self) -> str:
        """The shard within a sentence: ``shard 3 of 64``."""
        return f"shard {self.number} of {self.of}"

    def episodes(self, scheduled: Sequence[ScheduledEpisodes]) -> dict[str, range]:
        """Return the episodes of this shard by operator, without operators that have none.

        Shards are consecutive parts of all episodes, operator after operator. So each shard has few
        operators, starts few session processes and loads few policies. (Each further operator costs about
        half as much as a shard with one operator costs before its first step.) All seatings of a seed stay
        in one shard, unless there are more shards than seeds. The sizes of shards differ by one seed, or by
        one episode; shards may be empty.

        In an experiment that is evaluated during play, a shard has one operator's episodes between two
        evaluations (:func:`stretches`), because only an evaluation decides which operators play on. If a
        budget may end the experiment early, a shard has the same seeds for all operators, so that the
        played episodes can be compared.

        Args:
            scheduled: Operators in the experiment's order.
        """
        if any(each.looks for each in scheduled):
            return self._within_a_stretch(stretches(scheduled))
        if any(each.by_seeds for each in scheduled):
            return self._of_same_seeds(scheduled)
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

    def _of_same_seeds(self, scheduled: Sequence[ScheduledEpisodes]) -> dict[str, range]:
        seeds = max(each.seeds for each in scheduled)
        first, end = (seeds * at // self.of for at in (self.number - 1, self.number))
        found = {
            each.operator_id: range(
                min(first * each.seatings, each.episodes), min(end * each.seatings, each.episodes)
            )
            for each in scheduled
        }
        return {operator: episodes for operator, episodes in found.items() if episodes}

    def _within_a_stretch(self, all_of_them: Sequence[tuple[ScheduledEpisodes, range]]) -> dict[str, range]:
        """Return an even part of one stretch, in whole seeds; all stretches have equally many parts."""
        each = -(-self.of // len(all_of_them))
        which, part = divmod(self.number - 1, each)
        if which >= len(all_of_them):
            return {}
        operator, episodes = all_of_them[which]
        seeds = -(-len(episodes) // operator.seatings)
        first, end = (episodes.start + seeds * at // each * operator.seatings for at in (part, part + 1))
        found = range(first, min(end, episodes.stop))
        return {operator.operator_id: found} if found else {}

    def _first_from(self, number: int, before: int, episodes: int, size: int, total: int) -> int:
        """Return the first of an operator's episodes that belongs to this shard or a later one."""

        def part_of(unit: int) -> int:
            first, end = unit * size, min((unit + 1) * size, episodes)
            # Position of the unit's middle among all episodes; a unit's episodes stay in one shard.
            return (2 * before + first + end) * self.of // (2 * total) + 1

        units = range(-(-episodes // size))
        return min(bisect_left(units, number, key=part_of) * size, episodes)


def schedule_of(
    execution: ExecutionConfig, seatings: Mapping[str, int], *, by_seeds: bool = False
) -> list[ScheduledEpisodes]:
    """Return how many episodes each operator plays.

    Args:
        execution: Number of episodes, and whether the experiment is evaluated during play.
        seatings: Number of episodes of each seed by operator, in the experiment's order.
        by_seeds: Whether a shard plays the same seeds for all operators.

    Raises:
        ConfigError: There are too few seeds for evaluations.
    """
    if execution.until == "all":
        return [
            ScheduledEpisodes(operator, execution.num_episodes, each, by_seeds=by_seeds)
            for operator, each in seatings.items()
        ]
    found: list[ScheduledEpisodes] = []
    for operator, each in seatings.items():
        looks = tuple(seeds * each for seeds in execution.interim_seed_counts(execution.num_episodes // each))
        found.append(ScheduledEpisodes(operator, looks[-1], each, looks))
    return found


def stretches(scheduled: Sequence[ScheduledEpisodes]) -> list[tuple[ScheduledEpisodes, range]]:
    """Return the episodes of each operator between two evaluations, the earliest first."""
    most = max(len(each.looks) for each in scheduled)
    return [
        (each, range(each.looks[look - 1] if look else 0, each.looks[look]))
        for look in range(most)
        for each in scheduled
        if look < len(each.looks)
    ]


def episodes_of(header: Mapping[str, Any]) -> dict[str, tuple[int, ...]] | None:
    """Return the episodes of a shard by operator, from ``run.json``; ``None`` if the run is not a shard."""
    about = mapping(header.get(SHARD))
    if about is None:
        return None
    listed = mapping(about.get("episodes")) or {}
    return {operator: tuple(integers(of) or ()) for operator, of in listed.items()}
