"""Where MOSAIC keeps things, as paths only; nothing is created here but a cache's last resort.

Every place can be moved with an environment variable, read at each call:
``MOSAIC_DATA_DIR`` (workers, policies), ``MOSAIC_RUNS_DIR`` (run folders),
``MOSAIC_CONFIG_DIR`` (what was allowed), ``MOSAIC_CACHE_DIR`` (may be deleted at any time) and
``MOSAIC_RUNTIME_DIR`` (sockets).
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
"""What a person has chosen on the Settings page, in :func:`data_dir`."""
RUNS_SETTING = "runs_folder"
"""Its key for the folder of runs."""

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of this package."""
EXAMPLES = (PACKAGE / "bundled" / "examples", PACKAGE.parent / "docs" / "examples")
"""Where the examples may lie that come with it: in a wheel inside the package, in a checkout beside it."""
DOCS = (PACKAGE / "bundled" / "docs", PACKAGE.parent / "docs")
"""Where the documentation may lie, likewise."""


def data_dir() -> Path:
    """The user's own workers, policies and presets."""
    return _from_env("MOSAIC_DATA_DIR") or Path(platformdirs.user_data_dir(APP, appauthor=False))


def config_dir() -> Path:
    """What a person has decided for good."""
    return _from_env("MOSAIC_CONFIG_DIR") or Path(platformdirs.user_config_dir(APP, appauthor=False))


def hosts_file() -> Path:
    """Where a person's hosts are."""
    return config_dir() / "hosts.yaml"


def runs_dir() -> Path:
    """Where run folders go when no other place is given.

    ``MOSAIC_RUNS_DIR``, else what a person has chosen on the Settings page, else ``runs`` in the working
    directory.
    """
    return _from_env("MOSAIC_RUNS_DIR") or _chosen_runs() or Path("runs")


def run_folders(runs: Path) -> list[Path]:
    """Folders in a folder of runs, newest first, as their names say; none where it is not there."""
    try:
        with os.scandir(runs) as entries:
            names = [e.name for e in entries if not e.name.startswith(".") and e.is_dir()]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    return [runs / name for name in sorted(names, reverse=True)]


def find_run(path: Path) -> Path:
    """A run folder, or the one of that name among the runs here."""
    beside = runs_dir() / path
    return beside if not path.exists() and beside.is_dir() else path


def cache_dir() -> Path:
    """Files that can be made again; where the home takes none, in a private temporary folder."""
    given = _from_env("MOSAIC_CACHE_DIR")
    usual = Path(platformdirs.user_cache_dir(APP, appauthor=False))
    return given or (usual if _takes_files(usual) else _temporary() or usual)


def user_workers_dir() -> Path:
    """Folder in which the user drops workers of their own, one folder each."""
    return data_dir() / "workers"


def _chosen_runs() -> Path | None:
    """What stands in the window's settings; its own page says so where it cannot be read."""
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
    """Whether it can be written to, or made where it is not there yet."""
    there = next(place for place in (folder, *folder.parents) if os.path.exists(place))  # noqa: PTH110  # no error
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _temporary() -> Path | None:
    """A folder of this user that the next process finds again; ``None`` where others may write to it."""
    try:
        folder = Path(tempfile.gettempdir()) / f"{APP}-cache-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
    return folder if private else None
