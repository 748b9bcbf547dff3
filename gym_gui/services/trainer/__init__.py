"""Training of policies by workers in separate processes. Public names are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gym_gui.lazy_imports import lazy_names

if TYPE_CHECKING:
    from gym_gui.services.trainer.foreground import TrainProgress, TrainResult, carry_out, train
    from gym_gui.services.trainer.request import TrainRequest
    from gym_gui.services.trainer.training_process import TrainingFailedError, TrainingProcess

__all__ = [
    "TrainProgress",
    "TrainRequest",
    "TrainResult",
    "TrainingFailedError",
    "TrainingProcess",
    "carry_out",
    "train",
]

__getattr__ = lazy_names(
    __name__,
    {
        "foreground": ("TrainProgress", "TrainResult", "carry_out", "train"),
        "request": ("TrainRequest",),
        "training_process": ("TrainingFailedError", "TrainingProcess"),
    },
)
