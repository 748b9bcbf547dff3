"""Background tasks of script mode, one at a time, and the message above its card."""

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
    """Runs one background task at a time: reading a file, submitting it or playing it.

    Args:
        context: Runs background tasks.
        column: Layout that shows messages at its top.
        parent: Qt owner.

    Attributes:
        message: The message that is shown, or ``None``.
    """

    changed = pyqtSignal()
    """Emitted when a task begins or ends, or when its state changes."""

    def __init__(self, context: AppContext, column: QVBoxLayout, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._column = context, column
        self._task: asyncio.Task[None] | None = None
        self.message: InlineMessage | None = None

    @property
    def busy(self) -> bool:
        """Whether a background task is in progress."""
        return self._task is not None

    def show_message(self, message: InlineMessage | None) -> None:
        """Show a message in place of the current one; ``None`` removes it."""
        self.message = replace_message(self._column, self.message, message)

    def start(self, work: Coroutine[Any, Any, None], what: str) -> None:
        """Cancel the task in progress and start another.

        A task that calls this method itself is not canceled.

        Args:
          work: The new task.
          what: Name of the task for error messages.
        """
        if self._task is not asyncio.current_task():
            self.cancel()
        self._task = self._context.spawn(work, what)
        self._task.add_done_callback(self._on_done)
        self.changed.emit()

    def cancel(self) -> None:
        """Cancel the task in progress."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    async def ended(self, *, cancel: bool) -> None:
        """Wait until the task in progress has ended.

        Args:
            cancel: Whether to cancel the task first; otherwise it runs to its end.
        """
        if self._task is not None:
            if cancel:
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _on_done(self, task: object) -> None:
        if task is self._task:
            self._task = None
        self.changed.emit()
