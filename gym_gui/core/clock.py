"""The current time for records of runs, corrected to the clock of the submitting machine if that is known."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Final

BEHIND: Final = "MOSAIC_CLOCK_BEHIND_S"
"""Environment variable: seconds by which this machine's clock is behind; negative if it is ahead."""


def now() -> datetime:
    """Return the current time in UTC, corrected by :data:`BEHIND`."""
    try:
        behind = timedelta(seconds=float(os.environ.get(BEHIND, "0")))
    except (ValueError, OverflowError):
        behind = timedelta()
    return datetime.now(UTC) + behind
