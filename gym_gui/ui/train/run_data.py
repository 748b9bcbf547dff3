"""What drawn runs have reported: followed through the daemon, kept as arrays, reduced in a thread."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.core.errors import MosaicError
from gym_gui.ui.context import AppContext
from gym_gui.ui.train.link import TrainerLink
from gym_gui.ui.train.series import Curve, SeriesStore

if TYPE_CHECKING:
    from gym_gui.services.trainer.records import EpisodeRow, MetricRow, TrainingRecord

_R = TypeVar("_R")

RETURN: Final = "return"
LENGTH: Final = "length"
CPU: Final = "machine/cpu"
MEMORY: Final = "machine/memory"
GROWN_MS: Final = 500
"""Values that arrive within this time are drawn together."""
SAME: Final = {"charts/episodic_return": RETURN, "charts/episodic_length": LENGTH}
"""Metrics that say what the episodes say, and are not kept twice."""


class RunData(QObject):
    """The series of some runs: those that are drawn are followed, what came stays.

    Args:
        context: Work in the background.
        link: The daemon.
        parent: Qt owner.
    """

    grown = pyqtSignal()
    """Values came, at most twice a second."""

    def __init__(self, context: AppContext, link: TrainerLink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context, self._link = context, link
        self._stores: dict[str, SeriesStore] = {}
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        self._followed: frozenset[str] = frozenset()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(GROWN_MS)
        self._timer.timeout.connect(self.grown)
        link.runs_changed.connect(self._on_runs_changed)
        link.state_changed.connect(self._on_link_changed)

    def store(self, run_id: str) -> SeriesStore:
        """The series of a run."""
        return self._stores.setdefault(run_id, SeriesStore())

    def names(self, run_ids: Iterable[str]) -> list[str]:
        """Series that any of these runs has."""
        return list(dict.fromkeys(name for run_id in run_ids for name in self.store(run_id).names))

    def follow(self, run_ids: Iterable[str]) -> None:
        """From now on follow these runs, and no others."""
        self._followed = frozenset(run_ids)
        for run_id in set(self._tasks) - self._followed:
            for task in self._tasks.pop(run_id):
                task.cancel()
            # What it reports from now on is asked for anew, from its beginning.
            self._stores.pop(run_id, None)
        self._begin()

    async def curves(
        self, names: Mapping[str, Sequence[str]], smoothing: float
    ) -> dict[str, dict[str, Curve]]:
        """Reduced curves, made in a thread.

        Args:
            names: Series, each with the runs that are wanted of it.
            smoothing: As :meth:`SeriesStore.curve`.

        Returns:
            By series, then by run; what has no value is left out.
        """
        stores = {run_id: self.store(run_id) for runs in names.values() for run_id in runs}
        return await asyncio.to_thread(_reduce_all, stores, names, smoothing)

    async def close(self) -> None:
        """Follow nothing any more."""
        self._timer.stop()
        tasks = [task for tasks in self._tasks.values() for task in tasks]
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- inside --------------------------------------------------------------------------

    def _begin(self) -> None:
        client = self._link.client
        if client is None:
            return
        for run_id in self._followed:
            record = self._link.run(run_id)
            if record is None or self._is_told(record):
                continue
            store, what = SeriesStore(), "Following a training"
            self._tasks[run_id] = [
                self._context.spawn(self._take(run_id, store, client.metrics(run_id), _add_metrics), what),
                self._context.spawn(self._take(run_id, store, client.episodes(run_id), _add_episodes), what),
            ]

    def _is_told(self, record: TrainingRecord) -> bool:
        """Whether all of a run has come or is coming: one that was over may have been gone on with."""
        tasks = self._tasks.get(record.run_id)
        return tasks is not None and (record.over or not all(task.done() for task in tasks))

    async def _take(
        self,
        run_id: str,
        store: SeriesStore,
        batches: AsyncIterator[list[_R]],
        add: Callable[[SeriesStore, list[_R]], None],
    ) -> None:
        try:
            async for rows in batches:
                await asyncio.to_thread(add, store, rows)
                known = self.store(run_id)
                if known is not store:  # until now, what was known before stayed drawn
                    store.adopt(known, (CPU, MEMORY))
                    self._stores[run_id] = store
                if not self._timer.isActive():
                    self._timer.start()
        except MosaicError:
            return  # the link says what became of the daemon, and follows anew

    def _on_runs_changed(self) -> None:
        for run_id in self._followed:
            record = self._link.run(run_id)
            if record is not None:
                self._sample(record)
        self._begin()

    def _sample(self, record: TrainingRecord) -> None:
        if not record.live or not record.memory_mb:
            return
        store = self.store(record.run_id)
        store.add(CPU, [record.step], [record.cpu_percent])
        store.add(MEMORY, [record.step], [record.memory_mb])

    def _on_link_changed(self) -> None:
        if self._link.client is None:
            for tasks in self._tasks.values():
                for task in tasks:
                    task.cancel()
            self._tasks.clear()
        else:
            self._begin()


def _add_metrics(store: SeriesStore, rows: Sequence[MetricRow]) -> None:
    steps: defaultdict[str, list[float]] = defaultdict(list)
    values: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        for name, value in row.values.items():
            if name not in SAME:
                steps[name].append(row.step)
                values[name].append(math.nan if value is None else value)
    for name, where in steps.items():
        store.add(name, where, values[name])


def _add_episodes(store: SeriesStore, rows: Sequence[EpisodeRow]) -> None:
    steps = [row.step for row in rows]
    store.add(RETURN, steps, [math.nan if row.total is None else row.total for row in rows])
    store.add(LENGTH, steps, [row.length for row in rows])


def _reduce_all(
    stores: Mapping[str, SeriesStore], names: Mapping[str, Sequence[str]], smoothing: float
) -> dict[str, dict[str, Curve]]:
    result: dict[str, dict[str, Curve]] = {}
    for name, run_ids in names.items():
        made = {run_id: stores[run_id].curve(name, smoothing) for run_id in run_ids}
        result[name] = {run_id: curve for run_id, curve in made.items() if curve is not None}
    return result
