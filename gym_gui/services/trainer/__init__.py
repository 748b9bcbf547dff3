"""Training: asked for here, done by a worker in a process of its own."""

from __future__ import annotations

from gym_gui.services.trainer.dispatch import TrainerDispatcher
from gym_gui.services.trainer.process import TrainingFailedError, TrainingProcess
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.services.trainer.service import TrainProgress, TrainResult, carry_out, train

__all__ = [
    "TrainProgress",
    "TrainRequest",
    "TrainResult",
    "TrainerDispatcher",
    "TrainingFailedError",
    "TrainingProcess",
    "carry_out",
    "train",
]
