"""Limits the number of a worker's log lines, and counts the lines that are left out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

BURST = 200
"""Largest number of log lines that are forwarded in one burst."""
PER_S = 20.0
"""Log lines per second that are forwarded after a burst."""
LONGEST = 16_384
"""Largest number of characters of a log line."""
_PAUSE_S = 1.0
"""Seconds between a dropped log line and the next forwarded line, so that the lines are a sample."""

PassOn = Callable[[int, str, str], None]


class LogSieve:
    """Forwards log lines up to a limit per second; call :meth:`close` when no more lines will come.

    Warnings and errors have their own limit, so that a flood of other lines does not hide them.

    Args:
        pass_on: Function of level, logger and text that receives the lines.
        name: Name of the source of the lines.
        clock: Returns seconds; replaced in tests.

    Attributes:
        lines: Number of received lines.
        left_out: Number of lines that were not forwarded.
    """

    def __init__(self, pass_on: PassOn, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._pass_on, self._name, self._clock = pass_on, name, clock
        self._buckets = {False: _Bucket(clock()), True: _Bucket(clock())}
        self.lines = self.left_out = 0

    def forward(self, level: int, logger: str, text: str) -> None:
        """Forward a line, shortened if it is too long, or count it as left out."""
        self.lines += 1
        bucket = self._buckets[level >= logging.WARNING]
        now = self._clock()
        if not bucket.open(now):
            bucket.left_out += 1
            self.left_out += 1
            return
        if bucket.left_out:
            self._pass_on(level, logger, f"{bucket.left_out:,} further lines were left out")
            bucket.left_out = 0
        bucket.room -= 1
        self._pass_on(level, logger, shortened(text))

    def is_full(self, level: int) -> bool:
        """Return whether lines of this level are being left out now."""
        return not self._buckets[level >= logging.WARNING].open(self._clock())

    def count(self, lines: int) -> None:
        """Count lines as received and left out that were skipped unread."""
        self.lines += lines
        self._buckets[False].left_out += lines
        self.left_out += lines

    def close(self) -> None:
        """Report the total number of lines that were left out."""
        if self.left_out:
            words = f"{self.left_out:,} further lines of {self._name} were left out"
            self._pass_on(logging.WARNING, "mosaic.workers", words)
            self.left_out = 0


class _Bucket:
    """Number of log lines that may be forwarded, which grows with time.

    Attributes:
        room: Number of lines that may be forwarded now.
        left_out: Number of lines left out since the last forwarded line.
    """

    def __init__(self, now: float) -> None:
        self.room, self.left_out, self._at = float(BURST), 0, now

    def open(self, now: float) -> bool:
        self.room = min(BURST, self.room + (now - self._at) * PER_S)
        self._at = now
        return self.room >= (PER_S * _PAUSE_S if self.left_out else 1)


def shortened(text: str) -> str:
    """Return a log text, or its beginning and end if it is too long."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]} … {text[-half:]} ({len(text):,} characters)"
