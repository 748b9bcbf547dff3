"""Timers of the window."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, QTimer


def single_shot_timer(parent: QObject, milliseconds: int, then: Callable[[], object]) -> QTimer:
    """A stopped timer that fires once after each ``start()``; ``start()`` again begins its time anew.

    Args:
        parent: Qt owner.
        milliseconds: How long it waits.
        then: Called when it fires.
    """
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(then)
    return timer
