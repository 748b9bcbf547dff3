"""The environment variables of Python programs that come with an interpreter of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import mosaic_worker
from gym_gui.core.inherited_environment import inherited
from gym_gui.core.paths import PACKAGE


def sdk_folder(foreign: bool) -> Path:
    """Folder that makes ``mosaic_worker`` and ``mosaic_env_server`` importable.

    Args:
        foreign: For an interpreter other than ours, which must not see our site-packages.
    """
    ours = Path(mosaic_worker.__file__).resolve().parent.parent
    bundled = PACKAGE / "bundled" / "mosaic_worker_sdk"
    return bundled if foreign and bundled.is_dir() else ours


def python_environment(
    foreign: bool, cache: Path, *, path: Sequence[Path] = (), named: Iterable[str] = ()
) -> dict[str, str]:
    """What a Python program gets that imports the SDK; who starts it adds the tag.

    Caches that libraries would put into the home folder go to a folder of its own, and it computes with one
    thread, because many share the cores; a person's own word for these holds.

    Args:
        foreign: It has another interpreter than ours.
        cache: Where its libraries may keep things.
        path: Folders that it imports from, before the SDK's.
        named: Variables that it gets beyond those that every child gets.
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
