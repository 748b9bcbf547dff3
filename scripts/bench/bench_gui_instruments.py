"""What ``bench_gui_window.py`` measures with, in the process of the window itself.

Times are monotonic nanoseconds unless they end in ``_s`` or ``_ms``; "waited" is time in
which the GUI thread was ready and had no processor core.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BEAT_MS = 5


class Waited:
    """How long a thread has waited for a core so far (``/proc/…/schedstat``), 0 where Linux does not tell."""

    def __init__(self) -> None:
        try:
            self._fd = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
        except OSError:
            self._fd = -1

    def __call__(self) -> int:
        if self._fd < 0:
            return 0
        return int(os.pread(self._fd, 80, 0).split()[1])


class Beat:
    """Beats in the event loop and notes how late each beat comes.

    While a slot blocks the loop for long, one late beat stands for all those that should
    have come meanwhile: they are counted as well (else a block of a second would be one
    sample among thousands).
    """

    def __init__(self, waited: Waited) -> None:
        from PyQt6.QtCore import Qt, QTimer

        self._waited = waited
        self.marks: list[tuple[int, int]] = []
        self._timer: Any = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_time)
        self._armed: tuple[int, int] = (0, 0)
        self.late_ns: list[int] = []

    def start(self) -> None:
        """Begin to measure, forgetting what was measured before."""
        self.marks.clear()
        self.late_ns.clear()
        self._arm()

    def stop(self) -> None:
        """Measure no more."""
        self._timer.stop()

    def _arm(self) -> None:
        self._armed = (time.monotonic_ns(), self._waited())
        self.marks.append(self._armed)
        self._timer.start(BEAT_MS)

    def _on_time(self) -> None:
        now, waited = time.monotonic_ns(), self._waited()
        begun, before = self._armed
        late = now - begun - BEAT_MS * 1_000_000 - (waited - before)
        self.late_ns.append(max(late, 0))
        self._arm()

    def samples_ms(self) -> list[float]:
        """Lateness of every beat, those that were left out included, sorted."""
        beat = BEAT_MS * 1_000_000
        every = [rest for late in self.late_ns for rest in range(late, 0, -beat)] or [0]
        quiet = [0] * sum(1 for late in self.late_ns if late == 0)
        return sorted(late / 1e6 for late in every + quiet)

    def waited_at(self, when: int) -> int:
        """How long had been waited by then, as of the last beat before."""
        place = bisect.bisect_right(self.marks, (when, sys.maxsize)) - 1
        return self.marks[max(place, 0)][1] if self.marks else 0


def part(values: Sequence[float], share: float) -> float:
    """A quantile of sorted values."""
    return values[min(int(len(values) * share), len(values) - 1)] if values else 0.0


class Meter:
    """Processor time, waiting and wall time from one point to another."""

    def __init__(self, waited: Waited) -> None:
        self._waited = waited
        self._from = self._now()

    def _now(self) -> tuple[float, float, int]:
        return time.monotonic(), time.process_time(), self._waited()

    def read(self) -> dict[str, float]:
        wall, cpu, waited = (b - a for a, b in zip(self._from, self._now(), strict=True))
        return {"wall_s": wall, "cpu_s": cpu, "waited_s": waited / 1e9}


class Frames:
    """From the environment's step to the painted frame, of one operator.

    The last look that has come is the one whose picture is painted: both arrive together.

    Attributes:
        delivered: Pictures that have come.
    """

    def __init__(self, operator: Any, view: Any, waited: Waited, beat: Beat) -> None:
        self._operator, self._view, self._waited, self._beat = operator, view, waited, beat
        self.way_ms: list[float] = []
        self.way_less_waiting_ms: list[float] = []
        self.delivered = 0
        operator.framed.connect(self._on_framed)
        view.painted.connect(self._on_painted)

    def clear(self) -> None:
        self.way_ms.clear()
        self.way_less_waiting_ms.clear()
        self.delivered = 0

    def detach(self) -> None:
        self._operator.framed.disconnect(self._on_framed)
        self._view.painted.disconnect(self._on_painted)

    def _on_framed(self, _picture: object) -> None:
        self.delivered += 1

    def _on_painted(self, _number: int) -> None:
        now, waited = time.monotonic_ns(), self._waited()
        look = self._operator.player.last_view
        if look is None or not look.frame or not look.sent_ns:
            return
        way = now - look.sent_ns
        self.way_ms.append(way / 1e6)
        self.way_less_waiting_ms.append((way - (waited - self._beat.waited_at(look.sent_ns))) / 1e6)


def memory_mb() -> dict[str, float]:
    """Memory of this process."""
    import psutil

    full = psutil.Process().memory_full_info()
    return {"rss_mb": full.rss / 1e6, "pss_mb": full.pss / 1e6}


def processor_time() -> float:
    """Seconds that this process, and those that it started and that live, have used so far."""
    import psutil

    used, ours = 0.0, psutil.Process()
    for process in (ours, *ours.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            used += sum(process.cpu_times()[:4])
    return used


def waited_by(pid: int) -> float:
    """Seconds that another process's first thread has waited for a core so far."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[1]) / 1e9
    return 0.0
