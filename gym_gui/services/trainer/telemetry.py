"""Lines that a training appends to a file, passed on as they are.

They are not read here: whoever watches takes them apart, so that the daemon keeps up with any
training, and nothing it lacks the time for can be lost: it is in the file.
"""

from __future__ import annotations

import os
from pathlib import Path

from mosaic_worker.plain_files import UnsafeFileError, open_file

BATCH_BYTES = 1 << 17
"""Most that is sent at once, unless a single line is longer."""


class LineFeed:
    """Whole lines of a growing file, in batches.

    Args:
        path: The file; it need not be there yet.
        skip: Lines at its beginning to leave out.
    """

    def __init__(self, path: Path, skip: int = 0) -> None:
        self._path, self._skip = path, skip
        self._position, self._inode = 0, 0

    def next(self) -> bytes:
        """The next whole lines; empty where there are none now.

        Raises:
            OSError: The file is there and cannot be read.
        """
        while data := self._whole():
            self._position += len(data)
            if not self._skip:
                return data
            data = self._without_known(data)
            if data:
                return data
        return b""

    def _without_known(self, data: bytes) -> bytes:
        lines = data.count(b"\n")
        if lines <= self._skip:
            self._skip -= lines
            return b""
        parts = data.split(b"\n", self._skip)
        self._skip = 0
        return parts[-1]

    def _whole(self) -> bytes:
        try:
            opened = open_file(self._path, buffering=0)
        except (FileNotFoundError, NotADirectoryError, UnsafeFileError):
            self._position = 0  # what comes there next is another file
            return b""
        with opened:
            file, size = opened.fileno(), BATCH_BYTES
            status = os.fstat(file)
            if status.st_size < self._position or self._inode not in (0, status.st_ino):
                self._position = 0  # another file: the training was begun anew in the same folder
            self._inode = status.st_ino
            while True:
                data = os.pread(file, size, self._position)
                end = data.rfind(b"\n") + 1
                if end or len(data) < size:
                    return data[:end]
                size *= 2
