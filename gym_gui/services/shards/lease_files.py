"""The lease of a shard: a file that its coordinator writes, and beside it one that the shard answers in."""

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
"""Of either: all operators of an experiment are in it."""


class LeaseFiles:
    """What a shard has been given, and what it asks for.

    A lease holds for a time from when this process has seen it, by this machine's own clock: the clocks of
    other machines do not matter, and a lease ends when no coordinator renews it.

    Args:
        folder: Where both files are.
        clock: Seconds that only go forward.

    Attributes:
        lease: What it has been given last; ``None`` while it has been given nothing.
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

    def look(self) -> bool:
        """See whether there is another lease, or the same renewed; at most once a second.

        Returns:
            Whether there is.
        """
        now = self._clock()
        if self._looked_at is not None and now - self._looked_at < _EVERY_S:
            return False
        self._looked_at = now
        try:
            line = read_file(self._folder / LEASE, limit=MOST_BYTES).decode("utf-8", "replace")
        except OSError:  # not there yet; or a disk that has nothing to say now
            return False
        lease = Lease.from_line(line)
        if line == self._seen or lease is None or (self.lease and lease.number < self.lease.number):
            return False
        self.lease, self._seen, self._seen_at = lease, line, now
        return True

    def claim(self, claim: Claim) -> None:
        """Say where the shard stands; on the disk when this returns.

        Raises:
            OSError: It cannot be written.
        """
        line = claim.to_line()
        if line != self._claimed:
            replace_file(self._folder / CLAIM, f"{line}\n".encode())
            self._claimed = line
