"""Memory that a session host and its client share; needs no NumPy, as what is done with it does."""

from __future__ import annotations

import fcntl
import os


def make_memory() -> int | None:
    """Memory without a name, as a file descriptor; ``None`` where there is no such thing."""
    if not hasattr(os, "memfd_create"):
        return None
    fd = os.memfd_create("mosaic-frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    # Nobody can take away under a reader what it has mapped.
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    return fd
