"""Who gets the keyboard."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QWidget


def take_focus(widget: QWidget) -> None:
    """Give a widget the keyboard, unless it stands on a page that is not shown.

    Qt would do so there too, and take it from what somebody sees and types into. For whatever is done
    when something has been read, started or answered meanwhile.
    """
    if widget.isVisibleTo(widget.window()):
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
