"""What lies over the window until it is answered."""

from __future__ import annotations

import asyncio
from typing import Any

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QDialog, QPushButton, QWidget

from gym_gui.ui.widgets.buttons import PrimaryButton
from gym_gui.ui.widgets.tab_order import tab_on


class Dialog(QDialog):
    """Tab goes as one reads, Enter in a field does what the filled button says, Esc leaves.

    Qt alone has Enter press the first button that was made, be it Cancel, and Tab go in the order of making.
    A dialog that was closed is deleted.

    Args:
        name: Its ``objectName``.
        title: What its frame says.
        parent: The window.
        size: What it opens with.
        width: Its least width, in pixels.

    Attributes:
        work: What goes on for it in the background; it ends with the dialog.
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
        """Whether something goes on for it."""
        return self.work is not None and not self.work.done()

    def take_on(self, work: asyncio.Task[Any]) -> None:
        """Have this go on, and nothing else any more."""
        self._end_work()
        self.work = work

    def done(self, a0: int) -> None:
        """Nothing goes on afterwards."""
        self._end_work()
        super().done(a0)

    def _end_work(self) -> None:
        if self.work is not None and not self.work.done() and asyncio.current_task() is not self.work:
            self.work.cancel()

    def setVisible(self, visible: bool) -> None:
        """Before Qt chooses a button for Enter."""
        if visible and not any(button.isDefault() for button in self.findChildren(QPushButton)):
            main = self.findChild(PrimaryButton)
            if main is not None:
                main.setDefault(True)
        super().setVisible(visible)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab goes through the dialog as it stands."""
        return tab_on(self, forward=next) or super().focusNextPrevChild(next)
