"""Files of a run folder that only grow."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from mosaic_worker.plain_files import make_folder, open_file


class Appender:
    """A file that only grows, by whole blocks.

    Args:
        path: The file, which is made where it is missing.
        inside: The folder that may be reached through links; what is below it may not.
    """

    def __init__(self, path: Path, inside: Path | None = None) -> None:
        self._path, self._inside = path, inside
        self._file: BinaryIO | None = open_file(path, "ab", inside=inside, buffering=0)

    def append(self, data: bytes) -> int:
        """Append a block, all or nothing.

        Returns:
            The file's size before it.

        Raises:
            OSError: It could not be written; the file is as before, or is gone.
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
        """Shorten the file."""
        os.ftruncate(self._opened().fileno(), size)

    def rest(self) -> None:
        """Close it until it is written to again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Flush to the disk and close."""
        with suppress(OSError):
            os.fsync(self._opened().fileno())
        self.rest()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            if not os.path.lexists(self._path):  # it would be made anew, without what it held
                raise FileNotFoundError(errno.ENOENT, "it was deleted", str(self._path))
            self._file = open_file(self._path, "ab", inside=self._inside, buffering=0)
        return self._file


class OperatorFiles:
    """What a run folder holds of an operator.

    Args:
        run: The run folder.
        operator: The operator's id.

    Attributes:
        steps: Rows of steps.
        episodes: Rows of episodes.

    Raises:
        OSError: They cannot be made.
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
        """Paid calls to models; the file is made when there is one."""
        if self._calls is None:
            self._calls = Appender(self._calls_path, self._run)
        return self._calls

    def rest(self) -> None:
        """Close all until they are written to again."""
        for appender in self._all():
            appender.rest()

    def close(self) -> None:
        """Flush all to the disk and close them."""
        for appender in self._all():
            appender.close()

    def _all(self) -> list[Appender]:
        return [each for each in (self.steps, self.episodes, self._calls) if each is not None]
