"""Reads members of zip archives within the limits of :mod:`mosaic_worker.limits`."""

from __future__ import annotations

import zipfile
from typing import BinaryIO, Sequence

from mosaic_worker.limits import RATIO, SPREAD


def check_members(archive: zipfile.ZipFile, names: Sequence[str], most: int) -> None:
    """Check the declared sizes and the compression of members of an archive.

    Raises:
        ValueError: A member is compressed by a method that MOSAIC never writes, or would unpack to too
            many bytes.
    """
    total = 0
    for name in names:
        member = archive.getinfo(name)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its member {name!r} is compressed with bzip2 or LZMA, which are not supported")
        if member.file_size > SPREAD + RATIO * member.compress_size:
            raise ValueError(
                f"its member {name!r} unpacks to {member.file_size:,} bytes from {member.compress_size:,}"
            )
        total += member.file_size
    if total > most:
        raise ValueError(f"it unpacks to {total:,} bytes, more than {most:,}")


def read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Read a member of an archive, up to the number of bytes that its header declares.

    Raises:
        ValueError: As for :func:`check_members`, or the member's size differs from the declared one.
    """
    check_members(archive, [name], most)
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        data = member.read(size + 1)
    if len(data) != size:
        raise ValueError(f"the size of its member {name!r} differs from the declared one")
    return data


def check_torch_archive(file: BinaryIO, size: int) -> None:
    """Check that the tensors in a file of ``torch.save`` are uncompressed and no larger than the file.

    Torch can read deflated members, but never writes them.

    Args:
        file: The file; its position is at the beginning afterwards.
        size: Size of the file in bytes.

    Raises:
        ValueError: Members of the file are compressed, or overlap, or the archive is damaged.
    """
    if not zipfile.is_zipfile(file):
        file.seek(0)
        return  # the format of torch before 1.6: a pickle followed by raw tensors
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
