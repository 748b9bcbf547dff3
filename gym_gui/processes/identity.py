"""Telling a process from a later one that got the same number.

Standard library alone: the runner of a training imports it without site-packages.
"""

from __future__ import annotations

import functools
from pathlib import Path


@functools.cache
def boot() -> str:
    """A name for the time since this machine was started; empty where there is no ``/proc``."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def birth(pid: int) -> str:
    """When a process was started, as a name that no other process with its number ever has.

    Returns:
        Boot and clock tick, or an empty string where it has ended (a zombie has).
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else f"{boot()}/{fields[19].decode()}"


def suspended(pid: int) -> bool:
    """Whether a signal has halted it (``SIGSTOP``, ``SIGTSTP``, a debugger)."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except OSError:
        return False
