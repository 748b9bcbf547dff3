"""Numbers that say in which form a file is written."""

from __future__ import annotations

from typing import Any

from gym_gui.core.errors import UsageError


class NewerFormatError(UsageError):
    """A file of a later version, which this version must not write, continue or play."""


def newer(number: Any, known: int) -> bool:
    """Whether a file's format number is beyond what this version knows.

    Args:
        number: As the file has it; ``None`` where it says nothing, as the first version did.
        known: The newest that this version writes.
    """
    if number is None:
        return False
    return isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= known


def check_format(what: str, number: Any, known: int) -> None:
    """Refuse a file of a later version.

    Args:
        what: The file, as messages call it.
        number: Its format number.
        known: The newest that this version writes.

    Raises:
        NewerFormatError: It is beyond that.
    """
    if newer(number, known):
        raise NewerFormatError(
            f"{what} is of format {number!r}, and {known} is the newest known here",
            fix="A newer version of MOSAIC has written it: update",
        )
