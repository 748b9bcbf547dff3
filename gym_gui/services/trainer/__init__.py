"""Training: asked for here, done by a worker in a process of its own."""

from __future__ import annotations

from gym_gui.services.trainer.dispatcher import TrainingDispatcher
from gym_gui.services.trainer.piped import TrainerProcess, TrainingFailedError, TrainProgress, TrainResult
from gym_gui.services.trainer.request import TrainRequest
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
