"""Opens files in folders that another user may have made: runs, policies, trainings.

The path to such a folder may contain a link. Inside the folder, only regular files and folders are
opened, and no links: a link would make this program read, overwrite or truncate a file elsewhere, and
a named pipe would make it wait for ever. A refusal is an :class:`UnsafeFileError`, whose ``strerror``
says so in a sentence, so that code that handles an ``OSError`` reports it as well.
"""

from __future__ import annotations

import errno
import os
import stat
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Generator, Iterable, Iterator, List, Optional, Tuple, Union, cast

LARGEST = 16 * 2**20
"""Bytes of a file that is read whole, where nothing else is said."""
LONGEST_LINE = 16 * 2**20
"""Bytes of a line of JSON: what it says may take twenty times as much."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = {
    "rb": os.O_RDONLY,
    "r+b": os.O_RDWR,
    "ab": os.O_WRONLY | os.O_APPEND | os.O_CREAT,
    "wb": os.O_WRONLY | os.O_CREAT,  # cut off once it is known what it is
    "xb": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
}

AnyPath = Union[str, "os.PathLike[str]"]


class UnsafeFileError(OSError):
    """What stands there is no regular file or folder, or larger than it can be."""


def open_file(
    path: AnyPath,
    mode: str = "rb",
    *,
    inside: Optional[AnyPath] = None,
    links: bool = False,
    buffering: int = -1,
    permissions: int = 0o666,
) -> BinaryIO:
    """Open a regular file.

    Args:
        path: The file.
        mode: ``rb``, ``r+b``, ``ab``, ``wb`` or ``xb``, as :func:`open` has them.
        inside: The folder that may be reached through links; what is below it may not. By
            default the folder that the file is in.
        links: The file itself may be a link: it is one that the person has named or made.
        buffering: As :func:`open` has it.
        permissions: Of a file that is made, before the process's mask.

    Raises:
        UnsafeFileError: It is a link, a pipe, a socket, a device or a folder; or it is to be
            written and has a second name, under which another file would be changed.
        OSError: As :func:`open`.
    """
    flags = _FLAGS[mode] | _FILE | (0 if links else _NO_LINK)
    with _parent(Path(path), inside) as (folder, name):
        try:
            handle = os.open(name, flags, permissions, dir_fd=folder)
        except OSError as error:
            _explain(folder, name, str(path), links)
            raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        found = os.fstat(handle)
        _require_regular(found.st_mode, Path(path).name, str(path))
        if mode != "rb" and found.st_nlink > 1:
            raise _unsafe(
                path, f"{Path(path).name} has a second name (a hard link), which would be changed too"
            )
        if mode == "wb":
            os.ftruncate(handle, 0)
        return cast(BinaryIO, os.fdopen(handle, "wb" if mode == "xb" else mode, buffering))
    except BaseException:
        os.close(handle)
        raise


def read_file(
    path: AnyPath, *, inside: Optional[AnyPath] = None, links: bool = False, limit: int = LARGEST
) -> bytes:
    """The whole content of a regular file.

    Args:
        path: The file.
        inside: As for :func:`open_file`.
        links: As for :func:`open_file`.
        limit: Bytes that it may have.

    Raises:
        UnsafeFileError: As :func:`open_file`, or it is larger.
        OSError: As :func:`open`.
    """
    with open_file(path, inside=inside, links=links) as file:
        # Asked first: a file of holes has any size and costs its sender nothing.
        data = file.read(limit + 1) if os.fstat(file.fileno()).st_size <= limit else None
    if data is None or len(data) > limit:
        size = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit} bytes"
        raise UnsafeFileError(errno.EFBIG, f"{Path(path).name} has more than {size}", str(path))
    return data


def check_file(path: AnyPath, *, inside: Optional[AnyPath] = None, links: bool = False) -> None:
    """See that a file can be opened, before a library that takes a path opens it by itself.

    Raises:
        UnsafeFileError: As :func:`open_file`.
        OSError: As :func:`open`.
    """
    open_file(path, inside=inside, links=links).close()


def check_folder(folder: AnyPath) -> None:
    """See that there are only regular files and folders in a folder, however deep.

    For folders that libraries, or other programs, are to write in.

    Raises:
        UnsafeFileError: There is something else.
        OSError: It cannot be read.
    """
    waiting = [Path(folder)]
    while waiting:
        here = waiting.pop()
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(here / entry.name)
                    continue
                name = os.path.relpath(entry.path, os.fspath(folder))
                with suppress(FileNotFoundError):  # a file that another process has just put in its place
                    _require_regular(entry.stat(follow_symlinks=False).st_mode, name, entry.path)


def subfolders(path: AnyPath, *, inside: Optional[AnyPath] = None) -> Iterator[str]:
    """Names of the folders in a folder, sorted; none where it does not exist.

    Raises:
        UnsafeFileError: It is no folder, or a link stands where a folder could.
        OSError: It cannot be read.
    """
    try:
        with _parent(Path(path) / "x", inside or path) as (folder, _):
            for name in sorted(os.listdir(folder)):  # noqa: PTH208  # of a descriptor
                kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
                if stat.S_ISLNK(kind):
                    _require_regular(kind, f"{Path(path).name}/{name}", str(Path(path) / name))
                if stat.S_ISDIR(kind):
                    yield name
    except FileNotFoundError:
        return


def make_folder(path: AnyPath, *, inside: AnyPath) -> None:
    """Make a folder inside another, with those between; one that is there already is fine.

    Raises:
        UnsafeFileError: A link, or something else that is no folder, stands in its place.
        OSError: It cannot be made.
    """
    handle = os.open(inside, _FOLDER)
    try:
        for part in _parts_below(Path(path), Path(inside)):
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=handle)
            handle = _step(handle, part, str(path))
    finally:
        os.close(handle)


def replace_file(
    path: AnyPath,
    data: Union[bytes, Iterable[bytes]],
    *,
    inside: Optional[AnyPath] = None,
    mode: int = 0o666,
    sync: bool = True,
) -> None:
    """Write a file so that at every moment it is the old one or the new one, whole.

    Several may write the same file at once; the last one's stays.

    Args:
        path: The file; where it is a link, the link is replaced.
        data: Its content, or its parts in order.
        inside: As for :func:`open_file`.
        mode: Who may read and write it, less what the umask takes away.
        sync: Wait until it is on the disk, so that it outlives a power cut too.

    Raises:
        UnsafeFileError: A link stands between ``inside`` and the file.
        OSError: It cannot be written; what was there is still there.
    """
    with _parent(Path(path), inside) as (folder, name):
        pending = _pending(name)
        try:
            flags = _FLAGS["xb"] | _FILE | _NO_LINK
            with os.fdopen(os.open(pending, flags, mode, dir_fd=folder), "wb") as file:
                file.writelines([data] if isinstance(data, bytes) else data)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(pending, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):  # a full disk needs the space back
                os.unlink(pending, dir_fd=folder)
            raise


@contextmanager
def replaced(path: AnyPath) -> Generator[Path, None, None]:
    """As :func:`replace_file`, for libraries that write to a path: the name of a file to write.

    It takes the other's place when the block ends, and is removed when that fails.

    Args:
        path: The file, in a folder that is there.

    Raises:
        OSError: What was written cannot take its place.
    """
    whole = Path(path)
    pending = whole.with_name(_pending(whole.name))
    try:
        yield pending
        pending.replace(whole)
    finally:
        with suppress(OSError):
            pending.unlink()


def _pending(name: str) -> str:
    """What a file is called until it is whole: hidden, and by each writer otherwise."""
    return f".{name}.{uuid.uuid4().hex[:8]}.new"


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of a file, each with its line break; the last may have none.

    Raises:
        UnsafeFileError: A line is longer than any that we write.
    """
    while True:
        line = file.readline(LONGEST_LINE)
        if not line:
            return
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            raise _too_long()
        yield line


