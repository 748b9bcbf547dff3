"""Distinguishes a process from a later process with the same process id.

This module uses only the standard library, because the runner of a training imports it without site-packages.
"""

from __future__ import annotations

import functools
from pathlib import Path


@functools.cache
def boot() -> str:
    """Return an id of the machine's current boot; ``""`` if the system has no ``/proc``."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def birth(pid: int) -> str:
    """Return an id of a process's start, which no other process with the same process id ever has.

    Returns:
        Boot id and clock tick; ``""`` if the process has ended or is a zombie.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else f"{boot()}/{fields[19].decode()}"


def suspended(pid: int) -> bool:
    """Return whether a signal has stopped the process (``SIGSTOP``, ``SIGTSTP``, a debugger)."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except OSError:
        return False
