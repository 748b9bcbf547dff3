"""Reader of the metrics that training runs report: read from their folders, kept as arrays, reduced in a
thread.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.core.errors import MosaicError
from gym_gui.services.trainer.file_follower import CHUNK, Follower
from gym_gui.services.trainer.training_folder import EPISODES, METRICS, RunFolder
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainings.training_league import PREFIX, LeagueFile, TrainingLeague
from gym_gui.services.trainings.training_series import Curve, SeriesStore
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.train.link import TrainerLink

RETURN: Final = "return"
LENGTH: Final = "length"
CPU: Final = "machine/cpu"
MEMORY: Final = "machine/memory"
GROWN_MS: Final = 500
"""Time within which several arrivals of values lead to one ``grown`` signal, in ms."""
LOOK_S: Final = 0.1
"""Pause between two reads of the files of a run in progress, in seconds."""
SAME: Final = {"charts/episodic_return": RETURN, "charts/episodic_length": LENGTH}
"""Metrics that repeat the values of episodes and are therefore not stored twice."""


class RunData(QObject):
    """Store of the series of training runs, which follows the files of the drawn runs.

    Args:
        spawn: Runs work in the background.
        link: Provides the runs and their folders.
        parent: Qt owner.
    """

    grown = pyqtSignal()
    """Emitted when new values have arrived, at most twice a second."""

    def __init__(self, spawn: Spawn, link: TrainerLink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spawn, self._link = spawn, link
        self._stores: dict[str, SeriesStore] = {}
        self._leagues: dict[str, TrainingLeague] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._unreadable: set[str] = set()
        self._followed: frozenset[str] = frozenset()
        self._timer = single_shot_timer(self, GROWN_MS, self.grown.emit)
        link.runs_changed.connect(self._on_runs_changed)

    def store(self, run_id: str) -> SeriesStore:
        """Return the series of a run."""
        return self._stores.setdefault(run_id, SeriesStore())

    def league(self, run_id: str) -> TrainingLeague | None:
        """Return the league of a followed run; ``None`` if the run has no league."""
        return self._leagues.get(run_id)

    def names(self, run_ids: Iterable[str]) -> list[str]:
        """Return the names of the series that at least one of the given runs has."""
        return list(dict.fromkeys(name for run_id in run_ids for name in self.store(run_id).names))

    def follow(self, run_ids: Iterable[str]) -> None:
        """Follow the files of only the given runs from now on."""
        self._followed = frozenset(run_ids)
        self._unreadable &= self._followed
        for run_id in set(self._tasks) - self._followed:
            self._tasks.pop(run_id).cancel()
            # A run that is drawn again is read again from its beginning.
            self._stores.pop(run_id, None)
            self._leagues.pop(run_id, None)
        self._begin()

    async def curves(
        self, names: Mapping[str, Sequence[str]], smoothing: float
    ) -> dict[str, dict[str, Curve]]:
        """Return reduced curves, which are computed in a thread.

        Args:
            names: For each series name, the ids of the runs whose curves are needed.
            smoothing: Smoothing as for :meth:`SeriesStore.curve`.

        Returns:
            Curves by series name, then by run id; a run without values is left out.
        """
        stores = {run_id: self.store(run_id) for runs in names.values() for run_id in runs}
        return await asyncio.to_thread(_reduce_all, stores, names, smoothing)

    async def close(self) -> None:
        """Stop following all runs."""
        self._timer.stop()
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- internal ------------------------------------------------------------------------

    def _begin(self) -> None:
        for run_id in self._followed - self._unreadable:
            record = self._link.run(run_id)
            if record is not None and not self._is_read(record):
                self._tasks[run_id] = self._spawn(self._follow_run(record), "Following a training")

    def _is_read(self, record: TrainingRecord) -> bool:
        """Return whether the files of a run are being read, or were read after the run ended."""
        task = self._tasks.get(record.run_id)
        return task is not None and (record.has_ended or not task.done())

    async def _follow_run(self, followed: TrainingRecord) -> None:
        run_id, store = followed.run_id, SeriesStore()
        folder = RunFolder(followed.folder)
        metrics, episodes = folder.follow(METRICS), folder.follow(EPISODES)
        league = LeagueFile(followed.folder)
        while True:
            over = self._is_over(run_id)  # Before the read: no values are written after the end.
            try:
                read, told = await asyncio.to_thread(_read_on, store, metrics, episodes, league)
            except MosaicError:
                self._unreadable.add(run_id)  # The error is reported once.
                raise
            if told is not None:
                self._leagues[run_id] = told
            if read or told is not None:
                self._keep(run_id, store)
            elif over:
                return
            await asyncio.sleep(0 if read >= CHUNK // 2 else LOOK_S)

    def _is_over(self, run_id: str) -> bool:
        record = self._link.run(run_id)
        return record is None or record.has_ended

    def _keep(self, run_id: str, store: SeriesStore) -> None:
        known = self.store(run_id)
        if known is not store:  # The values known before stayed drawn until now.
            store.adopt(known, (CPU, MEMORY))
            self._stores[run_id] = store
        if not self._timer.isActive():
            self._timer.start()

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


def _read_on(
    store: SeriesStore, metrics: Follower, episodes: Follower, league: LeagueFile
) -> tuple[int, TrainingLeague | None]:
    """Read the next portion that was appended to the files.

    Returns the number of bytes read, and the league if it has changed, else ``None``.
    """
    followers = (metrics, episodes)
    before = sum(follower.position for follower in followers)
    _add_metrics(store, metrics.read())
    _add_episodes(store, episodes.read())
    read = abs(sum(follower.position for follower in followers) - before)
    has_one = any(name.startswith(PREFIX) for name in store.names)
    return read, league.read_if_changed() if has_one else None


def _add_metrics(store: SeriesStore, rows: Sequence[Mapping[str, Any]]) -> None:
    steps: defaultdict[str, list[float]] = defaultdict(list)
    values: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        step, numbers = row.get("step"), row.get("m")
        if not isinstance(step, (int, float)) or not isinstance(numbers, dict):
            continue  # A wrong line of a worker hides no others.
        for name, value in numbers.items():
            if name not in SAME:
                steps[name].append(step)
                values[name].append(_number(value))
    for name, where in steps.items():
        store.add(name, where, values[name])


def _add_episodes(store: SeriesStore, rows: Sequence[Mapping[str, Any]]) -> None:
    good = [row for row in rows if isinstance(row.get("step"), (int, float))]
    steps = [row["step"] for row in good]
    store.add(RETURN, steps, [_number(row.get("return")) for row in good])
    store.add(LENGTH, steps, [_number(row.get("length")) for row in good])


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _reduce_all(
    stores: Mapping[str, SeriesStore], names: Mapping[str, Sequence[str]], smoothing: float
) -> dict[str, dict[str, Curve]]:
    result: dict[str, dict[str, Curve]] = {}
    for name, run_ids in names.items():
        made = {run_id: stores[run_id].curve(name, smoothing) for run_id in run_ids}
        result[name] = {run_id: curve for run_id, curve in made.items() if curve is not None}
    return result
