"""Training: asked for here, done by a worker in a process of its own."""

from __future__ import annotations

from gym_gui.services.trainer.dispatcher import TrainingDispatcher
from gym_gui.services.trainer.process import TrainingFailedError, TrainingProcess
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.services.trainer.service import TrainProgress, TrainResult, carry_out, train

__all__ = [
    "TrainProgress",
    "TrainRequest",
    "TrainResult",
    "TrainingDispatcher",
    "TrainingFailedError",
    "TrainingProcess",
    "carry_out",
    "train",
]
