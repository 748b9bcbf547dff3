"""A text in a file: read, saved, watched."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from PyQt6.QtCore import QFileSystemWatcher, QObject, pyqtSignal

from gym_gui.core.errors import UsageError
from gym_gui.ui.timers import single_shot_timer
from mosaic_worker.plain_files import read_file, replace_file

DISK_MS: Final = 60
"""Wait after a change on disk before the file is read: a program may write it in several steps."""
MOST: Final = 1 << 20


class _Form(NamedTuple):
    """What of a file is no part of its text, and stays as it was.

    Attributes:
        mark: The byte order mark, where it begins with one.
        line_break: Between its lines.
    """

    mark: str = ""
    line_break: str = "\n"

    @classmethod
    def of(cls, content: bytes) -> tuple[_Form, str]:
        """Of a file, with its text.

        Raises:
            ValueError: It is not UTF-8.
        """
        text = content.decode()
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        return cls(mark, "\r\n" if "\r\n" in text else "\n"), text[len(mark) :]

    def encoded(self, text: str) -> bytes:
        """A text as such a file has it."""
        return (self.mark + text.replace("\n", self.line_break)).encode()


class TextFile(QObject):
    """See the module. Overwrites no change of another program that the user has not been told of.

    Args:
        path: The file; empty: there is none yet.
        parent: Qt owner.

    Attributes:
        path: Where the file is; ``None`` where there is no file, or none that can be read.
    """

    changed = pyqtSignal(str)
    """Another program has written the file: the text that is on disk now."""

    def __init__(self, path: str, parent: QObject) -> None:
        super().__init__(parent)
        self._written = os.path.expanduser(path)  # noqa: PTH111
        self.path: Path | None = Path(self._written).absolute() if path else None
        self._asked = self.path
        self._form = _Form()
        self._known: bytes | None = None
        self._disk = single_shot_timer(self, DISK_MS, self._on_disk_changed)
        self._watcher = QFileSystemWatcher(self)
        for signal in (self._watcher.fileChanged, self._watcher.directoryChanged):
            signal.connect(self._disk.start)

    @property
    def given(self) -> str:
        """Its path as it was given: experiments travel with files that they name by relative paths."""
        return self._written if self.path == self._asked else str(self.path)

    def read(self) -> str | None:
        """Its text; ``None`` where there is no file yet.

        Raises:
            UsageError: It cannot be read. It has no path then, so that it is not written over.
        """
        if self.path is None:
            return None
        try:
            self._known = read_file(self.path, links=True, limit=MOST)
            self._form, text = _Form.of(self._known)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or "it is no text in UTF-8"
            path, self.path = self.path, None
            raise UsageError(f"{path} cannot be read: {reason}") from error
        self._watch()
        return text

    def save(self, text: str) -> None:
        """Write it.

        Raises:
            UsageError: It cannot be written, or another program has written it since it was read.
        """
        assert self.path is not None
        before, self._known = self._known, self._content()
        if self._known not in (None, before):
            raise UsageError(
                f"{self.path} was changed by another program since it was read",
                fix="Save again to write over that",
            )
        try:
            data = self._form.encoded(text)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Where a person's own link stands it stays: the file behind it is what they edit.
            replace_file(self.path.resolve(), data, mode=_mode(self.path), sync=False)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or "it holds what is no character"
            raise UsageError(
                f"{self.path} cannot be written: {reason}", fix="Save it under another name"
            ) from error
        self._known = data
        self._watch()

    def move(self, path: Path) -> None:
        """From now on it is that file; whether that may be written over has been asked."""
        self.path = path
        self.accept()

    def accept(self) -> None:
        """What is on disk is known now: it may be written over."""
        self._known = self._content()

    def take(self) -> str | None:
        """The text that is on disk now, as what is known of it; ``None`` where there is none."""
        content = self._content()
        if content is None:
            return None
        try:
            self._form, text = _Form.of(content)
        except ValueError:
            return None
        self._known = content
        return text

    def let_go(self) -> None:
        """Watch it no more."""
        self._disk.stop()

    def _content(self) -> bytes | None:
        """What it holds; ``None`` where it is not there, or is none that can be edited."""
        try:
            return read_file(self.path, links=True, limit=MOST) if self.path is not None else None
        except OSError:
            return None

    def _watch(self) -> None:
        """The file, and its folder: most programs put a new file in its place."""
        if self.path is None:
            return
        watched = [*self._watcher.files(), *self._watcher.directories()]
        wanted = [str(each) for each in (self.path, self.path.parent) if each.exists()]
        for gone in set(watched) - set(wanted):
            self._watcher.removePath(gone)
        if new := [each for each in wanted if each not in watched]:
            self._watcher.addPaths(new)

    def _on_disk_changed(self) -> None:
        self._watch()
        content = self._content()
        if content is None or content == self._known:
            return
        try:
            _, text = _Form.of(content)
        except ValueError:
            return
        self.changed.emit(text)


def _mode(path: Path) -> int:
    """Who may read and write a file; what is usual where it is new."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o666
