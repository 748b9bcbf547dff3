"""How much of the machine is ours."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Cores that this process may use, where the system says so; else those that there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
