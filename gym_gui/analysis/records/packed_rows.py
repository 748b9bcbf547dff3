"""Compresses JSON lines into Zstandard frames, so that any row can be read without reading all others.

Source:
    `Zstandard seekable format
    <https://github.com/facebook/zstd/blob/dev/contrib/seekable_format/zstd_seekable_compression_format.md>`_:
    independent frames, followed by a table of their lengths in a frame that decoders skip. Every Zstandard
    program, such as ``zstdcat``, can read such a file.
"""

from __future__ import annotations

import errno
import io
import os
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from struct import Struct, error
from typing import BinaryIO, Final, cast

from backports.zstd import (
    CompressionParameter,
    DecompressionParameter,
    ZstdDecompressor,
    ZstdError,
    ZstdFile,
    compress,
)

FRAME: Final = 1 << 20
"""Uncompressed bytes per frame; a whole frame is decompressed to read one row."""
_MAX_FRAME: Final = 1 << 23
"""Largest accepted number of uncompressed bytes in a frame, to limit memory."""
_MAX_BASE: Final = 16 << 20
_RATIO: Final = 256
"""Largest accepted ratio of uncompressed to compressed bytes, beyond :data:`_MAX_BASE` bytes; usual is 20."""
_BUFFER: Final = 1 << 17
_CACHED_FRAMES: Final = 4
"""Number of decompressed frames in the cache, because rows of concurrent episodes are read in turn."""
# A higher level does not compress digests and times better: for CartPole, level 1 gives 16 bytes per step at
# 700 MB/s, level 9 gives 17 bytes at 60 MB/s. The checksum detects flipped bits.
_SETTINGS: Final[dict[int, int]] = {
    CompressionParameter.compression_level: 1,
    CompressionParameter.checksum_flag: 1,
}

_WINDOW: Final[dict[int, int]] = {DecompressionParameter.window_log_max: 23}
"""Options of a decoder: at most 8 MiB of memory, as much as the strongest usual level needs."""
_SKIPPED = 0x184D2A5E
_SEEKABLE = 0x8F92EAB1
_CHECKSUMS = 0x80
_HEAD, _ENTRY, _FOOT = Struct("<II"), Struct("<II"), Struct("<IBI")


class PackedRowsError(OSError):
    """Compressed rows are damaged or not in the expected format."""


