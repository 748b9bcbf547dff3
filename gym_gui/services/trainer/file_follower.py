"""Following a file that another process appends to: rows of JSON lines, or a log's text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import orjson

from gym_gui.core.errors import RunFormatError
from mosaic_worker.plain_files import open_file

CHUNK: int = 1 << 20
"""Bytes that are read at once, unless a single line is longer."""


class Follower:
    """A file, read as it grows.

    A line that is not finished is left for later, and what is no JSON object is skipped. A file that
    was replaced, or became shorter, is read from its start.

    Args:
        path: The file; it need not be there yet.
        position: Byte to begin at, such as the ``position`` of an earlier follower.

    Attributes:
        path: The file.
        position: Bytes that were read; after :meth:`read` always the end of a line.
    """

    def __init__(self, path: Path, position: int = 0) -> None:
        self.path = path
        self.position = position
        self._inode: int | None = None

    def read(self, limit: int = CHUNK) -> list[dict[str, Any]]:
        """The rows that were appended since the last call; empty when there is nothing new.

        Args:
            limit: Bytes to read at most, so that a long file is taken in portions; a single
                line that is longer is read whole.

        Raises:
            RunFormatError: The file is there and cannot be read, or is a link.
        """
        lines = self._appended(limit, whole_lines=True).split(b"\n")
        rows = [_row(line) for line in lines if line]
        return [row for row in rows if row is not None]

    def read_end(self, most: int) -> tuple[bytes, bool]:
        """What was appended since the last call, unfinished lines too; only the end of a great deal.

        Args:
            most: Bytes to read at most; where more came, the last of them, from the start of a line.

        Returns:
            The bytes, and whether they take the place of what was read before instead of following it.

        Raises:
            RunFormatError: The file is there and cannot be read, or is a link.
        """
        known = self.position
        left_out = max(self.behind - most, 0)
        self.position += left_out
        data = self._appended(most, whole_lines=False)
        begins = self.position - len(data)
        if left_out and begins:
            data = data.partition(b"\n")[2] or data
        return data, begins != known

    @property
    def behind(self) -> int:
        """Bytes that wait to be read, of an unfinished line as well."""
        try:
            return max(0, self.path.stat().st_size - self.position)
        except (FileNotFoundError, NotADirectoryError):
            return 0

    def _appended(self, limit: int, *, whole_lines: bool) -> bytes:
        try:
            with open_file(self.path, buffering=0) as file:
                data = self._read_bytes(file.fileno(), limit, whole_lines=whole_lines)
        except (FileNotFoundError, NotADirectoryError):
            if self._inode is not None:  # what comes in its place is another file
                self.position, self._inode = 0, None
            return b""
        except OSError as error:
            raise RunFormatError(str(self.path), str(error.strerror)) from error
        self.position += len(data)
        return data

    def _read_bytes(self, file: int, limit: int, *, whole_lines: bool) -> bytes:
        status = os.fstat(file)
        if status.st_size < self.position or self._inode not in (None, status.st_ino):
            self.position = 0
        self._inode = status.st_ino
        while self.position < status.st_size:
            data = os.pread(file, limit, self.position)
            if not whole_lines:
                return data
            end = data.rfind(b"\n") + 1
            if end or len(data) < limit:
                return data[:end]
            limit *= 2
        return b""


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return cast("dict[str, Any]", row) if isinstance(row, dict) else None
