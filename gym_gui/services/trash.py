"""Moves folders and files to the desktop's trash and restores them."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from gym_gui.core.errors import MissingDependencyError, MosaicError, UsageError
from gym_gui.services.run_lock import is_being_written


class TrashError(MosaicError):
    """Error for a folder or file that could not be moved to the trash or restored from it."""


def move_to_trash(folder: Path) -> Path | None:
    """Move a run folder, or a file, to the desktop's trash.

    Args:
        folder: The run folder, or the file.

    Returns:
        The path in the trash, for :func:`put_back`; ``None`` if the system does not report it.

    Raises:
        UsageError: The run is being written, or the path does not exist.
        TrashError: The disk of the path has no trash, or the path may not be moved.
        MissingDependencyError: Send2Trash is not installed.
    """
    try:
        import send2trash
    except ImportError:
        raise MissingDependencyError("the trash", "mosaic install gui") from None
    try:
        if folder.is_dir() and is_being_written(folder):
            raise UsageError(f"the run {folder.name} is being written", fix="Stop the run first")
        send2trash.send2trash(str(folder))
    except FileNotFoundError:
        raise UsageError(f"{folder} no longer exists", fix="Refresh the list") from None
    except OSError as exc:  # Send2Trash's own errors are OSErrors too
        reason = exc.strerror or str(exc)
        raise TrashError(
            f"{folder} could not be moved to the trash: {reason}", fix="Open the folder and delete it there"
        ) from exc
    return next(_entries_of(folder), None)


def put_back(trashed: Path, folder: Path) -> None:
    """Undo :func:`move_to_trash` by moving a folder or file from the trash back to its path.

    Raises:
        TrashError: It is no longer in the trash, or its old path exists again.
    """
    if folder.exists():
        raise TrashError(f"{folder} exists already", fix="Nothing needs to be restored")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(trashed, folder)
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise TrashError(f"{folder} could not be restored: {reason}", fix="Check the trash") from exc
    with contextlib.suppress(OSError):
        _info_of(trashed).unlink()


def _entries_of(folder: Path) -> Iterator[Path]:
    """Yield the paths of a folder in the trash (freedesktop.org specification), newest first."""
    absolute = folder.absolute()
    listed: list[tuple[str, Path]] = []
    for trash, base in _trashes(absolute):
        for info in (trash / "info").glob("*.trashinfo") if (trash / "info").is_dir() else ():
            fields = _fields(info)
            origin = base / unquote(fields.get("Path", ""))
            kept = trash / "files" / info.stem
            if origin == absolute and kept.exists():
                listed.append((fields.get("DeletionDate", ""), kept))
    yield from (kept for _, kept in sorted(listed, reverse=True))


def _trashes(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield trash folders that may contain a folder, each with the base of its relative paths."""
    home = os.environ.get("XDG_DATA_HOME", "").strip()
    yield (Path(home) if home else Path.home() / ".local" / "share") / "Trash", Path("/")
    for top in folder.parents:
        for trash in (top / ".Trash" / str(os.getuid()), top / f".Trash-{os.getuid()}"):
            if trash.is_dir():
                yield trash, top


def _fields(info: Path) -> dict[str, str]:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        pairs = (line.partition("=") for line in info.read_text(encoding="utf-8").splitlines())
        return {key.strip(): value.strip() for key, _, value in pairs}
    return {}


def _info_of(trashed: Path) -> Path:
    return trashed.parent.parent / "info" / f"{trashed.name}.trashinfo"
