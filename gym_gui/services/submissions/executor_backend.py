"""Interface between the coordinator and a place that plays shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from gym_gui.services.submissions.shard_status import ShardStatus


class ExecutorBackend(Protocol):
    """A place that plays shards: a host, this machine, or a Slurm or Ray cluster.

    Attributes:
        name: Name of the place.
        capacity: Number of processes that it runs at once.
        deals: Whether one process may play several shards in order, so that it starts up only once.
        patience_s: Seconds without an answer before its shards are played elsewhere.
    """

    name: str
    capacity: int
    deals: bool
    patience_s: float

    async def check(self) -> None:
        """Check whether shards can be played at the place."""
        ...

    async def prepare(self) -> None:
        """Send the submission's files, after :meth:`check`."""
        ...

    async def start(self, tries: Mapping[int, int]) -> None:
        """Begin tries of shards in the record's batches. Tries that were begun before are skipped."""
        ...

    async def look(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        """Return the status of tries of shards."""
        ...

    async def take_back(self, tries: Mapping[int, int]) -> Sequence[int]:
        """Take back tries that wait for their turn, and return the shards that were still waiting."""
        ...

    async def tell(self, tries: Mapping[int, int], words: Mapping[int, str]) -> None:
        """Write a line beside each try, as the file ``lease`` in its folder, whole or not at all.

        This is called only for runs with budgets and for tries with a claim at their latest look. The line is
        for the holder of that claim.
        """
        ...

    async def fetch(self, number: int) -> None:
        """Copy a shard's run folder to this machine."""
        ...

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        """Ask shards to end, or end them at once."""
        ...

    async def clear(self) -> None:
        """Remove the submission's files at the place, after :meth:`check`."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...
