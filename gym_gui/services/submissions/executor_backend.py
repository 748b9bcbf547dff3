"""What a coordinator asks of a place where shards are played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from gym_gui.services.submissions.shard_status import ShardStatus


class ExecutorBackend(Protocol):
    """A place where shards are played.

    Attributes:
        name: What it is called.
        capacity: How many it plays at once.
        deals: Whether a process there plays several, one after the other: what it has started serves all.
        patience_s: Seconds for which it may be away before its shards go elsewhere.
    """

    name: str
    capacity: int
    deals: bool
    patience_s: float

    async def check(self) -> None:
        """See whether shards can be played there."""
        ...

    async def prepare(self) -> None:
        """Send what is played there, after :meth:`check`."""
        ...

    async def start(self, tries: Mapping[int, int]) -> None:
        """Begin tries of shards, by batches of the record; those that were begun before are left alone."""
        ...

    async def look(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        """How tries of shards stand."""
        ...

    async def take_back(self, tries: Mapping[int, int]) -> Sequence[int]:
        """Take back tries that wait there for their turn; returns the shards that were still waiting."""
        ...

    async def tell(self, tries: Mapping[int, int], words: Mapping[int, str]) -> None:
        """Put a line beside each try, as the file ``lease`` in its folder, whole or not at all.

        Only of runs with budgets, and only to tries whose latest look had a claim: for who has made that.
        """
        ...

    async def fetch(self, number: int) -> None:
        """Bring a shard's run folder here."""
        ...

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        """Ask shards to end, or end them."""
        ...

    async def clear(self) -> None:
        """Remove what is left there, after :meth:`check`."""
        ...

    async def close(self) -> None:
        """Hang up."""
        ...
