"""Opens files in folders that another user may have created: runs, policies, trainings.

The path to such a folder may contain a link. Inside the folder, only regular files and folders are opened,
and no links: a link would make this program read, overwrite or truncate a file elsewhere, and a named pipe
would make it wait forever. A refusal is an :class:`UnsafeFileError`, whose ``strerror`` is a sentence, so
that code that handles an ``OSError`` reports the reason too.
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
"""Default limit of the size in bytes of a file that is read in full."""
LONGEST_LINE = 16 * 2**20
"""Limit of the length in bytes of a JSON line; its decoded content may need twenty times as much memory."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = {
    "rb": os.O_RDONLY,
    "r+b": os.O_RDWR,
    "ab": os.O_WRONLY | os.O_APPEND | os.O_CREAT,
    "wb": os.O_WRONLY | os.O_CREAT,  # truncated only after the check that it is a regular file
    "xb": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
}

AnyPath = Union[str, "os.PathLike[str]"]


class UnsafeFileError(OSError):
    """The path is not a regular file or folder, or the file is larger than allowed."""


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
        mode: ``rb``, ``r+b``, ``ab``, ``wb`` or ``xb``, as in :func:`open`.
        inside: A folder. The path to this folder may contain links, the path below it may not. By
            default the folder that the file is in.
        links: Whether the file itself may be a link, because the user has named or made the file.
        buffering: As in :func:`open`.
        permissions: Permissions of a newly created file, before the umask.

    Raises:
        UnsafeFileError: The path is a link, a pipe, a socket or a device; or the file is opened for
            writing and has a second name (a hard link), which would be changed too.
        OSError: As for :func:`open`, also if the path is a folder.
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
                path, f"{Path(path).name} has a second name (a hard link), whose content would change too"
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
    """Return the whole content of a regular file.

    Args:
        path: The file.
        inside: As for :func:`open_file`.
        links: As for :func:`open_file`.
        limit: Largest size of the file in bytes.

    Raises:
        UnsafeFileError: As for :func:`open_file`, or the file is larger than ``limit``.
        OSError: As for :func:`open`.
    """
    with open_file(path, inside=inside, links=links) as file:
        # The size is checked first: a sparse file may have any size at no cost to its sender.
        data = file.read(limit + 1) if os.fstat(file.fileno()).st_size <= limit else None
    if data is None or len(data) > limit:
        size = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit} bytes"
        raise UnsafeFileError(errno.EFBIG, f"{Path(path).name} has more than {size}", str(path))
    return data


def check_file(path: AnyPath, *, inside: Optional[AnyPath] = None, links: bool = False) -> None:
    """Check that a file can be opened safely before a library opens it by its path.

    Raises:
        UnsafeFileError: As for :func:`open_file`.
        OSError: As for :func:`open`.
    """
    open_file(path, inside=inside, links=links).close()


def check_folder(folder: AnyPath) -> None:
    """Check that a folder and its subfolders contain only regular files and folders.

    Use this function for folders that libraries or other programs write to.

    Raises:
        UnsafeFileError: The folder contains something else, for example a link.
        OSError: The folder cannot be read.
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
                with suppress(FileNotFoundError):  # another process has just renamed the file
                    _require_regular(entry.stat(follow_symlinks=False).st_mode, name, entry.path)


def subfolders(path: AnyPath, *, inside: Optional[AnyPath] = None) -> Iterator[str]:
    """Yield the names of the subfolders of a folder, sorted; none if the folder does not exist.

    Raises:
        UnsafeFileError: The path is no folder, or the folder contains a link.
        OSError: The folder cannot be read.
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
    """Create the folder ``path`` below ``inside`` with its parents; folders that exist are kept.

    Raises:
        UnsafeFileError: A part of the path is a link, or something else that is no folder.
        OSError: The folder cannot be created.
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
    """Write a file atomically: at every moment it has either the old or the new content in full.

    Several processes may write the same file at the same time; the last content stays.

    Args:
        path: The file; if the path is a link, the link is replaced.
        data: Content of the file, or parts of the content in order.
        inside: As for :func:`open_file`.
        mode: Permissions of the file, before the umask.
        sync: Whether to wait until the content is on the disk, so that it survives a power cut.

    Raises:
        UnsafeFileError: The path has a link between ``inside`` and the file.
        OSError: The file cannot be written; the old file is unchanged.
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
            with suppress(OSError):  # the space may be needed on a full disk
                os.unlink(pending, dir_fd=folder)
            raise


@contextmanager
def replaced(path: AnyPath) -> Generator[Path, None, None]:
    """Yield the path of a temporary file that replaces ``path`` when the ``with`` block ends.

    Use this as :func:`replace_file` for libraries that write to a path. If the block raises, the
    temporary file is removed.

    Args:
        path: The file to replace; its folder must exist.

    Raises:
        OSError: The temporary file cannot replace ``path``.
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
    """Return a temporary name for a file while it is written: hidden, and different for each writer."""
    return f".{name}.{uuid.uuid4().hex[:8]}.new"


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, each with its line break; the last line may have none.

    Raises:
        UnsafeFileError: A line has :data:`LONGEST_LINE` bytes or more.
    """
    while True:
        line = file.readline(LONGEST_LINE)
        if not line:
            return
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            raise _too_long()
        yield line


def whole_lines(file: BinaryIO, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield blocks of whole lines of a file, each of about ``size`` bytes.

    The last line of the file may have no line break.

    Raises:
        UnsafeFileError: A line has :data:`LONGEST_LINE` bytes or more.
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
    """Yield a descriptor of the file's folder and the file's name; follow no link below ``inside``."""
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
    """Open a subfolder and return its descriptor; close ``folder`` unless this fails."""
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
    """Raise a clear error if a file could not be opened because it is not a regular file."""
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
        raise _unsafe(path, f"{name} is a link, and no link is followed")
    kinds = ((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"))
    kind = next((word for is_it, word in kinds if is_it(mode)), "a device")
    raise _unsafe(path, f"{name} is {kind}, not a regular file")


def _unsafe(path: AnyPath, sentence: str) -> UnsafeFileError:
    return UnsafeFileError(errno.ELOOP, sentence, str(path))
