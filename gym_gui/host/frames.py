"""Sends pictures from a session host to its client through shared memory.

The memory has no name: the client makes it and the host process inherits it, so that neither leaves anything
behind, however and whenever it ends. The newest picture has priority: the host writes into the oldest of
three buffers and never waits. A client whose buffer is being overwritten reads the next one.

The memory only grows. A picture that needs more space gets three larger buffers behind the earlier ones, and
each message contains the position of the buffers.
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_PLACES = 3
_HEAD = 64
_WORD = 8
_BEGUN, _DONE, _HEIGHT, _WIDTH = range(4)
"""Words at the head of a buffer: number written before the picture, number written after it, height, width.

Each word is written and read as a whole, in exactly this order; :mod:`struct` would clear all words
first and then write byte by byte.
"""
_PAGE = 4096
LARGEST = 1 << 26
"""Largest number of bytes of one picture (a picture of a 4K screen has 25 million)."""
_SMALLEST = 1 << 16


@dataclass(frozen=True, slots=True)
class BufferPositions:
    """Position of the three picture buffers in the shared memory.

    Attributes:
        base: Offset of the first buffer in bytes.
        stride: Size of each buffer in bytes.
    """

    base: int
    stride: int


class FrameWriter:
    """Host's end of the shared memory for pictures.

    Args:
        fd: File descriptor of the memory that the client has made.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._places = BufferPositions(0, 0)
        self._memory: mmap.mmap | None = None
        self._words: memoryview | None = None

    def write(self, frame: NDArray[np.uint8], number: int) -> BufferPositions | None:
        """Write a picture into the oldest buffer.

        Args:
            frame: RGB picture of shape ``(height, width, 3)``.
            number: Number of the picture, which must increase.

        Returns:
            Position of the buffers; ``None`` if a picture of this size does not fit.
        """
        if frame.nbytes + _HEAD > self._places.stride and not self._grow(frame.nbytes + _HEAD):
            return None
        assert self._memory is not None and self._words is not None
        at = self._places.base + number % _PLACES * self._places.stride
        head = self._words[at // _WORD : (at + _HEAD) // _WORD]
        head[_BEGUN] = number
        head[_HEIGHT], head[_WIDTH] = frame.shape[:2]
        np.ndarray(frame.shape, np.uint8, self._memory, at + _HEAD)[...] = frame
        head[_DONE] = number
        return self._places

    def _grow(self, size: int) -> bool:
        """Make buffers of at least twice the size, so that the unused part of the memory stays small."""
        if size > LARGEST:
            return False
        old = self._places
        stride = -(-max(size, 2 * old.stride, _SMALLEST) // _PAGE) * _PAGE
        base = old.base + _PLACES * old.stride
        try:
            # Allocated at once, because memory that runs out during a write would end the process.
            os.posix_fallocate(self._fd, base, _PLACES * stride)
            self._memory = mmap.mmap(self._fd, base + _PLACES * stride)
        except OSError:
            return False
        self._words = memoryview(self._memory).cast("B").cast("Q")
        self._places = BufferPositions(base, stride)
        return True

    def close(self) -> None:
        """Release the memory and close its file descriptor."""
        self._memory = self._words = None
        os.close(self._fd)


class FrameReader:
    """Client's end of the shared memory for pictures.

    Args:
        fd: File descriptor from :func:`~gym_gui.host.host_program.make_memory`; :meth:`close` closes it.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._memory: mmap.mmap | None = None
        self._words: memoryview | None = None
        self._size = 0
        self._seen = 0

    def newest(self, places: BufferPositions) -> tuple[NDArray[np.uint8], int] | None:
        """Return a copy of the newest picture and its number; ``None`` if no newer one was written."""
        if not self._map_buffers(places):
            return None
        for _ in range(_PLACES):
            number, at = max(self._done(places, k) for k in range(_PLACES))
            if number <= self._seen:
                return None
            picture = self._copied(number, at, places.stride)
            if picture is not None:
                self._seen = number
                return picture, number
        return None

    def _map_buffers(self, places: BufferPositions) -> bool:
        """Map the buffers if they are not mapped yet; return ``False`` if the memory is too small."""
        end = places.base + _PLACES * places.stride
        if places.stride < _HEAD:
            return False
        if end > self._size:
            size = os.fstat(self.fd).st_size
            if end > size:
                return False
            self._memory, self._size = mmap.mmap(self.fd, size, prot=mmap.PROT_READ), size
            self._words = memoryview(self._memory).cast("B").cast("Q")
        return True

    def _word(self, at: int, which: int) -> int:
        assert self._words is not None
        return self._words[at // _WORD + which]

    def _done(self, places: BufferPositions, k: int) -> tuple[int, int]:
        """Return the number of the last picture written to buffer ``k``, and the buffer's offset."""
        at = places.base + k * places.stride
        return self._word(at, _DONE), at

    def _copied(self, number: int, at: int, stride: int) -> NDArray[np.uint8] | None:
        """Return a copy of a picture; ``None`` if a newer picture has overwritten its buffer."""
        height, width = self._word(at, _HEIGHT), self._word(at, _WIDTH)
        if height * width * 3 + _HEAD > stride:
            return None
        picture = np.array(np.ndarray((height, width, 3), np.uint8, self._memory, at + _HEAD))
        return picture if self._word(at, _BEGUN) == number else None

    def close(self) -> None:
        """Release the memory and close its file descriptor."""
        self._memory = self._words = None
        os.close(self.fd)
