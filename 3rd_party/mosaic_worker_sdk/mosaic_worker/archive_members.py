"""Members of zip archives, read within the limits of :mod:`mosaic_worker.limits`."""

from __future__ import annotations

import zipfile
from typing import BinaryIO, Sequence

from mosaic_worker.limits import RATIO, SPREAD


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
