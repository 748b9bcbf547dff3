"""Reads JSON lines while they are being written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import orjson

from gym_gui.core.errors import RunFormatError, UsageError
from mosaic_worker.plain_files import open_file, whole_lines


class Line(NamedTuple):
    """One decoded row.

    Attributes:
        value: The JSON object on it.
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
        """``file:line``, for messages."""
        return f"{self.path}:{self.number}"


def open_rows(path: Path) -> BinaryIO:
    """Open a file of an operator, ``<run>/operators/<id>/<name>``; no link within the run is followed.

    Where it is there compressed alone (:func:`packed`) that is read, with the offsets of the rows.

    Raises:
        OSError: It cannot be read, or is no regular file.
    """
    run = path.parents[2]
    try:
        return open_file(path, inside=run)
    except FileNotFoundError:
        try:
            file = open_file(packed(path), inside=run)
        except FileNotFoundError:  # perhaps it has been decompressed just now
            return open_file(path, inside=run)
    from gym_gui.analysis.records.packed_rows import unpacked  # few runs are compressed

    return unpacked(file)


def size_of(path: Path) -> int:
    """Bytes of rows of a file, of one that is compressed those that it has unpacked.

    Raises:
        OSError: It cannot be read.
    """
    try:
        return path.stat().st_size
    except FileNotFoundError:
        with open_rows(path) as file:
            return file.seek(0, os.SEEK_END)


def packed(path: Path) -> Path:
    """Where the rows of a file stand compressed; the file itself counts where both are there."""
    return path.with_name(path.name + ".zst")


class Block(NamedTuple):
    """Some rows of a file, as they stand there.

    Attributes:
        data: Whole lines, each with its line break.
        path: The file.
        number: Line number of the first, from 1.
        start: Byte offset of the first in its file.
    """

    data: bytes
    path: Path
    number: int
    start: int

    def lines(self, having: Sequence[bytes] = ()) -> Iterator[Line]:
        """The rows, decoded one at a time.

        Args:
            having: Lines in which none of these stands are passed over, unread.

        Raises:
            RunFormatError: A line is no JSON object.
        """
        if having and not any(each in self.data for each in having):
            return
        start = self.start
        for number, raw in enumerate(self.data[:-1].split(b"\n"), start=self.number):
            if not having or any(each in raw for each in having):
                yield Line(_finished(raw, self.path, number), self.path, number, start)
            start += len(raw) + 1


def read_lines(path: Path, having: Sequence[bytes] = ()) -> Iterator[Line]:
    """Rows of a JSON lines file, one at a time.

    Args:
        path: As of :func:`read_blocks`.
        having: Lines in which none of these stands are passed over, unread.

    Raises:
        RunFormatError: A line that is not the half-written last one is no JSON object.
        UsageError: The file may not be read.
    """
    return (line for block in read_blocks(path) for line in block.lines(having))


def read_blocks(path: Path) -> Iterator[Block]:
    """Rows of a JSON lines file, about a megabyte at a time.

    A writer may be in the middle of its last line, or have died there: a last line
    without a line break that is no whole JSON object is left out. (One that is whole
    counts; editors and ``"\\n".join`` leave the final break away.)

    Args:
        path: A file of an operator; one that does not exist yet has no rows.

    Raises:
        UsageError: The file may not be read.
    """
    number, start = 1, 0
    try:
        with open_rows(path) as file:
            for data in whole_lines(file):
                if not data.endswith(b"\n"):
                    # Stop here: what the writer appends by now would look like a line of its own.
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
    """Rows whose lines begin at these offsets, in that order.

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


def _finished(raw: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        what = "is damaged, not JSON" if raw.strip() else "is empty"
        raise RunFormatError(f"{path}:{number}", f"the line {what} ({error.msg})") from None
    if not isinstance(value, dict):
        raise RunFormatError(f"{path}:{number}", "the line is no JSON object")
    return cast("dict[str, Any]", value)


def _is_row(raw: bytes) -> bool:
    """Whether a line without an end is whole."""
    try:
        # Half of a number is a number, but an object is whole by its brace.
        return isinstance(orjson.loads(raw), dict)
    except orjson.JSONDecodeError:
        return False
