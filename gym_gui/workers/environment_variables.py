"""Environment variables for workers, and for processes that start workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gym_gui.core.foreign_python import python_environment
from gym_gui.core.inherited_environment import inherited
from gym_gui.core.paths import cache_dir
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry


def engine_environment() -> dict[str, str]:
    """Return environment variables for a process that starts workers, with all that manifests name."""
    return inherited(
        name for definition in WorkerTypeRegistry.registered() for name in definition.launch.inherits
    )


def worker_environment(
    definition: WorkerTypeDefinition, gpus: Sequence[str] = (), *, env_id: str = ""
) -> dict[str, str]:
    """Return the environment variables of a worker process, without the tag of its process tree.

    Library caches that would go to the home folder go to one folder per worker. Each worker uses one thread
    unless its manifest says otherwise, because many share the cores. Only the assigned GPUs are visible.

    Args:
        definition: The worker.
        gpus: Indices of the GPUs that the worker may use.
        env_id: Environment that the process itself makes. For a ``module:factory``, the working directory is
            added at the end of the import path, so that its modules hide no others.
    """
    launch = definition.launch
    foreign = launch.python is not None and launch.python != Path(sys.executable)
    cache = cache_dir() / "workers" / definition.type_id
    env = python_environment(foreign, cache, path=launch.python_path, named=launch.inherits)
    if ":" in env_id:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (env.get("PYTHONPATH", ""), str(Path.cwd()))))
    env.update(
        CUDA_VISIBLE_DEVICES=",".join(gpus),
        MOSAIC_WORKER_CACHE=str(cache),
        MOSAIC_REQUESTS_DIR=str(cache_dir() / "requests"),
    )
    env.update(launch.env)
    return env
