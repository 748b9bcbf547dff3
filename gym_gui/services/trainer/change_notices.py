"""Telling watchers which runs have changed, at the pace of each watcher."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from gym_gui.services.trainer.training_records import TrainingRecord


class Watch:
    """One watcher: the newest record of each run that changed since it looked.

    A slow watcher misses states in between, and holds up no other; what waits for it is bounded by the
    number of runs.
    """

    def __init__(self) -> None:
        self._news: dict[str, TrainingRecord] = {}
        self._wake = asyncio.Event()

    def tell(self, record: TrainingRecord) -> None:
        """A run has changed."""
        self._news[record.run_id] = record
        self._wake.set()

    async def changes(self) -> AsyncIterator[TrainingRecord]:
        """Changes, without end."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._news:
                yield self._news.pop(next(iter(self._news)))


class Watchers:
    """All that watch."""

    def __init__(self) -> None:
        self._watches: set[Watch] = set()

    def add(self) -> Watch:
        """A new watcher; :meth:`drop` it later."""
        watch = Watch()
        self._watches.add(watch)
        return watch

    def drop(self, watch: Watch) -> None:
        """It watches no more."""
        self._watches.discard(watch)

    def tell(self, record: TrainingRecord) -> None:
        """A run has changed."""
        for watch in self._watches:
            watch.tell(record)
