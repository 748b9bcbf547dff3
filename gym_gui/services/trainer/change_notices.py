"""Sends changed records of trainings to watchers, at the pace of each watcher."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from gym_gui.services.trainer.training_records import TrainingRecord


class Watch:
    """A watcher of trainings, with the newest record of each training that it has not received yet.

    A slow watcher misses intermediate states and delays no other watcher. The number of waiting records is
    at most the number of runs.
    """

    def __init__(self) -> None:
        self._news: dict[str, TrainingRecord] = {}
        self._wake = asyncio.Event()

    def send(self, record: TrainingRecord) -> None:
        """Send a changed record to the watcher."""
        self._news[record.run_id] = record
        self._wake.set()

    async def changes(self) -> AsyncIterator[TrainingRecord]:
        """Yield changed records of trainings without end."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._news:
                yield self._news.pop(next(iter(self._news)))


class Watchers:
    """All watchers of the trainings of a daemon."""

    def __init__(self) -> None:
        self._watches: set[Watch] = set()

    def add(self) -> Watch:
        """Return a new watcher. Remove it later with :meth:`drop`."""
        watch = Watch()
        self._watches.add(watch)
        return watch

    def drop(self, watch: Watch) -> None:
        """Remove a watcher."""
        self._watches.discard(watch)

    def send(self, record: TrainingRecord) -> None:
        """Send a changed record to all watchers."""
        for watch in self._watches:
            watch.send(record)
