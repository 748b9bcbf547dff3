"""The environment variables that workers, and processes that start workers, get."""

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
    """Environment of a process that starts workers of its own: what any manifest names is for it as well."""
    return inherited(
        name for definition in WorkerTypeRegistry.registered() for name in definition.launch.inherits
    )


def worker_environment(
    definition: WorkerTypeDefinition, gpus: Sequence[str] = (), *, env_id: str = ""
) -> dict[str, str]:
    """Environment variables of a worker process; the caller that starts it adds the tag.

    Caches that libraries would put into the home folder go to one folder per worker; one
    thread per worker unless its manifest says otherwise, because many share the cores; no
    GPU is visible but those assigned.

    Args:
        definition: The worker.
        gpus: The GPUs that it may use.
        env_id: The environment that the process itself is to make. The user's own one, ``module:factory``, is
            looked for last in the working directory, so that it hides no other module.
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
