"""Format versions of files, and the check that refuses newer ones."""

from __future__ import annotations

from typing import Any

from gym_gui.core.errors import UsageError


class NewerFormatError(UsageError):
    """Error for a file of a newer version, which this version must not write, continue or play."""


def newer(number: Any, known: int) -> bool:
    """Return whether a file's format number is newer than this version knows, or is not valid.

    Args:
        number: Format number in the file; ``None`` if it has none, as in files of the first version.
        known: Newest format number that this version writes.
    """
    if number is None:
        return False
    return isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= known


def check_format(what: str, number: Any, known: int) -> None:
    """Refuse a file of a newer version.

    Args:
        what: Name of the file in messages.
        number: Its format number.
        known: Newest format number that this version writes.

    Raises:
        NewerFormatError: The file's number is newer or not valid.
    """
    if newer(number, known):
        raise NewerFormatError(
            f"{what} has format {number!r}, but {known} is the newest that this version knows",
            fix="Update MOSAIC, because a newer version has written it",
        )
