"""The environment variables that workers, and processes that start workers, get."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import mosaic_worker
from gym_gui.core.inherited import inherited
from gym_gui.core.paths import cache_dir
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry


def engine_environment() -> dict[str, str]:
    """Environment of a process that starts workers of its own: what any manifest names is for it as well."""
    return inherited(
        name for definition in WorkerTypeRegistry.registered() for name in definition.launch.inherits
    )


def sdk_folder(foreign: bool) -> Path:
    """Folder that makes ``mosaic_worker`` importable.

    Args:
        foreign: For an interpreter other than ours, which must not see our site-packages.
    """
    ours = Path(mosaic_worker.__file__).resolve().parent.parent
    bundled = Path(__file__).resolve().parent.parent / "bundled" / "mosaic_worker_sdk"
    return bundled if foreign and bundled.is_dir() else ours


def worker_environment(
    definition: WorkerTypeDefinition, gpus: Sequence[str] = (), *, env_id: str = ""
) -> dict[str, str]:
    """Environment of a worker process; whoever starts it adds the tag.

    Caches that libraries would put into the home folder go to one folder per worker; one
    thread per worker unless its manifest says otherwise, because many share the cores; no
    GPU is visible but those assigned.

    Args:
        definition: The worker.
        gpus: The GPUs that it may use.
        env_id: The environment that the process itself is to make; a person's own, named ``module:factory``,
            lies where they are, and is looked for there last, so that it hides nothing.
    """
    launch = definition.launch
    foreign = launch.python is not None and launch.python != Path(sys.executable)
    cache = cache_dir() / "workers" / definition.type_id
    env = inherited(launch.inherits)
    path = [str(p) for p in launch.python_path]
    sdk = sdk_folder(foreign)
    if foreign or "site-packages" not in sdk.parts:
        path.append(str(sdk))
    if path:
        ours = [] if foreign else [env.get("PYTHONPATH", "")]
        env["PYTHONPATH"] = os.pathsep.join([*path, *filter(None, ours)])
    elif foreign:
        env.pop("PYTHONPATH", None)
    if ":" in env_id:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (env.get("PYTHONPATH", ""), str(Path.cwd()))))
    env.update(
        PYTHONSAFEPATH="1",
        PYTHONUNBUFFERED="1",
        CUDA_VISIBLE_DEVICES=",".join(gpus),
        MOSAIC_WORKER_CACHE=str(cache),
        MOSAIC_REQUESTS_DIR=str(cache_dir() / "requests"),
    )
    # A person's own hold where the manifest names them.
    env.setdefault("MPLCONFIGDIR", str(cache / "matplotlib"))
    env.setdefault("HF_HOME", str(cache / "huggingface"))
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        env.setdefault(threads, "1")
    env.update(launch.env)
    return env
