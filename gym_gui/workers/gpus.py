"""Assigns GPUs to workers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.workers.registry import WorkerTypeDefinition

LISTED_BY_DRIVER: Final = Path("/proc/driver/nvidia/gpus")
"""Folder in which the NVIDIA driver lists each GPU of the machine."""


def detected_gpus() -> tuple[str, ...]:
    """Return the indices of the NVIDIA GPUs that this process may use.

    These are all GPUs of the machine, or those in ``CUDA_VISIBLE_DEVICES``, where a scheduler assigns GPUs to
    a job; the driver lists the GPUs of all jobs.
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
    """Return the indices of the GPUs for the ``nth`` worker of a session.

    The slot's setting ``gpu`` is an index, a list of indices, or ``"none"``. Without this setting, a worker
    that prefers a GPU gets the next GPU in turn, if the machine has any.

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
        raise UsageError(f"gpu {missing[0]} is requested, but this machine has {have}")
    return chosen
