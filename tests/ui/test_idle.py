"""A window in which nothing happens does nothing: no page but the shown one looks, and nothing moves."""

from __future__ import annotations

from typing import Any

from PyQt6.QtCore import QAbstractAnimation, QTimer

from gym_gui.ui.pages import places
from gym_gui.ui.window.main_window import MainWindow

SELDOM_MS = 1000
"""What looks again and again looks no more often."""


def ticking(window: MainWindow) -> list[str]:
    """Timers that go off again and again, too often or for a hidden page; animations."""
    seen = window.pages[window.current]
    hidden = [page for page in window.pages.values() if page is not seen]
    timers = [timer for timer in window.findChildren(QTimer) if timer.isActive() and not timer.isSingleShot()]
    often = [timer for timer in timers if timer.interval() < SELDOM_MS]
    unseen = [timer for page in hidden for timer in page.findChildren(QTimer) if timer.isActive()]
    moving = [
        each
        for each in window.findChildren(QAbstractAnimation)
        if each.state() is QAbstractAnimation.State.Running
    ]
    return [f"{each!r} of {each.parent()!r}" for each in (*often, *unseen, *moving)]


def test_no_page_goes_on_once_it_is_there(window: MainWindow, qtbot: Any) -> None:
    for place in places():
        window.context.go(place.name)
        qtbot.waitUntil(lambda name=place.name: window.current == name)
        qtbot.waitUntil(lambda: not ticking(window))
