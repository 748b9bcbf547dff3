"""Reads JSON lines from files that another process may still be writing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import orjson

from gym_gui.core.errors import RunFormatError, UsageError
from mosaic_worker.plain_files import open_file, whole_lines


class Line(NamedTuple):
    """Decoded row of a JSON lines file.

    Attributes:
        value: The JSON object on the line.
        path: The file.
        number: Line number, from 1.
        start: Byte offset of the line in its file.
    """

    value: dict[str, Any]
    path: Path
    number: int
    start: int

    @property
    def where(self) -> str:
        """Position of the row for messages, as ``file:line``."""
        return f"{self.path}:{self.number}"


def open_rows(path: Path) -> BinaryIO:
    """Open a file ``<run>/operators/<id>/<name>`` for reading, without following links in the run folder.

    If only the compressed file (:func:`packed`) exists, its uncompressed rows are read.

    Raises:
        OSError: The file cannot be read, or is not a regular file.
    """
    run = path.parents[2]
    try:
        return open_file(path, inside=run)
    except FileNotFoundError:
        try:
            file = open_file(packed(path), inside=run)
        except FileNotFoundError:  # another process may just have decompressed the file
            return open_file(path, inside=run)
    from gym_gui.analysis.records.packed_rows import unpacked  # few runs are compressed

    return unpacked(file)


def size_of(path: Path) -> int:
    """Return the size of a file's uncompressed rows, in bytes.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        return path.stat().st_size
    except FileNotFoundError:
        with open_rows(path) as file:
            return file.seek(0, os.SEEK_END)


def packed(path: Path) -> Path:
    """Return the path of a file's compressed version, which is used only if the file does not exist."""
    return path.with_name(path.name + ".zst")


class Block(NamedTuple):
    """Block of consecutive, undecoded rows of a JSON lines file.

    Attributes:
        data: Whole lines, each with its line break.
        path: The file.
        number: Line number of the first row, from 1.
        start: Byte offset of the first row in its file.
    """

    data: bytes
    path: Path
    number: int
    start: int

    def lines(self, having: Sequence[bytes] = ()) -> Iterator[Line]:
        """Yield the rows of the block, decoded one at a time.

        Args:
            having: Lines that contain none of these byte strings are skipped without decoding.

        Raises:
            RunFormatError: A line is not a JSON object.
        """
        if having and not any(each in self.data for each in having):
            return
        start = self.start
        for number, raw in enumerate(self.data[:-1].split(b"\n"), start=self.number):
            if not having or any(each in raw for each in having):
                yield Line(_decoded(raw, self.path, number), self.path, number, start)
            start += len(raw) + 1


def read_lines(path: Path, having: Sequence[bytes] = ()) -> Iterator[Line]:
    """Yield the rows of a JSON lines file, one at a time.

    Args:
        path: A file of an operator; a file that does not exist yet has no rows.
        having: Lines that contain none of these byte strings are skipped without decoding.

    Raises:
        RunFormatError: A line is not a JSON object, unless it is an incomplete last line.
        UsageError: The file cannot be read.
    """
    return (line for block in read_blocks(path) for line in block.lines(having))


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield the rows of a JSON lines file, about a megabyte at a time.

    A writer may be writing its last line, or may have died. So a last line without a line break is
    left out unless it is a complete JSON object.

    Args:
        path: A file of an operator; a file that does not exist yet has no rows.

    Raises:
        UsageError: The file may not be read.
    """
    number, start = 1, 0
    try:
        with open_rows(path) as file:
            for data in whole_lines(file):
                if not data.endswith(b"\n"):
                    # Stop, because text that the writer appends now would look like a separate line.
                    if _is_row(data):
                        yield Block(data + b"\n", path, number, start)
                    return
                yield Block(data, path, number, start)
                number += data.count(b"\n")
                start += len(data)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def rows_at(path: Path, starts: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the rows whose lines begin at the byte offsets ``starts``, in the given order.

    Raises:
        OSError: The file cannot be read.
    """
    if not starts:
        return
    with open_rows(path) as file:
        for start in starts:
            if file.tell() != start:
                file.seek(start)
            yield cast("dict[str, Any]", orjson.loads(file.readline()))


def _decoded(raw: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        what = "is damaged, not JSON" if raw.strip() else "is empty"
        raise RunFormatError(f"{path}:{number}", f"the line {what} ({error.msg})") from None
    if not isinstance(value, dict):
        raise RunFormatError(f"{path}:{number}", "the line is no JSON object")
    return cast("dict[str, Any]", value)


def _is_row(raw: bytes) -> bool:
    """Return whether a line without a line break is a complete JSON object."""
    try:
        # Only an object is surely complete: part of a number, for example, is also a number.
        return isinstance(orjson.loads(raw), dict)
    except orjson.JSONDecodeError:
        return False
