"""Training: asked for here, done by a worker in a process of its own. Names are handed out on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

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

_HOME = {
    "TrainProgress": "foreground",
    "TrainRequest": "request",
    "TrainResult": "foreground",
    "TrainingFailedError": "training_process",
    "TrainingProcess": "training_process",
    "carry_out": "foreground",
    "train": "foreground",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
