"""Has screen readers say something at once, wherever the keyboard is.

PyQt hands on none of Qt's announcements (no ``QAccessible``). What readers say of themselves is that the
description of what has the keyboard has changed.
"""

from __future__ import annotations

from PyQt6 import sip
from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QApplication, QWidget


class Announcer(QObject):
    """Says one thing at a time; the description that was there comes back when the keyboard goes on."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._told: QWidget | None = None
        self._before = ""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)

    def say(self, words: str) -> None:
        """Say this; nothing where the keyboard is in no window of ours."""
        self.end()
        held = QApplication.focusWidget()
        if held is not None:
            self._told, self._before = held, held.accessibleDescription()
            held.setAccessibleDescription(words)

    def end(self) -> None:
        """It was said."""
        if self._told is not None and not sip.isdeleted(self._told):
            self._told.setAccessibleDescription(self._before)
        self._told = None

    def _on_focus_changed(self, _old: QWidget | None, _new: QWidget | None) -> None:
        self.end()
