"""How much memory it may take to read what others have made: descriptions, archives, compressed bytes.

A small file may ask for any amount of memory: zeros compress a thousandfold, a shape of three numbers stands
for gigabytes. Each reader takes a budget from here before it allocates, never after.
"""

from __future__ import annotations

import math
import re
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generator, List, Sequence, cast

import numpy as np

LARGEST_SPACE = 64 * 2**20
"""Bytes of one value of a space whose description was received."""
MOST_SPACES = 10_000
"""Spaces in such a description, nested ones counted."""
SPREAD = 64 * 2**20
"""Bytes that anything may unpack to, however small it is."""
RATIO = 32
"""How many times its own size what is compressed may have beyond :data:`SPREAD`: weights hardly compress."""
ROOM = 512 * 2**20
"""Memory that reading a file of another program may take beside a multiple of its size."""
_TIMES = 8

_DTYPE = re.compile(
    r"[<>|=]?(?:[?]|b1|[iu][1248]|f[248]|c(?:8|16))"
    r"|bool|u?int(?:8|16|32|64)|float(?:16|32|64)|complex(?:64|128)"
)
_TEXTS = re.compile(r"[<>|=]?[SU]\d{1,5}|[<>|=]?[mM]8(?:\[\d{0,4}[a-zA-Z]{1,2}\])?")


def dtype_of(name: object, *, texts: bool = False) -> np.dtype[Any]:
    """The dtype of a name that came from elsewhere: NumPy would evaluate parts of what it is given.

    Args:
        name: The name.
        texts: Whether text and times are dtypes, too.

    Raises:
        ValueError: It is no plain type of numbers.
    """
    if isinstance(name, str) and (_DTYPE.fullmatch(name) or (texts and _TEXTS.fullmatch(name))):
        return np.dtype(name)
    raise ValueError(f"{str(name)[:40]!r} is no type of numbers")


def shape_of(given: Any) -> Sequence[int]:
    """A shape that came from elsewhere.

    Raises:
        ValueError: It is none.
    """
    is_list = isinstance(given, (list, tuple))
    shape = tuple(cast("Sequence[Any]", given)) if is_list else (given,)
    if len(shape) > 32 or not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise ValueError(f"{str(given)[:80]} is no shape")
    return shape


def size_of(shape: Sequence[int], dtype: np.dtype[Any]) -> int:
    """Bytes of an array, exactly, however large."""
    return math.prod(shape) * dtype.itemsize


class Budget:
    """Counts an amount down, and raises when it is used up.

    Args:
        left: What may be taken.
        what: What it is that takes it, for the message.
    """

    def __init__(self, left: int, what: str) -> None:
        self._left, self._all, self._what = left, left, what

    def take(self, amount: int) -> None:
        """Take some of it.

        Raises:
            ValueError: There is not that much left.
        """
        self._left -= amount
        if self._left < 0:
            raise ValueError(f"{self._what} more than {self._all:,}")


# -- compressed bytes --------------------------------------------------------------------


def inflated(data: bytes, most: int) -> bytes:
    """What was deflated, at most so much of it.

    Raises:
        ValueError: It is more.
        zlib.error: It is not deflated.
    """
    decoder = zlib.decompressobj()
    found = decoder.decompress(data, most + 1)
    if len(found) > most:
        raise ValueError(f"it unpacks to more than {most:,} bytes")
    return found


# -- what is left to others --------------------------------------------------------------


@contextmanager
def memory_for(path: Path) -> Generator[None, None, None]:
    """Have this process take no more memory while it reads a file than a multiple of its size.

    The last line of defense, for readers that are not ours. What was there before, such as torch, does not
    count. Where the system has no such limit (it is Linux that has), there is none.

    Args:
        path: The file, or a folder of which the files are read.

    Raises:
        MemoryError: The body of the ``with`` statement wants more.
    """
    used = _data_bytes()
    if used is None:
        yield
        return
    import resource

    size = path.stat().st_size if path.is_file() else sum(f.stat().st_size for f in _files(path))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = used + ROOM + _TIMES * size
    bounds = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([most, *bounds]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _files(folder: Path) -> List[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def _data_bytes() -> Any:
    """What this process has for its data; ``None`` where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"^VmData:\s+(\d+) kB", status, re.M)
    return None if found is None else int(found.group(1)) * 1024
