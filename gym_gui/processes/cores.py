"""Number of cores that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return the number of cores this process may use, or of all cores if the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
