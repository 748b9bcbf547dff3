"""Assigns GPUs to workers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.workers.registry import WorkerTypeDefinition

LISTED_BY_DRIVER: Final = Path("/proc/driver/nvidia/gpus")
"""Folder of the driver with one entry for each GPU of the machine."""


def detected_gpus() -> tuple[str, ...]:
    """Return the NVIDIA GPUs that this process may use: all of the machine, or those assigned to it.

    A scheduler assigns GPUs to a job in ``CUDA_VISIBLE_DEVICES``, while the driver lists those of all jobs.
    """
    root = LISTED_BY_DRIVER
    here = tuple(str(i) for i, _ in enumerate(root.iterdir())) if root.is_dir() else ()
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is None or not here:
        return here
    named = (each.strip() for each in given.split(","))
    # Entries that are no numbers are CUDA's names (GPU-…, MIG-…), which the driver does not list.
    return tuple(each for each in named if each in here or each.startswith(("GPU-", "MIG-")))


def assign_gpus(definition: WorkerTypeDefinition, settings: Mapping[str, Any], nth: int) -> tuple[str, ...]:
    """Return the GPUs for the ``nth`` worker of a session.

    The slot's setting ``gpu`` (an index, a list of indices, or ``"none"``) decides. Without it, a worker
    that prefers a GPU gets the next one in turn, if there is one.

    Raises:
        UsageError: The setting names a GPU that this machine does not have.
    """
    here = detected_gpus()
    wanted = settings.get("gpu")
    if wanted is None:
        return (here[nth % len(here)],) if here and definition.capabilities.requires_gpu else ()
    if wanted == "none":
        return ()
    chosen = tuple(str(w) for w in (wanted if isinstance(wanted, (list, tuple)) else [wanted]))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    missing = [gpu for gpu in chosen if gpu not in here]
    if missing:
        have = f"GPUs {', '.join(here)}" if here else "no GPU"
        raise UsageError(f"gpu {missing[0]} is asked for, but this machine has {have}")
    return chosen
