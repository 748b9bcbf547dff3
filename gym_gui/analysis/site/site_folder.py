"""Creates the folder of a site beside an older one, which it replaces when it is complete."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.core.record_fields import mapping
from gym_gui.version import __version__
from mosaic_worker.plain_files import read_file

MARK: Final = "site.json"
"""Name of the file that marks a folder as a site of MOSAIC."""
_KIND = "mosaic report"
_ENDINGS = {".html", ".css", ".js", ".json"}
_FOLDERS = {"runs", "agents"}


@dataclass(frozen=True)
class SiteWorkshop:
    """Temporary folders for writing a site.

    Attributes:
        site: The folder that becomes the site.
        films: A folder for replays, until their pages are written.
    """

    site: Path
    films: Path


def require_replaceable(folder: Path) -> None:
    """Check that a site may replace a folder, which must be empty, an older site, or not exist.

    Raises:
        UsageError: The folder contains other files.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file", fix="Name a folder for the site")
    if not any(folder.iterdir()):
        return
    if not _is_site(folder):
        raise UsageError(
            f"{folder} contains other files than a site of a report, so it is not replaced",
            fix="Name an empty or new folder",
        )
    if foreign := _foreign_file(folder):
        raise UsageError(
            f"{folder} is a site, but {foreign} is none of its pages, so it is not replaced",
            fix="Move that file elsewhere, or name another folder",
        )


@contextmanager
def new_site(folder: Path) -> Generator[SiteWorkshop]:
    """Create temporary folders for a site, which replaces ``folder`` at the end unless an error occurs.

    Args:
        folder: Folder for the site.

    Raises:
        UsageError: The folder contains other files, or cannot be written.
    """
    require_replaceable(folder)
    place = folder.resolve()
    workshop = _beside(place, "new")
    try:
        try:
            (workshop / "site").mkdir(parents=True)
            yield SiteWorkshop(workshop / "site", workshop / "films")
            require_replaceable(place)
            _replace_folder(workshop / "site", place)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(
                f"the site {folder} cannot be written: {reason}",
                fix="Free some space, or name another folder",
            ) from error
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def write_mark(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the file ``site.json``, which marks a folder as a site.

    Raises:
        OSError: The file cannot be written.
    """
    data = {"kind": _KIND, "format": 1, "made_with": f"MOSAIC {__version__}", **facts}
    (folder / MARK).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def _replace_folder(made: Path, place: Path) -> None:
    """Move a new folder to its place, replacing an existing folder."""
    if not place.exists():
        made.rename(place)
        return
    before = _beside(place, "old")
    place.rename(before)
    try:
        made.rename(place)
    except BaseException:
        before.rename(place)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _beside(place: Path, ending: str) -> Path:
    return place.with_name(f".{place.name}.{uuid.uuid4().hex[:8]}.{ending}")


def _is_site(folder: Path) -> bool:
    try:
        data = mapping(json.loads(read_file(folder / MARK)))
    except (OSError, ValueError):
        return False
    return data is not None and data.get("kind") == _KIND


def _foreign_file(folder: Path) -> str:
    """Return the path of a file in a site that is none of its pages; empty if there is none."""
    for here, folders, files in os.walk(folder):
        top = Path(here) == folder
        for name in sorted(folders):
            path = Path(here, name)
            if path.is_symlink() or (top and name not in _FOLDERS):
                return path.relative_to(folder).as_posix()
        for name in sorted(files):
            path = Path(here, name)
            if path.is_symlink() or path.suffix not in (_ENDINGS if top else {".html"}):
                return path.relative_to(folder).as_posix()
    return ""
