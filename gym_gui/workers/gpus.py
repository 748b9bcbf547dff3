"""Which GPUs a worker may see."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_gui.core.errors import UsageError
from gym_gui.workers.registry import WorkerTypeDefinition


@functools.cache
def detected_gpus() -> tuple[str, ...]:
    """Indices of the NVIDIA GPUs of this machine, as the driver lists them."""
    root = Path("/proc/driver/nvidia/gpus")
    return tuple(str(i) for i, _ in enumerate(sorted(root.iterdir()))) if root.is_dir() else ()


def assign_gpus(definition: WorkerTypeDefinition, settings: Mapping[str, Any], nth: int) -> tuple[str, ...]:
    """Devices for the ``nth`` worker of a session.

    A slot's setting ``gpu`` (an index, a list of them, or ``"none"``) decides; else a worker
    that prefers a GPU gets the next one in turn, where there is one.

    Raises:
        UsageError: The setting names a GPU this machine does not have.
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
