"""Stores presets, such as configurations of the Agents page and trainings, by name in one file each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast

from gym_gui.core.errors import UsageError
from gym_gui.core.validation import ConfigError, folder_name
from gym_gui.services.trash import move_to_trash
from mosaic_worker.plain_files import read_file, replace_file

FORMAT: Final = 1
_MAX_BYTES: Final = 2**20

T = TypeVar("T")
Trash = Callable[[Path], object]
"""Type of a function that moves a file to the trash, from where it can be restored."""


class PresetError(UsageError):
    """Error for a preset that cannot be saved, read or found."""


@dataclass(frozen=True)
class PresetKind(Generic[T]):
    """Kind of preset, with the format of its files.

    Attributes:
        suffix: Suffix of the files' names.
        key: Key of the file that holds the format number.
        to_data: Returns the file's content for a name and a value, without ``key``.
        from_data: Returns the value for the file's path and content, or raises :class:`PresetError`.
        environment: Returns the environment that a value is for.
        elsewhere: Advice to show for a file that is not a preset.
    """

    suffix: str
    key: str
    to_data: Callable[[str, T], Mapping[str, Any]]
    from_data: Callable[[Path, Mapping[str, Any]], T]
    environment: Callable[[T], str]
    elsewhere: str = "Delete the file, or save the preset again"

    def read(self, path: Path) -> tuple[str, T]:
        """Return the name and the value in a file.

        Raises:
            PresetError: The file cannot be read, is not a preset, or has a later format.
        """
        content = self._content(path)
        name = content.get("name")
        return (name if isinstance(name, str) and name else self.name_of(path)), self.from_data(path, content)

    def write(self, path: Path, name: str, value: T) -> None:
        """Write a preset to any file, for example to share it.

        Raises:
            PresetError: The file cannot be written.
        """
        content = {self.key: FORMAT, **self.to_data(name, value)}
        write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def name_of(self, path: Path) -> str:
        """Return the preset's name: the file name without suffix. Renaming the file renames the preset."""
        return path.name.removesuffix(self.suffix)

    def _content(self, path: Path) -> dict[str, Any]:
        try:
            data: Any = json.loads(read_file(path, links=True, limit=_MAX_BYTES).decode("utf-8-sig"))
        except OSError as error:
            raise PresetError(f"{path} cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError):
            fix = f"Choose a file whose name ends in {self.suffix}"
            raise PresetError(f"{path.name} is not a preset", fix=fix) from None
        if not isinstance(data, dict) or self.key not in data:
            raise PresetError(f"{path.name} is not a preset", fix=self.elsewhere)
        content = cast("dict[str, Any]", data)
        if content[self.key] != FORMAT:
            raise PresetError(
                f"{path.name} was saved by a later version of MOSAIC", fix="Install that version"
            )
        return content


@dataclass(frozen=True)
class Preset:
    """Summary of a preset for lists.

    Attributes:
        name: Name of the preset.
        path: File of the preset.
        environment: Environment that the preset is for.
        problem: Why the preset cannot be loaded, as a sentence; empty if it can be loaded.
    """

    name: str
    path: Path
    environment: str = ""
    problem: str = ""


class PresetStore(Generic[T]):
    """The presets of one kind in a folder.

    Args:
        folder: Folder of the presets, created when the first preset is saved.
        kind: Kind of the presets.
        trash: Removes the file of a deleted preset; by default, moves it to the desktop's trash.
    """

    def __init__(self, folder: Path, kind: PresetKind[T], trash: Trash | None = None) -> None:
        self.folder, self.kind = folder, kind
        self._trash = trash or _to_trash

    def presets(self) -> list[Preset]:
        """Return all presets, sorted by name. A preset that cannot be read has a ``problem``."""
        found = [self._described(path) for path in self.folder.glob(f"*{self.kind.suffix}")]
        return sorted(found, key=lambda preset: preset.name.casefold())

    def path_of(self, name: str) -> Path:
        """Return the path of a preset's file, whether the file exists or not.

        Raises:
            PresetError: The name cannot be a file name.
        """
        try:
            return self.folder / f"{folder_name(name.strip(), 'name')}{self.kind.suffix}"
        except ConfigError as error:
            problem = error.problem.removesuffix("; it names a folder of the run")
            raise PresetError(f"a preset cannot have this name: {problem}", fix=error.fix) from None

    def save(self, name: str, value: T, *, replace_it: bool = False) -> Preset:
        """Save a value as a preset.

        Args:
            name: Name of the preset.
            value: The configuration or training to save.
            replace_it: Whether to replace an existing preset of that name.

        Raises:
            PresetError: A preset of that name exists already, or the file cannot be written.
        """
        path = self.path_of(name)
        if path.exists() and not replace_it:
            raise PresetError(
                f"preset {name.strip()!r} exists already", fix="Replace it, or choose another name"
            )
        self.kind.write(path, name.strip(), value)
        return self._described(path)

    def load(self, name: str) -> T:
        """Return the value of a preset.

        Raises:
            PresetError: No preset has that name, or its file cannot be read.
        """
        return self.kind.read(self.path_of(name))[1]

    def import_file(self, path: Path) -> Preset:
        """Import a preset from a file of another user. If its name is taken, a number is added.

        Raises:
            PresetError: The file is not a preset, or the preset cannot be saved.
        """
        name, value = self.kind.read(path)
        taken = {preset.name.casefold() for preset in self.presets()}
        wanted, number = name, 2
        while wanted.casefold() in taken or self.path_of(wanted).exists():
            wanted, number = f"{name} {number}", number + 1
        return self.save(wanted, value)

    def delete(self, name: str) -> bytes:
        """Move a preset to the trash and return its content, for :meth:`restore`.

        Raises:
            PresetError: No preset has that name, or its file cannot be read or removed.
            MosaicError: The trash refuses the file.
        """
        path = self.path_of(name)
        try:
            content = read_file(path, links=True, limit=_MAX_BYTES)
            self._trash(path)
        except FileNotFoundError:
            raise PresetError(f"there is no preset {name!r}") from None
        except OSError as error:
            raise PresetError(f"{path} cannot be moved to the trash: {error.strerror or error}") from error
        return content

    def restore(self, name: str, content: bytes) -> None:
        """Undo :meth:`delete` by writing the preset's content back.

        Raises:
            PresetError: The file cannot be written.
        """
        write_bytes(self.path_of(name), content)

    def _described(self, path: Path) -> Preset:
        name = self.kind.name_of(path)
        try:
            return Preset(name, path, self.kind.environment(self.kind.read(path)[1]))
        except PresetError as error:
            return Preset(name, path, problem=str(error))


def write_text(path: Path, content: str) -> None:
    """Write text to a file, whole or not at all, and create its folder.

    Raises:
        PresetError: The file cannot be written.
    """
    write_bytes(path, content.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes to a file, whole or not at all, and create its folder. Raises like :func:`write_text`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content, sync=False)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PresetError(f"{path} cannot be written: {reason}", fix="Choose another folder") from error


def _to_trash(path: Path) -> None:
    move_to_trash(path)
