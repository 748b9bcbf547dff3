"""Packs folders into archives and unpacks them safely: only files, and only below the target folder."""

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
"""File that is packed first. An episode's rows are written before its line, so no line in the copy lacks its
rows."""
_LAST: Final = "budget.jsonl"
"""File that is packed last. Costs are recorded before each call, so the copy knows of all calls in it."""


def pack(
    folder: Path, target: Path, without: Collection[str] = (), extra: Mapping[str, bytes] | None = None
) -> None:
    """Pack a folder's files, without links, into an archive. The same files give the same bytes.

    Args:
        folder: The folder. A run in it may be written in the meantime. The copy can be resumed as if the
            run had been cut off at that moment.
        target: Path of the archive.
        without: Names of files to leave out.
        extra: Contents of additional files by name, which replace files of the folder.

    Raises:
        OSError: A file was removed in the meantime.
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
    """Remove from a member what differs between copies and is not unpacked: owner, mode and time."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


class TooMuchError(ValueError):
    """Error for an archive that contains more bytes than allowed."""


def unpack(source: Path, folder: Path, most: int | None = None) -> None:
    """Unpack an archive into a new folder.

    Args:
        source: Path of the archive.
        folder: The new folder.
        most: Largest allowed number of bytes; ``None`` for no limit.

    Raises:
        TooMuchError: The archive contains more.
        ValueError: The archive is damaged, or contains something other than files below the folder.
        OSError: A file cannot be written.
    """
    folder.mkdir(parents=True, mode=0o700)
    left = most
    try:
        with gzip.open(source) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            for member in archive:
                parts = member.name.split("/")
                if not member.isreg() or not all(parts) or not {".", ".."}.isdisjoint(parts):
                    raise ValueError(f"{member.name[:200]!r} is not a valid file in an archive")
                if left is not None and (left := left - member.size) < 0:
                    raise TooMuchError(f"an archive contains more than {most} bytes")
                target = folder.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                content = archive.extractfile(member)
                assert content is not None, "it is a file"
                with target.open("xb") as file:
                    shutil.copyfileobj(content, file)
            while packed.read(1 << 16):
                pass  # read to the end, which shows whether the archive is complete
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"an archive is damaged: {error}") from error
