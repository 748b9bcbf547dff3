"""The application's style, in which text is text."""

from __future__ import annotations

from typing import Any

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QProxyStyle


class PlainStyle(QProxyStyle):
    """Fusion, whose labels and tooltips show names that others gave as they are written.

    Qt takes text that looks like HTML for HTML, and would load the files that it names. A label that
    is meant to hold HTML says so (``setTextFormat``).
    """

    def __init__(self) -> None:
        super().__init__("Fusion")

    # Three methods of one name in Qt; widgets are what is looked at.
    def polish(self, widget: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Called once for each widget, before it is first shown."""
        if isinstance(widget, QLabel) and widget.textFormat() == Qt.TextFormat.AutoText:
            widget.setTextFormat(Qt.TextFormat.PlainText)
        return super().polish(widget)
