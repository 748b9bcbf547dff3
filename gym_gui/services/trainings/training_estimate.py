"""Estimates the duration of a training from the speed of similar earlier runs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gym_gui.analysis.words.wording import duration
from gym_gui.services.trainer.training_records import TrainingRecord

NEWEST: Final = 5
_SHAPING: Final = ("num_envs", "n_envs", "device")
"""Settings that change the speed most. Earlier runs with equal values take precedence."""
_LEAST_S: Final = 1.0
"""Duration in seconds of the shortest run whose speed is used."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated duration of a training.

    Attributes:
        seconds: Duration in seconds; ``None`` if nothing similar ran before.
        runs: Number of earlier runs that it is based on.
        alike: Whether these runs have equal values of the settings that change the speed most.
    """

    seconds: float | None
    runs: int = 0
    alike: bool = True

    def sentence(self, count: int = 1, cores: int = 1) -> str:
        """Return the estimate as a sentence, for one run or several with different seeds."""
        if self.seconds is None:
            return "The duration is unknown until it runs: nothing similar was trained here before."
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
    """Return an estimate from the newest runs of the same worker, algorithm and environment.

    Args:
        records: Records of earlier runs.
        worker: Id of the worker.
        algorithm: Name of the algorithm.
        env_id: Id of the environment.
        settings: Settings of the new training.
        total_steps: Environment steps of the new training.
    """
    same = [
        record
        for record in records
        if (record.worker_id, record.algorithm, record.env_id) == (worker, algorithm, env_id)
        and not record.place  # the speed of another machine says nothing about this one
        and _speed(record) > 0
    ]
    alike = [record for record in same if _shape(record.settings) == _shape(settings)]
    chosen = sorted(alike or same, key=lambda record: -record.submitted_at)[:NEWEST]
    if not chosen or total_steps <= 0:
        return Estimate(None)
    seconds = total_steps / statistics.median(map(_speed, chosen))
    return Estimate(seconds, len(chosen), bool(alike))


def before_it(records: Sequence[TrainingRecord]) -> str:
    """Return a sentence about the trainings that already wait for a core; empty if none waits."""
    waiting = sum(record.state == "queued" and not record.place for record in records)
    if not waiting:
        return ""
    return " One training waits before it." if waiting == 1 else f" {waiting} trainings wait before it."


def _shape(settings: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(repr(settings.get(name)) for name in _SHAPING)


def _speed(record: TrainingRecord) -> float:
    """Return the speed in environment steps per second.

    A resumed run counts its earlier steps but only the time since, so its last rate is more reliable.
    """
    if record.elapsed_s < _LEAST_S:
        return 0.0
    mean = record.step / record.elapsed_s
    return min(mean, record.steps_per_s) if record.steps_per_s > 0 else mean
