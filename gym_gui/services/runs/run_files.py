"""Append-only files of a run folder."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from mosaic_worker.plain_files import make_folder, open_file


class Appender:
    """A file that only grows, by complete blocks.

    Args:
        path: The file, which is created if missing.
        inside: Folder whose path may contain links. Links below the folder are refused.
    """

    def __init__(self, path: Path, inside: Path | None = None) -> None:
        self._path, self._inside = path, inside
        self._file: BinaryIO | None = open_file(path, "ab", inside=inside, buffering=0)

    def append(self, data: bytes) -> int:
        """Append a block, whole or not at all.

        Returns:
            Size of the file before the block.

        Raises:
            OSError: The block could not be written. The file is unchanged, or was deleted.
        """
        file = self._opened()
        status = os.fstat(file.fileno())
        if not status.st_nlink:
            raise FileNotFoundError(errno.ENOENT, "it was deleted", str(self._path))
        size = status.st_size
        view = memoryview(data)
        try:
            while view:
                view = view[file.write(view) :]
        except OSError:
            self.cut(size)
            raise
        return size

    def cut(self, size: int) -> None:
        """Truncate the file to a size."""
        os.ftruncate(self._opened().fileno(), size)

    def rest(self) -> None:
        """Close the file until the next write."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Flush the file to disk and close it."""
        with suppress(OSError):
            os.fsync(self._opened().fileno())
        self.rest()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            if not os.path.lexists(self._path):  # a new file would lack the earlier content
                raise FileNotFoundError(errno.ENOENT, "it was deleted", str(self._path))
            self._file = open_file(self._path, "ab", inside=self._inside, buffering=0)
        return self._file


class OperatorFiles:
    """Files of one operator in a run folder.

    Args:
        run: The run folder.
        operator: The operator's id.

    Attributes:
        steps: File of the rows of steps.
        episodes: File of the rows of episodes.

    Raises:
        OSError: The files cannot be created.
    """

    def __init__(self, run: Path, operator: str) -> None:
        self._run, folder = run, run / "operators" / operator
        make_folder(folder, inside=run)
        self.steps = Appender(folder / "steps.jsonl", run)
        self.episodes = Appender(folder / "episodes.jsonl", run)
        self._calls_path = folder / "calls.jsonl"
        self._calls: Appender | None = None

    @property
    def calls(self) -> Appender:
        """File of paid calls to models, created on first use."""
        if self._calls is None:
            self._calls = Appender(self._calls_path, self._run)
        return self._calls

    def rest(self) -> None:
        """Close all files until the next write."""
        for appender in self._all():
            appender.rest()

    def close(self) -> None:
        """Flush all files to disk and close them."""
        for appender in self._all():
            appender.close()

    def _all(self) -> list[Appender]:
        return [each for each in (self.steps, self.episodes, self._calls) if each is not None]
