"""Where the workers lie that come with MOSAIC, and where one finds another that it builds on."""

from __future__ import annotations

from pathlib import Path

from gym_gui.core.paths import PACKAGE

MANIFEST = "worker.toml"
"""The file that makes a folder a worker."""


def bundled_folders() -> tuple[Path, ...]:
    """Folders whose sub-folders are the workers that come with MOSAIC."""
    # In a wheel they lie inside the package, in a checkout beside it.
    inside, beside = PACKAGE / "bundled", PACKAGE.parent / "3rd_party"
    return (inside,) if inside.is_dir() else (beside,)


def worker_folder(name: str, folder: Path) -> Path | None:
    """Folder of the worker ``name`` that the one in ``folder`` builds on.

    Its neighbor comes first, so that workers that came together stay together; then those that
    come with MOSAIC, which a worker of one's own may build on.

    Returns:
        ``None`` where there is none.
    """
    places = (folder.parent, *bundled_folders())
    return next((place / name for place in places if (place / name / MANIFEST).is_file()), None)
