"""Compresses the rows of steps and episodes of runs that have ended, to about a twelfth of their size."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gym_gui.analysis.records.jsonl import open_rows, packed
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.run_lock import lock_run
from gym_gui.services.runs.packed_files import PACKED, PLAIN, STEPS, OnRows, pack_file, row_files, unpack_file
from gym_gui.services.runs.recorder import RUNNING, read_header

_log = logging.getLogger(__name__)

OnBytes = Callable[[int, int], None]
"""Type of a callback that gets the bytes of rows read so far and the total. It may raise
:class:`StopPacking`."""


class PackingError(MosaicError):
    """Error for rows that could not be compressed or decompressed. The rows are unchanged."""


class StopPacking(Exception):
    """Raised by the callback for bytes to stop the packing."""


class PackingStoppedError(MosaicError):
    """Error for a packing that the caller has stopped. Files that were packed before the stop stay packed.

    Attributes:
        packing: What was done before the stop.
    """

    def __init__(self, packing: Packing) -> None:
        super().__init__("the packing was stopped")
        self.packing = packing


@dataclass(frozen=True)
class Packing:
    """Result of packing or unpacking the rows of a run.

    Attributes:
        files: Number of files that were compressed or decompressed.
        rows: Number of steps in them.
        before: Bytes before.
        after: Bytes after.
    """

    files: int
    rows: int
    before: int
    after: int


def compress_run(folder: Path, on_bytes: OnBytes | None = None) -> Packing:
    """Compress the rows of a run that has ended. The run can be read as before.

    Raises:
        UsageError: There is no run, it has not ended, or another process is writing it.
        PackingError: The disk is full, or the folder cannot be written.
        PackingStoppedError: ``on_bytes`` has stopped it.
    """
    header = read_header(folder)
    with _kept(folder):
        if header.get("status") == RUNNING:
            raise UsageError(
                f"the run {folder} has not ended: it was cut off",
                fix=f"Resume it first: mosaic run --resume {folder}",
            )
        return _each(folder, PLAIN, packed, pack_file, on_bytes)


def compress_ended(folder: Path) -> None:
    """Compress a run that has just ended. A failure is only logged, as the run is usable without it."""
    try:
        compress_run(folder)
    except MosaicError as error:
        _log.warning("%s", error)


def decompress_run(folder: Path, on_bytes: OnBytes | None = None) -> Packing:
    """Undo :func:`compress_run`.

    Raises:
        UsageError: There is no run, or another process is writing it.
        PackingError: The rows are damaged, the disk is full, or the folder cannot be written.
        PackingStoppedError: ``on_bytes`` has stopped it.
    """
    read_header(folder)
    with _kept(folder):
        return _each(folder, PACKED, _plain, unpack_file, on_bytes)


@contextmanager
def _kept(folder: Path) -> Generator[None]:
    """Lock the run against other writers, and turn an ``OSError`` into a :class:`PackingError`."""
    try:
        handle = lock_run(folder)
        try:
            yield
        finally:
            os.close(handle)
    except OSError as error:
        raise PackingError(
            f"the rows of {folder} are unchanged: {error.strerror or error}",
            fix="Free some space, or use a copy of the run (cp -r)",
        ) from error


def _each(
    folder: Path,
    names: Sequence[str],
    wanted: Callable[[Path], Path],
    act: Callable[[Path, Path, OnRows], None],
    on_bytes: OnBytes | None,
) -> Packing:
    files = row_files(folder, names)
    before = [path.stat().st_size for path in files]
    total = sum(map(_rows_of, files))
    read = rows = 0

    def count(size: int, lines: int) -> None:
        nonlocal read, rows
        read, rows = read + size, rows + (lines if path.name.startswith(STEPS) else 0)
        if on_bytes is not None:
            on_bytes(read, total)

    def done(number: int, rows: int) -> Packing:
        after = sum(wanted(path).stat().st_size for path in files[:number])
        return Packing(number, rows, sum(before[:number]), after)

    for number, path in enumerate(files):
        whole = rows
        try:
            act(folder, path, count)
        except StopPacking:
            raise PackingStoppedError(done(number, whole)) from None
    return done(len(files), rows)


def _plain(path: Path) -> Path:
    return path.with_suffix("")


def _rows_of(path: Path) -> int:
    """Return the number of bytes of rows in a file, compressed or not."""
    with open_rows(path if path.suffix == ".jsonl" else _plain(path)) as file:
        return file.seek(0, os.SEEK_END)
