"""Trainings of seconds, in this process, for tests."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cleanrl_worker.registry import ALGORITHMS, load
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.training import TrainingRun


def learn(name: str, settings: Mapping[str, Any], stop_after: int = 0) -> Any:
    """Train and return the learner.

    Args:
        name: Name of the algorithm.
        settings: Settings that differ from the defaults.
        stop_after: Steps after which the training is asked to stop; 0: never.
    """
    algorithm = ALGORITHMS[name]
    config = algorithm.config_class(**settings)
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(Environments(config)) as environments,
        contextlib.closing(TrainingRun(Path(folder))) as run,
    ):
        run.start(name, config.env_id, config.seed, config.total_steps)
        session = StoppingSession(name, config, environments, run)
        session.stop_after = stop_after
        return load(algorithm.train)(config, environments, session)


class StoppingSession(Session):
    """Stops after some steps, and notes what it was told."""

    stop_after = 0

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.told: list[tuple[int, dict[str, float]]] = []

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        super().metrics(step, values)
        self.told.append((step, dict(values)))

    def advance(self, step: int, learner: Any) -> bool:
        on = super().advance(step, learner)
        learner.told = self.told
        return on and not 0 < self.stop_after <= step
