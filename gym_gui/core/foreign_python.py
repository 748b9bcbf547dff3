"""Environment variables for Python programs that may use another interpreter than MOSAIC's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import mosaic_worker
from gym_gui.core.inherited_environment import inherited
from gym_gui.core.paths import PACKAGE


def sdk_folder(foreign: bool) -> Path:
    """Return the folder that makes ``mosaic_worker`` and ``mosaic_env_server`` importable.

    Args:
        foreign: Whether the program uses another interpreter, which must not see our site-packages.
    """
    ours = Path(mosaic_worker.__file__).resolve().parent.parent
    bundled = PACKAGE / "bundled" / "mosaic_worker_sdk"
    return bundled if foreign and bundled.is_dir() else ours


def python_environment(
    foreign: bool, cache: Path, *, path: Sequence[Path] = (), named: Iterable[str] = ()
) -> dict[str, str]:
    """Return the environment variables for a Python program that imports the SDK, without the process tag.

    Library caches that would go to the home folder go to ``cache``. The program computes with one thread,
    because many programs share the cores. Variables that the user has set for these keep their values.

    Args:
        foreign: Whether the program uses another interpreter than ours.
        cache: Folder for the caches of its libraries.
        path: Folders from which the program imports, before the SDK's.
        named: Variables that the program receives in addition to those of every child process.
    """
    env = inherited(named)
    folders = [str(folder) for folder in path]
    sdk = sdk_folder(foreign)
    if foreign or "site-packages" not in sdk.parts:
        folders.append(str(sdk))
    if folders:
        ours = [] if foreign else [env.get("PYTHONPATH", "")]
        env["PYTHONPATH"] = os.pathsep.join([*folders, *filter(None, ours)])
    elif foreign:
        env.pop("PYTHONPATH", None)
    env.update(PYTHONSAFEPATH="1", PYTHONUNBUFFERED="1")
    env.setdefault("MPLCONFIGDIR", str(cache / "matplotlib"))
    env.setdefault("HF_HOME", str(cache / "huggingface"))
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        env.setdefault(threads, "1")
    return env
