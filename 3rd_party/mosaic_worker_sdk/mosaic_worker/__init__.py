"""Write a MOSAIC worker: one class, one manifest.

>>> from mosaic_worker import Worker
>>> class Always(Worker):
...     def select_actions(self, batch):
...         return [0] * len(batch)

The package needs only numpy and protobuf, so that it can be installed in the Python environment of any
worker. Each public name is imported at its first use; a program that uses one module does not import the
others.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic_worker.codec import Codec, Column, GraphInstance, NotInSpace
    from mosaic_worker.concurrent import AsyncWorker
    from mosaic_worker.spaces import Space
    from mosaic_worker.worker import (
        Actions,
        Batch,
        CannotGoOn,
        Decision,
        EpisodeEnd,
        EpisodeStart,
        Invalid,
        LimitReached,
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
    "CannotGoOn",
    "Codec",
    "Column",
    "Decision",
    "EpisodeEnd",
    "EpisodeStart",
    "GraphInstance",
    "Invalid",
    "LimitReached",
    "LoadError",
    "NotInSpace",
    "PolicyFailed",
    "Seat",
    "Slot",
    "Space",
    "StepResults",
    "Worker",
]

_HOMES = {
    **dict.fromkeys(("Codec", "Column", "GraphInstance", "NotInSpace"), "codec"),
    "AsyncWorker": "concurrent",
    "Space": "spaces",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'worker')}"), name)
    globals()[name] = value
    return value
