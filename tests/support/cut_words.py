"""What a person cannot read in full: words that are cut because they have too little room."""

from __future__ import annotations

from collections.abc import Iterator

from PyQt6.QtWidgets import QLabel, QPushButton, QWidget

from gym_gui.ui.widgets import PickerButton


def cut_words(root: QWidget) -> list[str]:
    """Texts of labels and buttons in a widget that are shown, and not whole."""
    widgets = [root, *root.findChildren(QWidget)]
    return [text for widget in widgets if widget.isVisible() for text in _cut(widget)]


def _cut(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, PickerButton):
        if widget.shown_text != widget.text():
            yield widget.text()
    elif isinstance(widget, QPushButton):
        if widget.text() and widget.width() < widget.minimumSizeHint().width():
            yield widget.text()
    elif isinstance(widget, QLabel) and widget.text():
        room = widget.contentsRect()
        if widget.wordWrap():
            if widget.heightForWidth(widget.width()) > widget.height():
                yield widget.text()
        elif widget.fontMetrics().horizontalAdvance(widget.text()) > room.width():
            yield widget.text()
