"""The time for records of runs: by the clock of the machine that submitted them, where it is known."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Final

BEHIND: Final = "MOSAIC_CLOCK_BEHIND_S"
"""Variable that says by how many seconds this machine's clock is behind; negative where it is ahead."""


def now() -> datetime:
    """The time, with its zone (UTC)."""
    try:
        behind = timedelta(seconds=float(os.environ.get(BEHIND, "0")))
    except (ValueError, OverflowError):
        behind = timedelta()
    return datetime.now(UTC) + behind
