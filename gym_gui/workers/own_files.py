"""Files that a worker needs and no package installs, and programs that are built from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gym_gui.core.paths import data_dir
from gym_gui.workers.definition import BuildSpec, WorkerTypeDefinition

PLACE: Final = "{files}"
"""Placeholder in a worker's commands for the folder of its files."""
PUBLISHED: Final = "published"
"""Value of a checksum that stands for the checksum published beside the file."""
BUILD: Final = "its program"
"""Name of the worker's program in a list of missing files, if the program must be built."""
_BUILT: Final = ".built"


def files_folder(worker_id: str) -> Path:
    """Return the folder of a worker's files."""
    return data_dir() / "worker_files" / worker_id


def with_files(command: tuple[str, ...], worker_id: str) -> list[str]:
    """Return a command line with the folder of files in place of ``{files}``."""
    return [part.replace(PLACE, str(files_folder(worker_id))) for part in command]


def absent_files(definition: WorkerTypeDefinition) -> tuple[str, ...]:
    """Return the names of a worker's missing files, then :data:`BUILD` if its program must be built."""
    folder = files_folder(definition.type_id)
    files = tuple(file.name for file in definition.files if not (folder / file.name).is_file())
    if definition.build is None or (not files and _is_built(definition)):
        return files
    return (*files, BUILD)


def _is_built(definition: WorkerTypeDefinition) -> bool:
    try:
        return _read_mark(files_folder(definition.type_id)) == built_from(definition)
    except OSError:  # a source that cannot be read
        return False


def mark_built(definition: WorkerTypeDefinition) -> None:
    """Record that the worker's program was built from its current sources and files."""
    folder = files_folder(definition.type_id)
    (folder / _BUILT).write_text(built_from(definition), "utf-8")


def forget_built(definition: WorkerTypeDefinition) -> None:
    """Remove the record of the last build, because the worker's program is about to be built again."""
    (files_folder(definition.type_id) / _BUILT).unlink(missing_ok=True)


def built_from(definition: WorkerTypeDefinition) -> str:
    """Return a digest that changes with the sources, the files and the command of a build."""
    digest = hashlib.sha256()
    build, folder = definition.build, files_folder(definition.type_id)
    assert build is not None
    assert definition.folder is not None
    digest.update(repr(with_files(build.command, definition.type_id)).encode())
    for source in _sources(definition.folder, build):
        digest.update(f"{source.relative_to(definition.folder)}\n".encode())
        digest.update(source.read_bytes())
    for file in definition.files:
        status = (folder / file.name).stat()
        digest.update(f"{file.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _sources(folder: Path, build: BuildSpec) -> Iterator[Path]:
    for name in build.sources:
        path = folder / name
        yield from [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())


def _read_mark(folder: Path) -> str:
    try:
        return (folder / _BUILT).read_text("utf-8")
    except OSError:
        return ""
