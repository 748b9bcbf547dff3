"""Lets screen readers announce a text at once, wherever the keyboard focus is.

PyQt has no access to Qt's announcements (``QAccessible``), but screen readers announce a changed description
of the focused widget.
"""

from __future__ import annotations

from PyQt6 import sip
from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QApplication, QWidget


class Announcer(QObject):
    """Announces one text at a time; the focused widget gets its description back when the focus moves."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._announcing: QWidget | None = None
        self._before = ""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)

    def announce(self, words: str) -> None:
        """Announce a text; do nothing if no widget of the program has the focus."""
        self.end()
        focused = QApplication.focusWidget()
        if focused is not None:
            self._announcing, self._before = focused, focused.accessibleDescription()
            focused.setAccessibleDescription(words)

    def end(self) -> None:
        """Restore the description of the widget that announced the text."""
        if self._announcing is not None and not sip.isdeleted(self._announcing):
            self._announcing.setAccessibleDescription(self._before)
        self._announcing = None

    def _on_focus_changed(self, _old: QWidget | None, _new: QWidget | None) -> None:
        self.end()
