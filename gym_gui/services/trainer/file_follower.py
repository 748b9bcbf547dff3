"""Follows a file that another process appends to: JSON lines or the text of a log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import orjson

from gym_gui.core.errors import RunFormatError
from mosaic_worker.plain_files import open_file

CHUNK: int = 1 << 20
"""Number of bytes to read at once. A single line may be longer."""


class Follower:
    """Reads a file as it grows.

    An unfinished line is left for a later call, and a line that is not a JSON object is skipped. A file that
    was replaced or has become shorter is read from its start.

    Args:
        path: The file, which need not exist yet.
        position: Byte to begin at, such as the ``position`` of an earlier follower.

    Attributes:
        path: The file.
        position: Number of bytes read; after :meth:`read`, always the end of a line.
    """

    def __init__(self, path: Path, position: int = 0) -> None:
        self.path = path
        self.position = position
        self._inode: int | None = None

    def read(self, limit: int = CHUNK) -> list[dict[str, Any]]:
        """Return the rows that were appended since the last call; empty if there are none.

        Args:
            limit: Largest number of bytes to read, so that a long file is read in portions. A single line
                that is longer is read whole.

        Raises:
            RunFormatError: The file exists and cannot be read, or is a link.
        """
        lines = self._appended(limit, whole_lines=True).split(b"\n")
        rows = [_row(line) for line in lines if line]
        return [row for row in rows if row is not None]

    def read_end(self, most: int) -> tuple[bytes, bool]:
        """Return the bytes appended since the last call, at most the last ``most``, with an unfinished line.

        Args:
            most: Largest number of bytes to read. If more were appended, the last ones from a line's start.

        Returns:
            The bytes, and whether they replace what was read before instead of following it.

        Raises:
            RunFormatError: The file exists and cannot be read, or is a link.
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
        """Number of bytes that have not been read, with those of an unfinished line."""
        try:
            return max(0, self.path.stat().st_size - self.position)
        except (FileNotFoundError, NotADirectoryError):
            return 0

    def _appended(self, limit: int, *, whole_lines: bool) -> bytes:
        try:
            with open_file(self.path, buffering=0) as file:
                data = self._read_bytes(file.fileno(), limit, whole_lines=whole_lines)
        except (FileNotFoundError, NotADirectoryError):
            if self._inode is not None:  # a later file of that name is another file
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
