"""The current time for records, by the clock of the submitting machine, and names that sort by time."""

from __future__ import annotations

import os
import secrets
import time
from datetime import UTC, datetime, timedelta
from typing import Final

BEHIND: Final = "MOSAIC_CLOCK_BEHIND_S"
"""Environment variable: seconds by which this machine's clock is behind; negative if it is ahead."""

_DIGITS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no I, L, O and U."""
_LENGTH: Final = 26
_RANDOM_BITS: Final = 80


def now() -> datetime:
    """Return the current time in UTC, corrected by :data:`BEHIND`."""
    try:
        behind = timedelta(seconds=float(os.environ.get(BEHIND, "0")))
    except (ValueError, OverflowError):
        behind = timedelta()
    return datetime.now(UTC) + behind


def new_ulid() -> str:
    """Return a new ULID: 48 bits of the time in milliseconds, then 80 random bits, as 26 characters.

    Source: https://github.com/ulid/spec. Two ULIDs of one millisecond sort in random order.
    """
    number = (time.time_ns() // 1_000_000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    return "".join(_DIGITS[number >> 5 * place & 31] for place in reversed(range(_LENGTH)))
