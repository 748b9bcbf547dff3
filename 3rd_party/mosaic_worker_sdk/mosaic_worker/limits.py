"""How much memory it may take to read what others have made: descriptions, archives, compressed bytes.

A small file may ask for any amount of memory: zeros compress a thousandfold, a shape of three numbers stands
for gigabytes. Each reader takes a budget from here before it allocates, never after.
"""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Generator, List, Sequence, cast

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


def check_members(archive: zipfile.ZipFile, names: Sequence[str], most: int) -> None:
    """Check the declared sizes and the compression of members of an archive.

    Raises:
        ValueError: They are packed in a way that no writer of ours uses, or would unpack to too much.
    """
    total = 0
    for name in names:
        member = archive.getinfo(name)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its member {name!r} is packed by a method that is not read (bzip2, LZMA)")
        if member.file_size > SPREAD + RATIO * member.compress_size:
            raise ValueError(
                f"its member {name!r} unpacks to {member.file_size:,} bytes from {member.compress_size:,}"
            )
        total += member.file_size
    if total > most:
        raise ValueError(f"it unpacks to {total:,} bytes, more than {most:,}")


def read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """One member of an archive, never more of it than it says.

    Raises:
        ValueError: As :func:`check_members`, or it holds more than it says.
    """
    check_members(archive, [name], most)
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        data = member.read(size + 1)
    if len(data) != size:
        raise ValueError(f"its member {name!r} has not the size that it says")
    return data


def check_torch_archive(file: BinaryIO, size: int) -> None:
    """See that a file of ``torch.save`` holds its tensors as they are, and takes what it is long.

    Torch unpacks deflated members as well, but writes none.

    Args:
        file: The file, read from its beginning afterwards.
        size: Its length.

    Raises:
        ValueError: Its members are compressed, or overlap.
    """
    if not zipfile.is_zipfile(file):
        file.seek(0)
        return  # as torch wrote before 1.6: one pickle and raw tensors behind it
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise ValueError(f"it is damaged ({error})") from None
    finally:
        file.seek(0)
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("its tensors are compressed, as torch.save never writes them")
    if sum(member.file_size for member in members) > size:
        raise ValueError("its tensors overlap")


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
        MemoryError: (from what is done meanwhile) It wants more.
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
