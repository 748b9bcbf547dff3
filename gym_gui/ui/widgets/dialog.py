"""Base class of the window's dialogs."""

from __future__ import annotations

import asyncio
from typing import Any

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QDialog, QPushButton, QWidget

from gym_gui.ui.widgets.buttons import PrimaryButton
from gym_gui.ui.widgets.tab_order import tab_on


class Dialog(QDialog):
    """Dialog in which Tab follows the layout, Enter presses the main button and Esc closes the dialog.

    In a plain ``QDialog``, Enter presses the button that was created first, even Cancel, and Tab follows
    the order of creation. A closed dialog is deleted.

    Args:
        name: ``objectName`` of the dialog.
        title: Title in the window frame.
        parent: The window.
        size: Initial size; ``None`` for the size of the content.
        width: Smallest width, in pixels.

    Attributes:
        work: Background task of the dialog, which is canceled when the dialog closes; ``None`` before the
            first.
    """

    def __init__(
        self, name: str, title: str, parent: QWidget | None, *, size: QSize | None = None, width: int = 0
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(width)
        if size is not None:
            self.resize(size)
        self.work: asyncio.Task[Any] | None = None

    @property
    def working(self) -> bool:
        """Whether a background task of the dialog is running."""
        return self.work is not None and not self.work.done()

    def set_task(self, work: asyncio.Task[Any]) -> None:
        """Set the dialog's background task and cancel the previous one."""
        self._end_work()
        self.work = work

    def done(self, a0: int) -> None:
        """Close the dialog and cancel its background task."""
        self._end_work()
        super().done(a0)

    def _end_work(self) -> None:
        if self.work is not None and not self.work.done() and asyncio.current_task() is not self.work:
            self.work.cancel()

    def setVisible(self, visible: bool) -> None:
        """Show or hide the dialog; when showing, make the main button the default button for Enter."""
        if visible and not any(button.isDefault() for button in self.findChildren(QPushButton)):
            main = self.findChild(PrimaryButton)
            if main is not None:
                main.setDefault(True)
        super().setVisible(visible)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Move the focus to the next or previous control in the order of the layout."""
        return tab_on(self, forward=next) or super().focusNextPrevChild(next)
