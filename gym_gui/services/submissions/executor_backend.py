"""Interface between the coordinator of a submission and a host or cluster that plays its shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from gym_gui.services.submissions.shard_status import ShardStatus


class ExecutorBackend(Protocol):
    """A host, this machine, or a Slurm or Ray cluster that plays shards.

    Attributes:
        name: Name of the host or cluster.
        capacity: Number of processes that it runs at once.
        deals: Whether one process may play a batch of shards in order, so that it starts up only once.
        patience_s: Seconds without an answer before its shards are played elsewhere.
    """

    name: str
    capacity: int
    deals: bool
    patience_s: float

    async def check(self) -> None:
        """Check whether the host or cluster can play shards."""
        ...

    async def prepare(self) -> None:
        """Send the submission's files to the host, after :meth:`check`."""
        ...

    async def start(self, tries: Mapping[int, int]) -> None:
        """Start attempts of shards in the recorded batches. Attempts that were started before are skipped."""
        ...

    async def status(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        """Return the status of attempts, by number of the shard."""
        ...

    async def cancel_waiting(self, tries: Mapping[int, int]) -> Sequence[int]:
        """Cancel attempts that have not begun, and return the shards of those that were canceled."""
        ...

    async def write_leases(self, tries: Mapping[int, int], words: Mapping[int, str]) -> None:
        """Write a line to the file ``lease`` in each attempt's folder, whole or not at all.

        Only runs with budgets and attempts with a claim in their latest status get one. The line is
        for the holder of that claim.
        """
        ...

    async def fetch(self, number: int) -> None:
        """Copy a shard's run folder from the host to this machine."""
        ...

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        """Ask shards to end, or end them at once."""
        ...

    async def clear(self) -> None:
        """Remove the submission's files from the host, after :meth:`check`."""
        ...

    async def close(self) -> None:
        """Close the connection to the host."""
        ...
