"""Says which slot kept the window from reacting, with its stack. On in debug runs (``MOSAIC_DEBUG=1``)."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from types import FrameType
from typing import Final

from PyQt6.QtCore import QAbstractEventDispatcher, QObject

_log = logging.getLogger(__name__)

LIMIT_S: Final = 0.030
_LOOK_S: Final = 0.010
_DEPTH: Final = 12


class Watchdog(QObject):
    """Watches how long Qt's event loop is busy at a stretch, from a thread of its own.

    A stack is taken while the loop is still busy, so that it shows the guilty line and
    not what came after.

    Args:
        limit_s: How long the loop may be busy.
        parent: Qt owner.
    """

    def __init__(self, limit_s: float = LIMIT_S, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._limit = limit_s
        self._busy_since = 0.0
        self._reported = 0.0
        self._stack = ""
        self._end = threading.Event()
        self._watched = threading.get_ident()
        self._thread = threading.Thread(target=self._watch, name="mosaic-watchdog", daemon=True)

    def start(self) -> None:
        """Watch the event loop of the calling thread."""
        dispatcher = QAbstractEventDispatcher.instance()
        if dispatcher is None:
            raise RuntimeError("there is no event loop to watch yet")
        dispatcher.awake.connect(self._on_awake)
        dispatcher.aboutToBlock.connect(self._on_about_to_block)
        self._thread.start()

    def stop(self) -> None:
        """Watch no more."""
        dispatcher = QAbstractEventDispatcher.instance()
        if dispatcher is not None and self._thread.is_alive():
            dispatcher.awake.disconnect(self._on_awake)
            dispatcher.aboutToBlock.disconnect(self._on_about_to_block)
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    def _on_awake(self) -> None:
        if not self._busy_since:
            self._busy_since = time.monotonic()

    def _on_about_to_block(self) -> None:
        since, self._busy_since = self._busy_since, 0.0
        busy = time.monotonic() - since if since else 0.0
        if busy > self._limit:
            stack = self._stack if self._reported == since else "  (over before it could be looked at)"
            _log.warning("the window did not react for %.0f ms:\n%s", busy * 1000, stack)

    def _watch(self) -> None:
        while not self._end.wait(_LOOK_S):
            since = self._busy_since
            if not since or self._reported == since or time.monotonic() - since < self._limit:
                continue
            frame = sys._current_frames().get(self._watched)
            if frame is not None:
                self._stack, self._reported = _stack(frame), since


def _stack(frame: FrameType) -> str:
    return "".join(traceback.format_stack(frame)[-_DEPTH:]).rstrip()
