"""How long a training will take, from how fast the like have gone here before."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gym_gui.analysis.words.wording import duration
from gym_gui.services.trainer.training_records import TrainingRecord

NEWEST: Final = 5
_SHAPING: Final = ("num_envs", "n_envs", "device")
"""Settings that change the speed most: earlier runs that agree in them count before others."""
_LEAST_S: Final = 1.0
"""A run that trained for less says little."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Time that a training will take.

    Attributes:
        seconds: ``None`` where nothing like it ran before.
        runs: Earlier runs that say so.
        alike: They agree in what changes the speed most.
    """

    seconds: float | None
    runs: int = 0
    alike: bool = True

    def sentence(self, count: int = 1, cores: int = 1) -> str:
        """For one run, or for several with different seeds."""
        if self.seconds is None:
            return "How long it takes is unknown until it runs: nothing like it was trained here before."
        like = "one earlier run" if self.runs == 1 else f"{self.runs} earlier runs"
        other = "" if self.alike else " with other settings"
        on = "one core" if cores == 1 else f"{cores} cores"
        each = "" if count == 1 else " each"
        return f"About {duration(self.seconds)}{each} on {on}, judging by {like}{other}."


def estimate(
    records: Sequence[TrainingRecord],
    *,
    worker: str,
    algorithm: str,
    env_id: str,
    settings: Mapping[str, Any],
    total_steps: int,
) -> Estimate:
    """Judge by the newest runs of the same worker and algorithm in the same environment.

    Args:
        records: Runs.
        worker: Who trains.
        algorithm: With what.
        env_id: Where.
        settings: The worker's settings as they will be given.
        total_steps: Environment steps.
    """
    same = [
        record
        for record in records
        if (record.worker_id, record.algorithm, record.env_id) == (worker, algorithm, env_id)
        and not record.place  # another machine's speed says nothing of this one
        and _speed(record) > 0
    ]
    alike = [record for record in same if _shape(record.settings) == _shape(settings)]
    chosen = sorted(alike or same, key=lambda record: -record.submitted_at)[:NEWEST]
    if not chosen or total_steps <= 0:
        return Estimate(None)
    seconds = total_steps / statistics.median(map(_speed, chosen))
    return Estimate(seconds, len(chosen), bool(alike))


def before_it(records: Sequence[TrainingRecord]) -> str:
    """What waits for a core already, as a sentence to be put behind another; empty where nothing does."""
    waiting = sum(record.state == "queued" and not record.place for record in records)
    if not waiting:
        return ""
    return " One waits for a core before it." if waiting == 1 else f" {waiting} wait for a core before it."


def _shape(settings: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(repr(settings.get(name)) for name in _SHAPING)


def _speed(record: TrainingRecord) -> float:
    """Environment steps a second.

    A run that was resumed has the steps of before, and the time since: its last rate says more.
    """
    if record.elapsed_s < _LEAST_S:
        return 0.0
    mean = record.step / record.elapsed_s
    return min(mean, record.steps_per_s) if record.steps_per_s > 0 else mean
