"""Training: asked for here, done by a worker in a process of its own."""

from __future__ import annotations

from gym_gui.services.trainer.dispatcher import TrainingDispatcher
from gym_gui.services.trainer.process import TrainerProcess, TrainingFailedError
from gym_gui.services.trainer.request import TrainProgress, TrainRequest, TrainResult
from gym_gui.services.trainer.service import train

__all__ = [
    "TrainProgress",
    "TrainRequest",
    "TrainResult",
    "TrainerProcess",
    "TrainingDispatcher",
    "TrainingFailedError",
    "train",
]
