"""Finds files and line numbers in messages, so that a person can open the files.

A message names a person's file by its short name (``maze.py, line 12, in step``), so the file is searched
for in the folders that it can come from. Tracebacks in the log contain full paths.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import FilePosition
from gym_gui.core.paths import PACKAGE

SUFFIXES: Final = ("py", "asl", "yaml", "yml", "json", "toml")
"""Suffixes of files that can be opened at a line."""
_NAME: Final = rf"(?P<file>(?:[~/]|\b)[^\s:;,\"'()]*?\.(?:{'|'.join(SUFFIXES)}))"
_FORMS: Final = (
    re.compile(rf'File "(?P<file>[^"\n]+\.(?:{"|".join(SUFFIXES)}))", line (?P<line>\d+)'),
    re.compile(rf"{_NAME}[^\n]{{0,400}}?\(at line (?P<line>\d+), column (?P<column>\d+)\)"),
    re.compile(rf"{_NAME},? line (?P<line>\d+)"),
    re.compile(rf"{_NAME}:(?P<line>\d+)(?::(?P<column>\d+))?"),
)
_MOST: Final = 20_000
"""Largest number of characters searched, counted from the end of the message."""
_NOT_OURS: Final = frozenset({"site-packages", "dist-packages"})


def place_in(text: str, folders: Iterable[str | Path] = ()) -> FilePosition | None:
    """Return the file and line that a message or a traceback refers to.

    Args:
        text: The message.
        folders: Folders to search for files that are named without a folder.

    Returns:
        The innermost place of a traceback, or the first place of another message, that is neither in a
        library nor in MOSAIC itself. ``None`` if no existing file is named.
    """
    searched = [Path(folder) for folder in dict.fromkeys(map(str, folders)) if str(folder)]
    for form in _FORMS:
        found = list(_places_in(form, text[-_MOST:], searched))
        if found:
            return found[-1] if form is _FORMS[0] else found[0]
    return None


def _places_in(form: re.Pattern[str], text: str, folders: list[Path]) -> Iterator[FilePosition]:
    for match in form.finditer(text):
        parts = match.groupdict()
        file = _existing_file(parts["file"], folders)
        if file is not None and not _is_library(file):
            yield FilePosition(str(file), int(parts["line"]), int(parts.get("column") or 0))


def _existing_file(written: str, folders: list[Path]) -> Path | None:
    try:
        path = Path(written).expanduser()
        candidates = [path] if path.is_absolute() else [folder / path for folder in folders]
        return next((each.absolute() for each in candidates if each.is_file()), None)
    except (OSError, RuntimeError, ValueError):
        return None


def _is_library(file: Path) -> bool:
    parents = {*file.parents, *file.resolve().parents}
    standard = Path(sysconfig.get_paths()["stdlib"])
    return not _NOT_OURS.isdisjoint(file.parts) or PACKAGE in parents or standard in parents


def folders_of(operator: OperatorConfig) -> list[Path]:
    """Return the folders of an operator's files: its experiment's folder and those named in its settings."""
    from gym_gui.services.experiment_file import file_settings
    from gym_gui.workers.registry import WorkerTypeRegistry

    folders = [Path(operator.origin.folder or ".")]
    for player in (*operator.workers.values(), *operator.manager.values()):
        for name in file_settings(player.worker_id):
            value = player.settings.get(name)
            if isinstance(value, str) and value:
                path = Path(value).expanduser()
                folders += [path] if path.is_dir() else [path.parent]
        definition = WorkerTypeRegistry.get(player.worker_id)
        if definition is not None and definition.folder is not None:
            folders.append(definition.folder)
    return folders
