"""Shared memory for images between a player and a server on the same machine."""

from __future__ import annotations

import mmap
import os
from typing import Any, Optional

import numpy as np

_STEP = 1 << 20


class FrameMemory:
    """Shared memory for one image at a time in an anonymous file; the server writes, the player reads.

    Args:
        fd: Descriptor of the file from ``os.memfd_create``; it stays open until :meth:`close`.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._map: Optional[mmap.mmap] = None

    @classmethod
    def create(cls) -> Optional[FrameMemory]:
        """Create shared memory; return ``None`` if the system has none, so images are sent as messages."""
        make: Any = getattr(os, "memfd_create", None)
        try:
            return None if make is None else cls(make("mosaic-frames"))
        except OSError:
            return None

    @property
    def size(self) -> int:
        """Size of the memory in bytes."""
        return 0 if self._map is None else len(self._map)

    def put(self, picture: Any) -> int:
        """Write an image, (H, W, 3) ``uint8``, to the beginning of the memory.

        Returns:
            Size of the memory in bytes, for the reader.

        Raises:
            OSError: There is not enough memory.
        """
        if self.size < picture.nbytes:
            size = -(-picture.nbytes // _STEP) * _STEP
            os.ftruncate(self.fd, size)
            self._remap(size)
        assert self._map is not None
        np.frombuffer(self._map, np.uint8, picture.nbytes)[:] = picture.reshape(-1)
        return self.size

    def get(self, shape: Any, size: int) -> Any:
        """Return a copy of the last image that was written.

        Args:
            shape: Height, width, channels.
            size: Size of the memory, as returned by :meth:`put`.

        Raises:
            ValueError: The memory is too small.
        """
        if self.size != size:
            if os.fstat(self.fd).st_size < size:
                raise ValueError(f"{size} bytes of shared memory were announced but do not exist")
            self._remap(size)
        assert self._map is not None
        count = int(np.prod(shape, dtype=np.int64))
        if count > size:
            raise ValueError(f"an image of {count} bytes does not fit into {size} bytes")
        return np.frombuffer(self._map, np.uint8, count).reshape(shape).copy()

    def _remap(self, size: int) -> None:
        if self._map is not None:
            self._map.close()
        self._map = mmap.mmap(self.fd, size)

    def close(self) -> None:
        """Release the memory and close the file."""
        if self._map is not None:
            self._map.close()
            self._map = None
        os.close(self.fd)
