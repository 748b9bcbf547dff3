"""Files and lines that a message names: what a person may want to open.

Messages name a file of a person's as its author knows it (``maze.py, line 12, in step``), and nothing of
where it lies: it is looked for in the folders that the file can be from. Tracebacks in the log name it whole.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import Place
from gym_gui.core.paths import PACKAGE

SUFFIXES: Final = ("py", "asl", "yaml", "yml", "json", "toml")
"""Of files that can be opened at a line."""
_NAME: Final = rf"(?P<file>(?:[~/]|\b)[^\s:;,\"'()]*?\.(?:{'|'.join(SUFFIXES)}))"
_FORMS: Final = (
    re.compile(rf'File "(?P<file>[^"\n]+\.(?:{"|".join(SUFFIXES)}))", line (?P<line>\d+)'),
    re.compile(rf"{_NAME}[^\n]{{0,400}}?\(at line (?P<line>\d+), column (?P<column>\d+)\)"),
    re.compile(rf"{_NAME},? line (?P<line>\d+)"),
    re.compile(rf"{_NAME}:(?P<line>\d+)(?::(?P<column>\d+))?"),
)
_MOST: Final = 20_000
"""Letters of a message that are looked at."""
_NOT_OURS: Final = frozenset({"site-packages", "dist-packages"})


def place_in(text: str, folders: Iterable[str | Path] = ()) -> Place | None:
    """The place that a message or a traceback is about.

    Args:
        text: The message.
        folders: Where a file may lie that is named without its folder.

    Returns:
        Of several the innermost that is neither a library's nor MOSAIC's own; ``None`` where it names none
        that is there.
    """
    searched = [Path(folder) for folder in dict.fromkeys(map(str, folders)) if str(folder)]
    for form in _FORMS:
        found = list(_found(form, text[-_MOST:], searched))
        if found:
            return found[-1] if form is _FORMS[0] else found[0]
    return None


def _found(form: re.Pattern[str], text: str, folders: list[Path]) -> Iterator[Place]:
    for match in form.finditer(text):
        parts = match.groupdict()
        file = _there(parts["file"], folders)
        if file is not None and not _is_library(file):
            yield Place(str(file), int(parts["line"]), int(parts.get("column") or 0))


def _there(written: str, folders: list[Path]) -> Path | None:
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
    """Where files lie that an operator plays with: beside its experiment, and with what its settings name."""
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
