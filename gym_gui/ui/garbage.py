"""Garbage is looked for in the GUI's thread alone.

Python looks for garbage in whichever thread happens to make an object, and so a thread that imports a
module, or reads a file, would delete the Qt objects of a page that was closed, while Qt uses them in the
GUI's thread: now and then the whole program ends with a segmentation fault.
"""

from __future__ import annotations

import gc
from typing import Final

from PyQt6.QtCore import QObject, QTimer

EVERY_MS: Final = 500
THRESHOLDS: Final = (4_000, 20, 50)
"""Objects made, and collections of the generation before, after which a generation is looked through."""


class GarbageCollector(QObject):
    """Takes Python's place in deciding when to collect, as long as it lives.

    Args:
        parent: Qt owner, in the GUI's thread.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self.destroyed.connect(lambda: gc.enable())
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def spare(self) -> None:
        """Keep what is there from being looked at again: a full collection would be felt as a jerk."""
        gc.freeze()

    def collect(self) -> None:
        """Look through the oldest generation that is due, and through the younger ones with it."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > THRESHOLDS[generation]:
                gc.collect(generation)
                return
