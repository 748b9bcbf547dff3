"""Names of runs and processes that are unique and sort by the time at which they were made."""

from __future__ import annotations

import secrets
import time
from typing import Final

_DIGITS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no I, L, O and U."""
_LENGTH: Final = 26
_RANDOM_BITS: Final = 80


def new_ulid() -> str:
    """Return a new ULID: 48 bits of the time in milliseconds, then 80 random bits, as 26 characters.

    Source: https://github.com/ulid/spec. Two ULIDs of one millisecond sort in random order.
    """
    number = (time.time_ns() // 1_000_000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    return "".join(_DIGITS[number >> 5 * place & 31] for place in reversed(range(_LENGTH)))
