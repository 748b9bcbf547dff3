"""Locations of the workers that come with MOSAIC, and of the workers that a worker requires."""

from __future__ import annotations

from pathlib import Path

from gym_gui.core.paths import PACKAGE

MANIFEST = "worker.toml"
"""Name of the file that describes a worker. A folder that contains such a file is a worker."""


def bundled_folders() -> tuple[Path, ...]:
    """Return the folders whose sub-folders are the workers that come with MOSAIC."""
    # In a wheel the workers are inside the package, in a checkout beside it.
    inside, beside = PACKAGE / "bundled", PACKAGE.parent / "3rd_party"
    return (inside,) if inside.is_dir() else (beside,)


def worker_folder(name: str, folder: Path) -> Path | None:
    """Return the folder of the worker ``name``, which the worker in ``folder`` requires.

    Neighbors of ``folder`` have priority over the workers that come with MOSAIC, so that workers that were
    installed together use each other.

    Returns:
        The folder; ``None`` if neither place has the worker.
    """
    places = (folder.parent, *bundled_folders())
    return next((place / name for place in places if (place / name / MANIFEST).is_file()), None)
