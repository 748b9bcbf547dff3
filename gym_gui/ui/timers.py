"""Timers of the window."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, QTimer


def single_shot_timer(parent: QObject, milliseconds: int, then: Callable[[], object]) -> QTimer:
    """Return a stopped timer that fires once after each ``start()``; another ``start()`` restarts it.

    Args:
        parent: Qt owner.
        milliseconds: Time from the start until the timer fires.
        then: Called when the timer fires.
    """
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(then)
    return timer
