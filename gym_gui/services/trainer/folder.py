"""The run folder of a training: its files, and how they are followed while they grow.

What a worker writes there is described in :mod:`mosaic_worker.training`; ours are
``train.json`` (what was asked for), ``queue.json`` (its place in the queue), ``runner.json`` (which
process watches it), ``exit.json`` (how it ended) and ``log.txt`` (what it printed).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import orjson

from gym_gui.core.errors import RunFormatError
from mosaic_worker.plain_files import UnsafeFileError, open_file, read_file, replace_file
from mosaic_worker.training import CONTROL, EPISODES, EVENTS, METRICS, STATE, TENSORBOARD, VIDEOS

REQUEST, RUNNER, EXIT, LOG, LOCK = "train.json", "runner.json", "exit.json", "log.txt", ".lock"
QUEUE = "queue.json"
POLICY, WEIGHTS = "policy.json", "model.safetensors"

_OURS = (REQUEST, RUNNER, EXIT, LOG, LOCK, EVENTS, METRICS, EPISODES, CONTROL)
_POLICY = (POLICY, WEIGHTS, STATE, TENSORBOARD, VIDEOS)
_CHUNK = 1 << 20


class Follower:
    """Rows of a file of JSON lines, read as it grows.

    A line that is not finished is left for later. What is no JSON object is skipped and
    counted. A file that was replaced, or became shorter, is read from its start.

    Args:
        path: The file; it need not be there yet.
        position: Byte to begin at, such as the ``position`` of an earlier follower.

    Attributes:
        path: The file.
        position: Bytes that were read; always the end of a line.
    """

    def __init__(self, path: Path, position: int = 0) -> None:
        self.path = path
        self.position = position
        self._inode: int | None = None

    def read(self, limit: int = _CHUNK) -> list[dict[str, Any]]:
        """What was appended since the last call; empty when there is nothing new.

        Args:
            limit: Bytes to read at most, so that a long file is taken in portions; a single
                line that is longer is read whole.
        """
        try:
            with open_file(self.path, buffering=0) as file:
                whole = self._whole_lines(file.fileno(), limit)
        except UnsafeFileError as error:
            raise RunFormatError(str(self.path), str(error.strerror)) from error
        except FileNotFoundError:
            if self._inode is not None:  # what comes in its place is another file
                self.position, self._inode = 0, None
            return []
        self.position += len(whole)
        rows = [self._row(line) for line in whole.split(b"\n") if line]
        return [row for row in rows if row is not None]

    @property
    def behind(self) -> int:
        """Bytes that wait to be read, of an unfinished line as well."""
        try:
            return max(0, self.path.stat().st_size - self.position)
        except FileNotFoundError:
            return 0

    def _whole_lines(self, file: int, limit: int) -> bytes:
        status = os.fstat(file)
        if status.st_size < self.position or self._inode not in (None, status.st_ino):
            self.position = 0
        self._inode = status.st_ino
        while self.position < status.st_size:
            data = os.pread(file, limit, self.position)
            end = data.rfind(b"\n") + 1
            if end or len(data) < limit:
                return data[:end]
            limit *= 2
        return b""

    def _row(self, line: bytes) -> dict[str, Any] | None:
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            row = None
        if isinstance(row, dict):
            return cast("dict[str, Any]", row)
        return None


class RunFolder:
    """Where everything of one training lies.

    Args:
        path: The folder; it need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def follow(self, name: str, position: int = 0) -> Follower:
        """Follow one of its files: ``EVENTS``, ``METRICS`` or ``EPISODES``."""
        return Follower(self.path / name, position)

    @property
    def holds_policy(self) -> bool:
        """A policy was kept here."""
        return (self.path / POLICY).exists()

    def read(self, name: str) -> dict[str, Any] | None:
        """One of its JSON files; ``None`` where it is not there.

        Raises:
            RunFormatError: It is damaged.
        """
        path = self.path / name
        try:
            value = json.loads(read_file(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RunFormatError(str(path), f"cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise RunFormatError(str(path), f"is damaged or was cut off ({error})") from error
        if not isinstance(value, dict):
            raise RunFormatError(str(path), "holds no JSON object")
        return cast("dict[str, Any]", value)

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Write one of its JSON files; a reader sees the old one or the new one, never half of it.

        Raises:
            OSError: The folder cannot be written.
        """
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        replace_file(self.path / name, text.encode())

    def last_words(self, size: int = 4096) -> str:
        """The last line that the training printed."""
        try:
            with open_file(self.path / LOG) as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - size))
                lines = file.read().decode(errors="replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def clear(self) -> None:
        """Remove what a training writes, and the folder if nothing else is in it.

        The lock stays: whoever clears the folder to train there again holds it. So does its
        place in the queue, which is the trainer's.
        """
        for name in {*_OURS, *_POLICY} - {LOCK}:
            path = self.path / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove what a training wrote that never began, and the folder if it is empty then."""
        self.clear()
        for name in (QUEUE, LOCK):
            (self.path / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()
