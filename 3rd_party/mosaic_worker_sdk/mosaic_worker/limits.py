"""Limits the memory for reading untrusted data: descriptions, archives, compressed bytes.

A small file may require any amount of memory: zeros compress a thousandfold, and a shape of three numbers may
describe an array of gigabytes. Each reader subtracts from a budget before it allocates memory.
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
"""Largest size in bytes of one value of a space whose description comes from another program."""
MOST_SPACES = 10_000
"""Largest number of spaces in a description from another program, including nested ones."""
SPREAD = 64 * 2**20
"""Size in bytes that compressed data may always unpack to, whatever its compressed size."""
RATIO = 32
"""Largest ratio of unpacked to compressed size above :data:`SPREAD` bytes; weights hardly compress."""
ROOM = 512 * 2**20
"""Bytes of memory that reading a file may use in addition to a multiple of the file's size."""
_TIMES = 8

_DTYPE = re.compile(
    r"[<>|=]?(?:[?]|b1|[iu][1248]|f[248]|c(?:8|16))"
    r"|bool|u?int(?:8|16|32|64)|float(?:16|32|64)|complex(?:64|128)"
)
_TEXTS = re.compile(r"[<>|=]?[SU]\d{1,5}|[<>|=]?[mM]8(?:\[\d{0,4}[a-zA-Z]{1,2}\])?")


def dtype_of(name: object, *, texts: bool = False) -> np.dtype[Any]:
    """Return the dtype for a name from an untrusted source.

    The name is checked first, because NumPy would evaluate parts of it.

    Args:
        name: The name.
        texts: Whether dtypes of text and times are allowed too.

    Raises:
        ValueError: The name is no plain type of numbers.
    """
    if isinstance(name, str) and (_DTYPE.fullmatch(name) or (texts and _TEXTS.fullmatch(name))):
        return np.dtype(name)
    raise ValueError(f"{str(name)[:40]!r} is not a numeric dtype")


def shape_of(given: Any) -> Sequence[int]:
    """Check a shape from an untrusted source and return it.

    Raises:
        ValueError: ``given`` is no shape.
    """
    is_list = isinstance(given, (list, tuple))
    shape = tuple(cast("Sequence[Any]", given)) if is_list else (given,)
    if len(shape) > 32 or not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise ValueError(f"{str(given)[:80]} is no shape")
    return shape


def size_of(shape: Sequence[int], dtype: np.dtype[Any]) -> int:
    """Return the exact size in bytes of an array, which may be too large for memory."""
    return math.prod(shape) * dtype.itemsize


class Budget:
    """Counts down an amount and raises an error when it is used up.

    Args:
        left: The amount that may be taken.
        what: Beginning of the error message, for example ``"its spaces are"``.
    """

    def __init__(self, left: int, what: str) -> None:
        self._left, self._all, self._what = left, left, what

    def take(self, amount: int) -> None:
        """Take an amount from the budget.

        Raises:
            ValueError: Less than ``amount`` is left.
        """
        self._left -= amount
        if self._left < 0:
            raise ValueError(f"{self._what} more than {self._all:,}")


# -- compressed bytes --------------------------------------------------------------------


def inflated(data: bytes, most: int) -> bytes:
    """Decompress zlib data of at most ``most`` bytes.

    Raises:
        ValueError: The data unpack to more than ``most`` bytes.
        zlib.error: The data are not in zlib format.
    """
    decoder = zlib.decompressobj()
    found = decoder.decompress(data, most + 1)
    if len(found) > most:
        raise ValueError(f"it unpacks to more than {most:,} bytes")
    return found


# -- memory of other libraries -----------------------------------------------------------


@contextmanager
def memory_for(path: Path) -> Generator[None, None, None]:
    """Limit the memory of this process, while it reads a file, to a multiple of the file's size.

    This is the last safeguard for files that other libraries read. Memory that the process already uses, for
    example for torch, does not count. Only Linux has this limit; other systems have none.

    Args:
        path: The file, or a folder whose files are read.

    Raises:
        MemoryError: The body of the ``with`` statement needs more memory.
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
    """Return the bytes of this process's data memory, or ``None`` if the system does not report them."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"^VmData:\s+(\d+) kB", status, re.M)
    return None if found is None else int(found.group(1)) * 1024