def whole_lines(file: BinaryIO, size: int = 1 << 20) -> Iterator[bytes]:
    """Whole lines of a file, all those of about ``size`` bytes at a time; the last may have no line break.

    Raises:
        UnsafeFileError: A line is longer than any that we write.
    """
    rest: List[bytes] = []
    length = 0
    while True:
        data = file.read(size)
        end = data.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, data[:end]])
            rest, length = [], 0
        rest.append(data[end:])
        length += len(data) - end
        if length >= LONGEST_LINE:
            raise _too_long()
        if not data:
            break
    last = b"".join(rest)
    if last:
        yield last


def _too_long() -> UnsafeFileError:
    return UnsafeFileError(errno.EFBIG, f"a line has more than {LONGEST_LINE // 2**20} MiB")


@contextmanager
def _parent(path: Path, inside: Optional[AnyPath]) -> Generator[Tuple[int, str], None, None]:
    """The folder a file is in, as a descriptor, and its name there; no link below ``inside`` is followed."""
    root = path.parent if inside is None else Path(inside)
    *folders, name = _parts_below(path, root)
    handle = os.open(root, _FOLDER)
    try:
        for part in folders:
            handle = _step(handle, part, str(path))
        yield handle, name
    finally:
        os.close(handle)


def _parts_below(path: Path, root: Path) -> Tuple[str, ...]:
    parts = path.relative_to(root).parts
    if not parts or ".." in parts:
        raise _unsafe(path, f"it leads out of {root}")
    return parts


def _step(folder: int, name: str, path: str) -> int:
    """Go one folder down; the descriptor that came in is closed, unless this fails."""
    try:
        deeper = os.open(name, _FOLDER | _NO_LINK, dir_fd=folder)
    except OSError:
        with suppress(FileNotFoundError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if not stat.S_ISDIR(found):
                _require_regular(found, name, path)
        raise
    os.close(folder)
    return deeper


def _explain(folder: int, name: str, path: str, links: bool) -> None:
    """Raise what says why a file could not be opened, where the system's own word for it says little."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=links)
    except OSError:
        return
    _require_regular(found.st_mode, name, path)


def _require_regular(mode: int, name: str, path: str) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(mode):
        raise _unsafe(path, f"{name} is a link, and no link is followed out of a folder")
    kinds = ((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"))
    kind = next((word for is_it, word in kinds if is_it(mode)), "a device")
    raise _unsafe(path, f"{name} is {kind}, no regular file")


def _unsafe(path: AnyPath, sentence: str) -> UnsafeFileError:
    return UnsafeFileError(errno.ELOOP, sentence, str(path))
