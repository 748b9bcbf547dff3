"""Folders as archives that travel: files alone, and nothing outside of the folder that they go into."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

_FIRST: Final = "episodes.jsonl"
"""An episode's rows are written before its line: copied first, it names no episode without its rows."""
_LAST: Final = "budget.jsonl"
"""What is paid for is put aside before: copied last, it knows of all calls that are there."""


def pack(
    folder: Path, target: Path, without: Collection[str] = (), extra: Mapping[str, bytes] | None = None
) -> None:
    """Put a folder's files, and no links, into an archive; the same files make the same bytes.

    Args:
        folder: The folder. A process may write a run in it during the copy: the copy can be resumed as if
            the run had been cut off at that moment.
        target: The archive.
        without: Names of files that are left out.
        extra: Files that the folder does not have, by name; in place of its own where it does.

    Raises:
        OSError: A file was not there any more.
    """
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    more = extra or {}
    files = sorted(path for path in found if path.name not in without)
    files.sort(key=lambda path: 2 * (path.name == _LAST) - (path.name == _FIRST))
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", 1, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for path in files:
            name = str(path.relative_to(folder))
            if name not in more:
                archive.add(path, name, recursive=False, filter=_without_owner)
        for name, content in more.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(_without_owner(member), io.BytesIO(content))


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without what differs from copy to copy and is not unpacked: owner, mode, time."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


class TooMuchError(ValueError):
    """An archive holds more than it may."""


def unpack(source: Path, folder: Path, most: int | None = None) -> None:
    """Take an archive apart into a new folder.

    Args:
        source: The archive.
        folder: Where.
        most: Bytes that it may hold; ``None``: any number.

    Raises:
        TooMuchError: It holds more.
        ValueError: It is damaged, or holds what is no file, or a file that lies elsewhere.
        OSError: A file cannot be written.
    """
    folder.mkdir(parents=True, mode=0o700)
    left = most
    try:
        with gzip.open(source) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            for member in archive:
                parts = member.name.split("/")
                if not member.isreg() or not all(parts) or not {".", ".."}.isdisjoint(parts):
                    raise ValueError(f"{member.name[:200]!r} has no place in an archive")
                if left is not None and (left := left - member.size) < 0:
                    raise TooMuchError(f"an archive holds more than {most} bytes")
                target = folder.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                content = archive.extractfile(member)
                assert content is not None, "it is a file"
                with target.open("xb") as file:
                    shutil.copyfileobj(content, file)
            while packed.read(1 << 16):
                pass  # its end says whether all of it is there
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"an archive is damaged: {error}") from error
