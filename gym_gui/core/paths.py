"""Paths of MOSAIC's folders. This module creates no folder but a temporary cache as a last resort.

Each folder can be moved with an environment variable, which is read at each call: ``MOSAIC_DATA_DIR``
(workers, policies), ``MOSAIC_RUNS_DIR`` (run folders), ``MOSAIC_CONFIG_DIR`` (hosts and decisions of the
user, such as trusted code), ``MOSAIC_CACHE_DIR`` (may be deleted at any time) and ``MOSAIC_RUNTIME_DIR``
(sockets).
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import cast

import platformdirs

from mosaic_worker.plain_files import read_file

APP = "mosaic"
SETTINGS = "settings.json"
"""File in :func:`data_dir` that holds the user's choices on the Settings page."""
RUNS_SETTING = "runs_folder"
"""Key of the settings file for the folder of runs."""

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the ``gym_gui`` package."""
EXAMPLES = (PACKAGE / "bundled" / "examples", PACKAGE.parent / "docs" / "examples")
"""Folders that may hold the examples: inside the package in a wheel, beside the package in a checkout."""
DOCS = (PACKAGE / "bundled" / "docs", PACKAGE.parent / "docs")
"""Folders that may hold the documentation, in a wheel and in a checkout."""


def data_dir() -> Path:
    """Return the folder of the user's workers, policies and presets."""
    return _from_env("MOSAIC_DATA_DIR") or Path(platformdirs.user_data_dir(APP, appauthor=False))


def config_dir() -> Path:
    """Return the folder of the user's permanent decisions, such as hosts and trusted code."""
    return _from_env("MOSAIC_CONFIG_DIR") or Path(platformdirs.user_config_dir(APP, appauthor=False))


def hosts_file() -> Path:
    """Return the path of the file that lists the user's hosts."""
    return config_dir() / "hosts.yaml"


def runs_dir() -> Path:
    """Return the folder for run folders if no other folder is given.

    This is ``MOSAIC_RUNS_DIR``, else the user's choice on the Settings page, else ``runs`` in the working
    directory.
    """
    return _from_env("MOSAIC_RUNS_DIR") or _chosen_runs() or Path("runs")


def run_folders(runs: Path) -> list[Path]:
    """Return the folders in a folder of runs, newest name first; empty if the folder cannot be read."""
    try:
        with os.scandir(runs) as entries:
            names = [e.name for e in entries if not e.name.startswith(".") and e.is_dir()]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    return [runs / name for name in sorted(names, reverse=True)]


def find_run(path: Path) -> Path:
    """Return ``path`` if it exists, else the run of this name in :func:`runs_dir` if there is one."""
    beside = runs_dir() / path
    return beside if not path.exists() and beside.is_dir() else path


def cache_dir() -> Path:
    """Return the cache folder, or a private temporary folder if the cache folder is not writable."""
    given = _from_env("MOSAIC_CACHE_DIR")
    usual = Path(platformdirs.user_cache_dir(APP, appauthor=False))
    return given or (usual if _takes_files(usual) else _temporary() or usual)


def user_workers_dir() -> Path:
    """Return the folder that holds the user's own workers, one folder for each."""
    return data_dir() / "workers"


def _chosen_runs() -> Path | None:
    """Return the folder of runs in the window's settings, or ``None`` if it is unset or unreadable."""
    try:
        data: object = json.loads(read_file(data_dir() / SETTINGS, links=True))
    except (OSError, ValueError, RecursionError):
        return None
    chosen = cast("dict[str, object]", data).get(RUNS_SETTING) if isinstance(data, dict) else None
    return Path(chosen) if isinstance(chosen, str) and Path(chosen).is_absolute() else None


def _from_env(name: str) -> Path | None:
    value = os.environ.get(name, "").strip()
    return Path(value).expanduser().absolute() if value else None


def _takes_files(folder: Path) -> bool:
    """Return whether the folder is writable, or can be created if it does not exist yet."""
    there = next(place for place in (folder, *folder.parents) if os.path.exists(place))  # noqa: PTH110  # no error
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _temporary() -> Path | None:
    """Return a private temporary folder that later processes find again; ``None`` if it is not private."""
    try:
        folder = Path(tempfile.gettempdir()) / f"{APP}-cache-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
    return folder if private else None
