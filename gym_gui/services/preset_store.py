"""What people keep under a name, a file each: configurations of Agents, trainings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast

from gym_gui.core.errors import UsageError
from gym_gui.core.validation import ConfigError, folder_name
from gym_gui.services.trash import throw_away
from mosaic_worker.plain_files import read_file, replace_file

FORMAT: Final = 1
_MAX_BYTES: Final = 2**20

T = TypeVar("T")
Trash = Callable[[Path], object]
"""Throws a file away so that it can be had back."""


class PresetError(UsageError):
    """A preset that cannot be saved, read or found."""


@dataclass(frozen=True)
class PresetKind(Generic[T]):
    """What presets of one kind are, and how a file holds them.

    Attributes:
        suffix: What their files' names end in.
        key: The file's key that says its format.
        to_data: Name and value as the file has them, without that key.
        from_data: The opposite, from the file's path and content; raises :class:`PresetError`.
        environment: Which one a value is for.
        elsewhere: Where to go with a file that is something else.
    """

    suffix: str
    key: str
    to_data: Callable[[str, T], Mapping[str, Any]]
    from_data: Callable[[Path, Mapping[str, Any]], T]
    environment: Callable[[T], str]
    elsewhere: str = "Delete it, or save it anew"

    def read(self, path: Path) -> tuple[str, T]:
        """Name and value of a file.

        Raises:
            PresetError: It cannot be read, is no preset, or of a later version.
        """
        content = self._content(path)
        name = content.get("name")
        return (name if isinstance(name, str) and name else self.name_of(path)), self.from_data(path, content)

    def write(self, path: Path, name: str, value: T) -> None:
        """Write a preset to any file, to be passed on.

        Raises:
            PresetError: It cannot be written.
        """
        content = {self.key: FORMAT, **self.to_data(name, value)}
        write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def name_of(self, path: Path) -> str:
        """The name under which a preset's file is found; renaming the file renames the preset."""
        return path.name.removesuffix(self.suffix)

    def _content(self, path: Path) -> dict[str, Any]:
        try:
            data: Any = json.loads(read_file(path, links=True, limit=_MAX_BYTES).decode("utf-8-sig"))
        except OSError as error:
            raise PresetError(f"{path} cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError):
            fix = f"A preset's name ends in {self.suffix}"
            raise PresetError(f"{path.name} is no preset", fix=fix) from None
        if not isinstance(data, dict) or self.key not in data:
            raise PresetError(f"{path.name} is no preset", fix=self.elsewhere)
        content = cast("dict[str, Any]", data)
        if content[self.key] != FORMAT:
            raise PresetError(
                f"{path.name} was saved by a later version of MOSAIC", fix="Install that version"
            )
        return content


@dataclass(frozen=True)
class Preset:
    """A saved value, as lists show it.

    Attributes:
        name: As people call it.
        path: Its file.
        environment: What it is for.
        problem: Why it cannot be loaded, as a sentence; empty when it can.
    """

    name: str
    path: Path
    environment: str = ""
    problem: str = ""


class PresetStore(Generic[T]):
    """The presets of one kind in a folder.

    Args:
        folder: Where they are; made when the first is saved.
        kind: What they are.
        trash: What :meth:`delete` does with a file; the desktop's trash by default.
    """

    def __init__(self, folder: Path, kind: PresetKind[T], trash: Trash | None = None) -> None:
        self.folder, self.kind = folder, kind
        self._trash = trash or _to_trash

    def presets(self) -> list[Preset]:
        """All of them, by name; those that cannot be read say why."""
        found = [self._described(path) for path in self.folder.glob(f"*{self.kind.suffix}")]
        return sorted(found, key=lambda preset: preset.name.casefold())

    def path_of(self, name: str) -> Path:
        """The file of a preset, there or not.

        Raises:
            PresetError: No file can be called so.
        """
        try:
            return self.folder / f"{folder_name(name.strip(), 'name')}{self.kind.suffix}"
        except ConfigError as error:
            problem = error.problem.removesuffix("; it names a folder of the run")
            raise PresetError(f"a preset cannot be called so: {problem}", fix=error.fix) from None

    def save(self, name: str, value: T, *, replace_it: bool = False) -> Preset:
        """Save a value.

        Args:
            name: What to call it.
            value: The configuration, or training.
            replace_it: Whether one of that name may be replaced.

        Raises:
            PresetError: There is one of that name, or it cannot be written.
        """
        path = self.path_of(name)
        if path.exists() and not replace_it:
            raise PresetError(
                f"there is a preset {name.strip()!r} already", fix="Replace it, or choose another name"
            )
        self.kind.write(path, name.strip(), value)
        return self._described(path)

    def load(self, name: str) -> T:
        """The value of that name.

        Raises:
            PresetError: There is none, or it cannot be read.
        """
        return self.kind.read(self.path_of(name))[1]

    def import_file(self, path: Path) -> Preset:
        """Take over a preset from a file of another user; a name that is taken gets a number.

        Raises:
            PresetError: The file is no preset, or the preset cannot be kept.
        """
        name, value = self.kind.read(path)
        taken = {preset.name.casefold() for preset in self.presets()}
        wanted, number = name, 2
        while wanted.casefold() in taken or self.path_of(wanted).exists():
            wanted, number = f"{name} {number}", number + 1
        return self.save(wanted, value)

    def delete(self, name: str) -> bytes:
        """Throw a preset away; returns its content, for :meth:`restore`.

        Raises:
            PresetError: There is none.
            MosaicError: The trash does not take it.
        """
        path = self.path_of(name)
        try:
            content = read_file(path, links=True, limit=_MAX_BYTES)
            self._trash(path)
        except FileNotFoundError:
            raise PresetError(f"there is no preset {name!r}") from None
        except OSError as error:
            raise PresetError(f"{path} cannot be thrown away: {error.strerror or error}") from error
        return content

    def restore(self, name: str, content: bytes) -> None:
        """Undo :meth:`delete`.

        Raises:
            PresetError: It cannot be written.
        """
        write_bytes(self.path_of(name), content)

    def _described(self, path: Path) -> Preset:
        name = self.kind.name_of(path)
        try:
            return Preset(name, path, self.kind.environment(self.kind.read(path)[1]))
        except PresetError as error:
            return Preset(name, path, problem=str(error))


def write_text(path: Path, content: str) -> None:
    """Write a file, whole or not at all; its folder is made.

    Raises:
        PresetError: It cannot be written.
    """
    write_bytes(path, content.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """:func:`write_text` of bytes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content, sync=False)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PresetError(f"{path} cannot be written: {reason}", fix="Choose another folder") from error


def _to_trash(path: Path) -> None:
    throw_away(path)
