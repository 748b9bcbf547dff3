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

    def polish(self, thing: Any) -> Any:
        """Called once for each widget, before it is first shown."""
        if isinstance(thing, QLabel) and thing.textFormat() == Qt.TextFormat.AutoText:
            thing.setTextFormat(Qt.TextFormat.PlainText)
        return super().polish(thing)
