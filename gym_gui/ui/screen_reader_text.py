"""Lets screen readers announce a text at once, wherever the keyboard focus is.

PyQt does not expose Qt's announcements (no ``QAccessible``). Screen readers do announce a changed description
of the focused widget.
"""

from __future__ import annotations

from PyQt6 import sip
from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QApplication, QWidget


class Announcer(QObject):
    """Announces one text at a time; the widget's own description comes back when the focus moves."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._told: QWidget | None = None
        self._before = ""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)

    def say(self, words: str) -> None:
        """Announce a text; does nothing if no widget of the program has the focus."""
        self.end()
        held = QApplication.focusWidget()
        if held is not None:
            self._told, self._before = held, held.accessibleDescription()
            held.setAccessibleDescription(words)

    def end(self) -> None:
        """Restore the description of the focused widget."""
        if self._told is not None and not sip.isdeleted(self._told):
            self._told.setAccessibleDescription(self._before)
        self._told = None

    def _on_focus_changed(self, _old: QWidget | None, _new: QWidget | None) -> None:
        self.end()
