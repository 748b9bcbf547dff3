"""Compresses and decompresses the JSONL files of a run folder, which the caller must have locked.

``steps.jsonl`` becomes ``steps.jsonl.zst``, and ``episodes.jsonl`` likewise. One of the two files is complete
at every moment, even if the process is killed. The new file gets its name after it has been written to disk
and read back, and only then is the old file removed. If both exist, the plain file counts.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from gym_gui.analysis.records.jsonl import packed
from gym_gui.analysis.records.packed_rows import pack, unpacked
from mosaic_worker.plain_files import open_file, replace_file, subfolders

STEPS: Final = "steps.jsonl"
PLAIN: Final = (STEPS, "episodes.jsonl")
"""Files of an operator that are compressed. The file of calls to models is not."""
PACKED: Final = tuple(packed(Path(name)).name for name in PLAIN)
_BLOCK = 1 << 20

OnRows = Callable[[int, int], None]
"""Called with the bytes and lines of rows that have been read since the previous call."""


def row_files(run: Path, names: Sequence[str]) -> list[Path]:
    """Return the operators' non-empty files with the given names.

    Raises:
        OSError: The folder cannot be read or contains a link.
    """
    found: list[Path] = []
    for operator in subfolders(run / "operators", inside=run):
        for name in names:
            path = run / "operators" / operator / name
            with suppress(FileNotFoundError), open_file(path, inside=run) as file:
                if os.fstat(file.fileno()).st_size:
                    found.append(path)
    return found


def pack_file(run: Path, path: Path, on_rows: OnRows | None = None) -> None:
    """Compress a file of an operator.

    Raises:
        OSError: The compressed file could not be written. Nothing has changed.
    """
    target = packed(path)
    _remove_partial_files(target)
    with open_file(path, inside=run) as file:
        source = _Watched(file, on_rows)
        replace_file(target, pack(cast("BinaryIO", source)), inside=run)
    with unpacked(open_file(target, inside=run)) as file:
        back = _Watched(file, None)
        while back.read(_BLOCK):
            pass
    if back.digest.digest() != source.digest.digest():
        raise OSError(errno.EIO, "the disk returned other bytes than were written", str(target))
    _remove(path)


def unpack_file(run: Path, path: Path, on_rows: OnRows | None = None) -> None:
    """Decompress a file of an operator. A plain file that already exists is kept.

    Raises:
        OSError: The file is damaged, or the plain file could not be written. Nothing has changed.
    """
    target = path.with_suffix("")
    _remove_partial_files(target)
    if not os.path.lexists(target):
        with unpacked(open_file(path, inside=run)) as file:
            replace_file(target, _blocks(_Watched(file, on_rows)), inside=run)
    _remove(path)


def unpack_rows(run: Path) -> None:
    """Decompress the rows of all operators, so that rows can be appended.

    Raises:
        OSError: As for :func:`unpack_file`.
    """
    for path in row_files(run, PACKED):
        unpack_file(run, path)


class _Watched:
    """A file that is read from start to end, with its digest and its count of lines."""

    def __init__(self, file: BinaryIO, on_rows: OnRows | None) -> None:
        self._file, self._on_rows = file, on_rows
        self.digest: Any = sha256()

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        if self._on_rows is not None:
            self._on_rows(len(data), data.count(b"\n"))
        return data


def _blocks(source: _Watched) -> Iterator[bytes]:
    while data := source.read(_BLOCK):
        yield data


def _remove_partial_files(target: Path) -> None:
    """Remove partial files of a process that was killed."""
    for half in target.parent.glob(f".{target.name}.*.new"):
        half.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    """Remove a file after the name of its replacement is on disk."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
        os.unlink(path.name, dir_fd=folder)
    finally:
        os.close(folder)
