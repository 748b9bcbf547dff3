"""Write a MOSAIC worker: one class, one manifest.

>>> from mosaic_worker import Worker
>>> class Always(Worker):
...     def select_actions(self, batch):
...         return [0] * len(batch)

The package needs numpy and protobuf only, so that it fits into any worker's environment.
"""

from mosaic_worker.codec import Codec, Column, GraphInstance, NotInSpace
from mosaic_worker.concurrent import AsyncWorker
from mosaic_worker.spaces import Space
from mosaic_worker.worker import (
    Actions,
    Batch,
    Decision,
    EpisodeEnd,
    EpisodeStart,
    Invalid,
    LoadError,
    PolicyFailed,
    Seat,
    Slot,
    StepResults,
    Worker,
)

__version__ = "0.1.0"
__all__ = [
    "Actions",
    "AsyncWorker",
    "Batch",
    "Codec",
    "Column",
    "Decision",
    "EpisodeEnd",
    "EpisodeStart",
    "GraphInstance",
    "Invalid",
    "LoadError",
    "NotInSpace",
    "PolicyFailed",
    "Seat",
    "Slot",
    "Space",
    "StepResults",
    "Worker",
]
