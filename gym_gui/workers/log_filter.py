"""What a worker says, kept to what a person can read; what is left out is counted."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

BURST = 200
"""Lines that are passed on at once."""
PER_S = 20.0
"""Lines a second that are passed on once so many have been."""
LONGEST = 16_384
"""Characters of a line."""
_PAUSE_S = 1.0
"""Once a line was left out, the next one passed on comes so much later: a sample, not a trickle."""

PassOn = Callable[[int, str, str], None]


class LogSieve:
    """Passes on log lines as long as they are few; use :meth:`close` when no more come.

    Warnings and errors are counted apart, so that a flood of other lines does not hide them.

    Args:
        pass_on: Takes level, logger and text.
        name: Whose lines they are.
        clock: Seconds, for tests.

    Attributes:
        lines: How many came.
        left_out: How many of them were not passed on.
    """

    def __init__(self, pass_on: PassOn, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._pass_on, self._name, self._clock = pass_on, name, clock
        self._buckets = {False: _Bucket(clock()), True: _Bucket(clock())}
        self.lines = self.left_out = 0

    def take(self, level: int, logger: str, text: str) -> None:
        """Pass a line on, shortened where it is overlong, or count it."""
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
        """Whether lines of a level are left out now."""
        return not self._buckets[level >= logging.WARNING].open(self._clock())

    def count(self, lines: int) -> None:
        """So many lines were not even read."""
        self.lines += lines
        self._buckets[False].left_out += lines
        self.left_out += lines

    def close(self) -> None:
        """Say how many lines were left out in all."""
        if self.left_out:
            words = f"{self.left_out:,} further lines of {self._name} were left out"
            self._pass_on(logging.WARNING, "mosaic.workers", words)
            self.left_out = 0


class _Bucket:
    """Room for lines, which grows with time.

    Attributes:
        room: Lines that may be passed on now.
        left_out: Lines that have not been, since the last one that was.
    """

    def __init__(self, now: float) -> None:
        self.room, self.left_out, self._at = float(BURST), 0, now

    def open(self, now: float) -> bool:
        self.room = min(BURST, self.room + (now - self._at) * PER_S)
        self._at = now
        return self.room >= (PER_S * _PAUSE_S if self.left_out else 1)


def shortened(text: str) -> str:
    """``text``, or its two ends where it is too long to read."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]} … {text[-half:]} ({len(text):,} characters)"
