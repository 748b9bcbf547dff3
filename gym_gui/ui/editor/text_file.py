"""Text file that is read, saved and watched for changes by other programs."""

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
"""Wait after a change on disk, in ms, because a program may write a file in several steps."""
MOST: Final = 1 << 20


class _Form(NamedTuple):
    """Encoding details of a file, which are kept when its text changes.

    Attributes:
        mark: Byte order mark, or ``""``.
        line_break: Line break of the file.
    """

    mark: str = ""
    line_break: str = "\n"

    @classmethod
    def of(cls, content: bytes) -> tuple[_Form, str]:
        """Return the encoding details and the text of a file's content.

        Raises:
            ValueError: The content is not UTF-8.
        """
        text = content.decode()
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        return cls(mark, "\r\n" if "\r\n" in text else "\n"), text[len(mark) :]

    def encoded(self, text: str) -> bytes:
        """Return a text as bytes, with the file's byte order mark and line breaks."""
        return (self.mark + text.replace("\n", self.line_break)).encode()


class TextFile(QObject):
    """Text file for the editor, which does not overwrite another program's changes without a warning.

    Args:
        path: Path of the file; ``""`` if there is no file yet.
        parent: Qt owner.

    Attributes:
        path: Absolute path; ``None`` if there is no file or it cannot be read.
    """

    changed = pyqtSignal(str)
    """Emits the text on disk after another program has written the file."""

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
        """Path as the caller wrote it, which may be relative; the absolute path after :meth:`move`."""
        return self._written if self.path == self._asked else str(self.path)

    def read(self) -> str | None:
        """Return the file's text; ``None`` if there is no file yet.

        Raises:
            UsageError: The file cannot be read. ``path`` is then ``None``, so that no later save overwrites
                the
                file.
        """
        if self.path is None:
            return None
        try:
            self._known = read_file(self.path, links=True, limit=MOST)
            self._form, text = _Form.of(self._known)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or "the file is not UTF-8 text"
            path, self.path = self.path, None
            raise UsageError(f"{path} cannot be read: {reason}") from error
        self._watch()
        return text

    def save(self, text: str) -> None:
        """Write a text to the file.

        Raises:
            UsageError: The file cannot be written, or another program has written it since it was read.
        """
        assert self.path is not None
        before, self._known = self._known, self._content()
        if self._known not in (None, before):
            raise UsageError(
                f"{self.path} was changed by another program since it was read",
                fix="Save again to overwrite those changes",
            )
        try:
            data = self._form.encoded(text)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # A symbolic link stays: write the file behind it.
            replace_file(self.path.resolve(), data, mode=_mode(self.path), sync=False)
        except (OSError, ValueError) as error:
            reason = (
                error.strerror if isinstance(error, OSError) else ""
            ) or "the text contains invalid characters"
            raise UsageError(
                f"{self.path} cannot be written: {reason}", fix="Save the file under another name"
            ) from error
        self._known = data
        self._watch()

    def move(self, path: Path) -> None:
        """Use another path from now on; the caller has asked the user whether to overwrite that file."""
        self.path = path
        self.accept()

    def accept(self) -> None:
        """Allow the next save to overwrite the current content on disk."""
        self._known = self._content()

    def accept_disk_text(self) -> str | None:
        """Return the text on disk and allow the next save to overwrite it; ``None`` if it cannot be read."""
        content = self._content()
        if content is None:
            return None
        try:
            self._form, text = _Form.of(content)
        except ValueError:
            return None
        self._known = content
        return text

    def ignore_changes(self) -> None:
        """Ignore further changes on disk."""
        self._disk.stop()

    def _content(self) -> bytes | None:
        """Return the file's content as bytes; ``None`` if the file is missing or cannot be read."""
        try:
            return read_file(self.path, links=True, limit=MOST) if self.path is not None else None
        except OSError:
            return None

    def _watch(self) -> None:
        """Watch the file and its folder, because most programs save by replacing the file."""
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
    """Return the permission bits of a file; 0o666 for a file that does not exist."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o666
