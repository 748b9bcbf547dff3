"""Reads the lease file that the coordinator writes for a shard, and writes the shard's claim file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gym_gui.core.experiment.leases import Claim, Lease
from mosaic_worker.plain_files import read_file, replace_file

LEASE: Final = "lease"
CLAIM: Final = "claim"
_EVERY_S: Final = 1.0
MOST_BYTES: Final = 1 << 22
"""Largest size of either file. Each contains all operators of an experiment."""


class LeaseFiles:
    """Reads the budget lease of a shard (amounts that it may spend) and writes its claim (amounts spent and
    needed).

    A lease is valid for a time after this process has seen it, by this machine's own clock. So clocks of
    other machines do not matter, and a lease expires if no coordinator renews it.

    Args:
        folder: Folder of both files.
        clock: Monotonic clock in seconds.

    Attributes:
        lease: The latest lease; ``None`` before the first.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder, self._clock = folder, clock
        self.lease: Lease | None = None
        self._seen: str = ""
        self._seen_at = 0.0
        self._looked_at: float | None = None
        self._claimed = ""

    @property
    def is_held(self) -> bool:
        """Whether there is a lease that has not expired."""
        return self.lease is not None and self._clock() - self._seen_at < self.lease.for_s

    def check(self) -> bool:
        """Check for a new or renewed lease, at most once per second.

        Returns:
            Whether a new or renewed lease was read.
        """
        now = self._clock()
        if self._looked_at is not None and now - self._looked_at < _EVERY_S:
            return False
        self._looked_at = now
        try:
            line = read_file(self._folder / LEASE, limit=MOST_BYTES).decode("utf-8", "replace")
        except OSError:  # no file yet, or the disk does not answer at present
            return False
        lease = Lease.from_line(line)
        if line == self._seen or lease is None or (self.lease and lease.number < self.lease.number):
            return False
        self.lease, self._seen, self._seen_at = lease, line, now
        return True

    def claim(self, claim: Claim) -> None:
        """Write the claim of the shard. It is on disk when this returns.

        Raises:
            OSError: The claim cannot be written.
        """
        line = claim.to_line()
        if line != self._claimed:
            replace_file(self._folder / CLAIM, f"{line}\n".encode())
            self._claimed = line
