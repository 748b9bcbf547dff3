"""Checks before a training that its buffer fits into memory.

A buffer fills up during the training, so without this check the memory might run out only after hours.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Tuple

from mosaic_worker.learning.training_command import ConfigError

MEMORY_MB = "MOSAIC_MEMORY_MB"
"""Environment variable: resident memory in MB, above which the program that started the training ends it."""

_OTHERS = 512 * 2**20
"""Bytes of memory that a training with torch uses in addition to its buffer."""
_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_buffer_memory(name: str, count: int, row_bytes: int) -> None:
    """Check that ``count`` rows fit into the memory of this training.

    Args:
        name: Name of the setting for the number of rows, as the user knows it.
        count: Number of rows.
        row_bytes: Size of one row in bytes.

    Raises:
        ConfigError: The rows do not fit; the message names the largest number that fits.
    """
    room, whose = _room()
    needed = count * row_bytes
    if needed <= room:
        return
    fits = room // row_bytes
    fix = f"set {name} to {fits:,} or less" if fits else "choose smaller observations"
    if whose != "this machine has":
        fix += ", or give the training more memory"
    raise ConfigError(
        f"{name} = {count:,} steps of {row_bytes:,} bytes need {needed / 2**30:.1f} GiB, and {whose} "
        f"{room / 2**30:.1f} GiB for them; {fix}"
    )


def _room() -> Tuple[int, str]:
    """Return the bytes available for the buffer, and a phrase that says what limits them."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for group in _GROUPS:
        try:
            there = min(there, int(Path(group).read_text()))
        except (OSError, ValueError):  # not there, or "max"
            continue
    told = os.environ.get(MEMORY_MB, "")
    if told.isdigit() and int(told) * 2**20 < there:
        return max(int(told) * 2**20 - _OTHERS, 0), "this training may use"
    return max(there - _OTHERS, 0), "this machine has"
