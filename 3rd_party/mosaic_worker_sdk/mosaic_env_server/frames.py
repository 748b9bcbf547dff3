"""Memory that a player and a server on the same machine share, for pictures."""

from __future__ import annotations

import mmap
import os
from typing import Any, Optional

import numpy as np

_STEP = 1 << 20


class FrameMemory:
    """One picture at a time, in a file without a name; the server writes, the player reads.

    Args:
        fd: The file, as ``os.memfd_create`` gives it; it stays open for as long as this lives.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._map: Optional[mmap.mmap] = None

    @classmethod
    def create(cls) -> Optional[FrameMemory]:
        """New memory; ``None`` where this system has none of the kind: then pictures travel as messages."""
        make: Any = getattr(os, "memfd_create", None)
        try:
            return None if make is None else cls(make("mosaic-frames"))
        except OSError:
            return None

    @property
    def size(self) -> int:
        """Bytes that it holds."""
        return 0 if self._map is None else len(self._map)

    def put(self, picture: Any) -> int:
        """Write a picture, (H, W, 3) ``uint8``, to its beginning.

        Returns:
            Its size in bytes, for the reader.

        Raises:
            OSError: There is not that much memory.
        """
        if self.size < picture.nbytes:
            size = -(-picture.nbytes // _STEP) * _STEP
            os.ftruncate(self.fd, size)
            self._remap(size)
        assert self._map is not None
        np.frombuffer(self._map, np.uint8, picture.nbytes)[:] = picture.reshape(-1)
        return self.size

    def get(self, shape: Any, size: int) -> Any:
        """The picture that was written last, as a copy.

        Args:
            shape: Height, width, channels.
            size: What :meth:`put` gave.

        Raises:
            ValueError: The memory does not hold that much.
        """
        if self.size != size:
            if os.fstat(self.fd).st_size < size:
                raise ValueError(f"{size} bytes of shared memory were announced, and are not there")
            self._remap(size)
        assert self._map is not None
        count = int(np.prod(shape, dtype=np.int64))
        if count > size:
            raise ValueError(f"a picture of {count} bytes in {size}")
        return np.frombuffer(self._map, np.uint8, count).reshape(shape).copy()

    def _remap(self, size: int) -> None:
        if self._map is not None:
            self._map.close()
        self._map = mmap.mmap(self.fd, size)

    def close(self) -> None:
        """Give it back."""
        if self._map is not None:
            self._map.close()
            self._map = None
        os.close(self.fd)
