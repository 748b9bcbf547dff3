"""Locations of the workers that come with MOSAIC, and of workers that others build on."""

from __future__ import annotations

from pathlib import Path

from gym_gui.core.paths import PACKAGE

MANIFEST = "worker.toml"
"""Name of the file that describes a worker; a folder that contains it is a worker."""


def bundled_folders() -> tuple[Path, ...]:
    """Return the folders whose sub-folders are the workers that come with MOSAIC."""
    # In a wheel the workers are inside the package, in a checkout beside it.
    inside, beside = PACKAGE / "bundled", PACKAGE.parent / "3rd_party"
    return (inside,) if inside.is_dir() else (beside,)


def worker_folder(name: str, folder: Path) -> Path | None:
    """Return the folder of the worker ``name`` on which the worker in ``folder`` builds.

    A neighbor of ``folder`` comes first, so that workers that were installed together stay together. Then
    follow the workers that come with MOSAIC, on which a user's worker may build.

    Returns:
        The folder; ``None`` if there is none.
    """
    places = (folder.parent, *bundled_folders())
    return next((place / name for place in places if (place / name / MANIFEST).is_file()), None)
