"""Where MOSAIC keeps things, as paths only; nothing is created here.

Every place can be moved with an environment variable, read at each call:
``MOSAIC_DATA_DIR`` (workers, policies), ``MOSAIC_RUNS_DIR`` (run folders),
``MOSAIC_CONFIG_DIR`` (what was allowed), ``MOSAIC_CACHE_DIR`` (may be deleted at any time) and
``MOSAIC_RUNTIME_DIR`` (sockets).
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

APP = "mosaic"


def data_dir() -> Path:
    """The user's own workers, policies and presets."""
    return _from_env("MOSAIC_DATA_DIR") or Path(platformdirs.user_data_dir(APP, appauthor=False))


def config_dir() -> Path:
    """What a person has decided for good."""
    return _from_env("MOSAIC_CONFIG_DIR") or Path(platformdirs.user_config_dir(APP, appauthor=False))


def runs_dir() -> Path:
    """Where run folders go when no other place is given: ``runs`` in the working directory."""
    return _from_env("MOSAIC_RUNS_DIR") or Path("runs")


def cache_dir() -> Path:
    """Files that can be made again."""
    return _from_env("MOSAIC_CACHE_DIR") or Path(platformdirs.user_cache_dir(APP, appauthor=False))


def user_workers_dir() -> Path:
    """Folder in which the user drops workers of their own, one folder each."""
    return data_dir() / "workers"


def _from_env(name: str) -> Path | None:
    value = os.environ.get(name, "").strip()
    return Path(value).expanduser().absolute() if value else None
