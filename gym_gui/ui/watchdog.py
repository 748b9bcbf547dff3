"""Logs the stack of code that blocks the window, in debug runs (``MOSAIC_DEBUG=1``)."""

from __future__ import annotations

import faulthandler
import linecache
import logging
import re
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Final

from PyQt6.QtCore import QObject, Qt, QTimer

_log = logging.getLogger(__name__)

LIMIT_S: Final = 0.030
_BEAT_MS: Final = 5
_DEPTH: Final = 12
_LINE: Final = re.compile(r'  File "(.*)", line (\d+) in (.*)')


class Watchdog(QObject):
    """Checks from a separate thread whether the event loop reacts.

    The stack is read while the loop is blocked, so that it shows the blocking line and not a later one. Time
    in which the GUI thread waited for a processor core does not count. (Qt's own signals about blocking do
    not help: with GLib's dispatcher they enclose the slots.)

    Args:
      limit_s: Longest time that the loop may be busy, in seconds.
      parent: Qt owner.
    """

    def __init__(self, limit_s: float = LIMIT_S, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._limit = limit_s
        self._beat, self._waited = time.monotonic(), 0.0
        self._stuck_since = 0.0
        self._stack = ""
        self._end = threading.Event()
        self._watched = threading.get_ident()
        self._statistics = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_BEAT_MS)
        self._timer.timeout.connect(self._on_beat)
        self._thread = threading.Thread(target=self._watch, name="mosaic-watchdog", daemon=True)

    def start(self) -> None:
        """Start watching the event loop of the thread that created the watchdog."""
        self._beat, self._waited = time.monotonic(), self._waiting()
        self._timer.start()
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._timer.stop()
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    def _on_beat(self) -> None:
        now, waited = time.monotonic(), self._waiting()
        busy = now - self._beat - (waited - self._waited) - _BEAT_MS / 1000
        if busy > self._limit:
            stack = self._stack if self._stuck_since == self._beat else "  (ended before its stack was read)"
            _log.warning("the window did not react for %.0f ms:\n%s", busy * 1000, stack)
        self._beat, self._waited = now, waited

    def _waiting(self) -> float:
        """Return how long the watched thread has waited for a core so far, in seconds."""
        try:
            return int(self._statistics.read_bytes().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0

    def _watch(self) -> None:
        with tempfile.TemporaryFile() as file:
            while not self._end.wait(self._limit / 3):
                beat = self._beat
                if self._stuck_since == beat or time.monotonic() - beat < self._limit:
                    continue
                self._stack, self._stuck_since = _stack(self._watched, file), beat


def _stack(thread: int, file: IO[bytes]) -> str:
    """Return the current stack of a thread as a traceback, the innermost line last.

    The function reads the dump of ``faulthandler``, which keeps no frame. A thread that takes the frame of a
    paint call from ``sys._current_frames`` may hold the last reference to it. The frame's painter is then
    deleted outside of Qt's thread, which ends the process.
    """
    file.seek(0)
    file.truncate()
    faulthandler.dump_traceback(file, all_threads=True)
    file.seek(0)
    text = file.read().decode(errors="replace")
    own = re.search(rf"hread 0x0*{thread:x}\b.*\n((?:  .*\n?)*)", text)
    places = [found.groups() for line in own[1].splitlines() if (found := _LINE.match(line))] if own else []
    return "\n".join(
        f'  File "{name}", line {number}, in {function}\n    {linecache.getline(name, int(number)).strip()}'
        for name, number, function in reversed(places[:_DEPTH])
    )