def pack(source: BinaryIO) -> Iterator[bytes]:
    """Compress rows into the seekable format.

    Args:
        source: The uncompressed rows.

    Yields:
        Parts of the file, in order.
    """
    sizes: list[tuple[int, int]] = []
    while block := source.read(FRAME):
        frame = compress(block, options=_SETTINGS)
        sizes.append((len(frame), len(block)))
        yield frame
    table = b"".join(_ENTRY.pack(*pair) for pair in sizes) + _FOOT.pack(len(sizes), 0, _SEEKABLE)
    yield _HEAD.pack(_SKIPPED, len(table)) + table


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return a file object that reads the uncompressed rows of a compressed file.

    Args:
        file: The compressed file, which is closed together with the returned object.

    Raises:
        PackedRowsError: The file is damaged.
    """
    try:
        sizes = _table(file)
        most = _MAX_BASE + _RATIO * file.seek(0, os.SEEK_END)
        if sizes is not None and sum(sizes[1]) > most:
            raise _damaged(file, f"they unpack to more than {most >> 20} MiB")
        file.seek(0)
        raw = _Stream(file, most) if sizes is None else _Frames(file, sizes)
        return io.BufferedReader(raw, _BUFFER)
    except BaseException:
        file.close()
        raise


def _table(file: BinaryIO) -> tuple[Sequence[int], Sequence[int]] | None:
    """Return the compressed and uncompressed bytes of each frame; ``None`` for a file without a table."""
    size = file.seek(0, os.SEEK_END)
    if size < _HEAD.size + _FOOT.size:
        return None
    file.seek(-_FOOT.size, os.SEEK_END)
    count, flags, magic = _FOOT.unpack(file.read(_FOOT.size))
    if magic != _SEEKABLE:
        return None
    width = _ENTRY.size + (4 if flags & _CHECKSUMS else 0)
    length = count * width + _FOOT.size
    if length + _HEAD.size > size:
        raise _damaged(file, "its table is longer than the file")
    file.seek(-length - _HEAD.size, os.SEEK_END)
    data = file.read(length + _HEAD.size)
    try:
        magic, stated = _HEAD.unpack_from(data)
        packed, rows = array("Q"), array("Q")
        for i in range(count):
            for column, value in zip(
                (packed, rows), _ENTRY.unpack_from(data, _HEAD.size + i * width), strict=True
            ):
                column.append(value)
    except error:  # another process has truncated the file
        raise _damaged(file, "it ends within its table") from None
    if (magic, stated) != (_SKIPPED, length) or sum(packed) + len(data) != size:
        raise _damaged(file, "its table does not match the file")
    if max(rows, default=0) > _MAX_FRAME:
        raise _damaged(file, f"a frame holds more than {_MAX_FRAME >> 20} MiB")
    return packed, rows


def _damaged(file: BinaryIO, why: str) -> PackedRowsError:
    name = getattr(file, "name", None)
    return PackedRowsError(errno.EILSEQ, f"its compressed rows are damaged: {why}", name)


class _Frames(io.RawIOBase):
    """Reads the rows of a compressed file that has a table of its frames."""

    def __init__(self, file: BinaryIO, sizes: tuple[Sequence[int], Sequence[int]]) -> None:
        self._file, self._at = file, 0
        self._places, self._starts = (array("q", accumulate(each, initial=0)) for each in sizes)
        self._kept: OrderedDict[int, memoryview] = OrderedDict()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._starts[-1]}[whence]
        if base + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._at = base + offset
        return self._at

    def readinto(self, buffer: object, /) -> int:
        target = memoryview(cast("bytearray", buffer)).cast("B")
        if self._at >= self._starts[-1]:
            return 0
        index = bisect_right(self._starts, self._at) - 1
        start = self._at - self._starts[index]
        part = self._frame(index)[start : start + len(target)]
        target[: len(part)] = part
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        if not self.closed:
            self._kept.clear()
            self._file.close()
        super().close()

    def _frame(self, index: int) -> memoryview:
        if index in self._kept:
            self._kept.move_to_end(index)
            return self._kept[index]
        size = self._starts[index + 1] - self._starts[index]
        self._file.seek(self._places[index])
        packed = self._file.read(self._places[index + 1] - self._places[index])
        decoder = ZstdDecompressor(options=_WINDOW)
        try:
            rows = decoder.decompress(packed, max_length=size + 1)
        except ZstdError as exc:
            raise _damaged(self._file, str(exc)) from None
        if len(rows) != size or not decoder.eof:
            raise _damaged(self._file, "a frame is not as long as its table says")
        if len(self._kept) >= _CACHED_FRAMES:
            self._kept.popitem(last=False)
        return self._kept.setdefault(index, memoryview(rows))


class _Stream(io.RawIOBase):
    """Reads the rows of a compressed file without a table; seeking reads everything before."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._rows, self._most = file, ZstdFile(file, options=_WINDOW), most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        with self._damage_reported():
            return self._rows.seek(offset, whence)

    def readinto(self, buffer: object, /) -> int:
        with self._damage_reported():
            size = self._rows.readinto(cast("bytearray", buffer))
            if self._rows.tell() > self._most:
                raise _damaged(self._file, f"they unpack to more than {self._most >> 20} MiB")
            return size

    def close(self) -> None:
        if not self.closed:
            self._rows.close()
            self._file.close()
        super().close()

    @contextmanager
    def _damage_reported(self) -> Generator[None]:
        try:
            yield
        except (ZstdError, EOFError) as exc:
            raise _damaged(self._file, str(exc)) from None
