"""What Script mode is busy with, one thing at a time, and what it says of that above the card."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout

from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets import InlineMessage
from gym_gui.ui.widgets.message_panels import replace_message


class ScriptWork(QObject):
    """Reading a file, sending it, or running it.

    Args:
        context: For work in the background.
        column: Where messages stand, at its top.
        parent: Qt owner.

    Attributes:
        message: What is said.
    """

    changed = pyqtSignal()
    """It begins, has ended, or goes on otherwise."""

    def __init__(self, context: AppContext, column: QVBoxLayout, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._column = context, column
        self._task: asyncio.Task[None] | None = None
        self.message: InlineMessage | None = None

    @property
    def busy(self) -> bool:
        """Whether work is in progress; it is until its result is shown."""
        return self._task is not None

    def say(self, message: InlineMessage | None) -> None:
        """Say this instead of what was said before."""
        self.message = replace_message(self._column, self.message, message)

    def start(self, work: Coroutine[Any, Any, None], what: str) -> None:
        """Do this, and nothing else any more; what is being done may go on to the next thing itself."""
        if self._task is not asyncio.current_task():
            self.cancel()
        self._task = self._context.spawn(work, what)
        self._task.add_done_callback(self._on_done)
        self.changed.emit()

    def cancel(self) -> None:
        """Do it no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    async def ended(self, *, cancel: bool) -> None:
        """Wait for its end.

        Args:
            cancel: Do it no more; else it ends by itself.
        """
        if self._task is not None:
            if cancel:
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _on_done(self, task: object) -> None:
        if task is self._task:
            self._task = None
        self.changed.emit()
