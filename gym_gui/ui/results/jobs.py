"""Long work of the page: a line that says how far it is, with a way to stop it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from gym_gui.core.errors import MosaicError
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets import InlineMessage, LinkButton, label
from gym_gui.ui.widgets.messages import Action, MessageKind

OnShare = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is (0: not known)."""


@dataclass(frozen=True, slots=True)
class Said:
    """How a job ended, for people.

    Attributes:
        text: The sentence.
        kind: Of the message.
        action: What can be done next.
    """

    text: str
    kind: MessageKind = "ok"
    action: Action | None = None


Job = Callable[[OnShare], Awaitable[Said]]


class JobStrip(QWidget):
    """Does one thing at a time in the background; shows its progress, then its result.

    Args:
        context: For work in the background.
        parent: Qt owner.
    """

    busy_changed = pyqtSignal(bool)

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results-jobs")
        self._context = context
        self._task: asyncio.Task[None] | None = None
        self._message: InlineMessage | None = None
        self.title = label()
        self.title.setObjectName("job-title")
        self.progress = QProgressBar()
        self.progress.setObjectName("job-progress")
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress")
        self.cancel = LinkButton("Cancel", name="job-cancel", tooltip="Stop this", on_click=self.stop)
        self._line = QFrame()
        self._line.setProperty("role", "wash")
        self._line.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(self._line)
        row.setContentsMargins(10, theme.ROW, 10, theme.ROW)
        row.setSpacing(theme.GAP)
        row.addWidget(self.title)
        row.addWidget(self.progress, 1)
        row.addWidget(self.cancel)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(theme.PAGE, theme.GAP, theme.PAGE, 0)
        self._layout.addWidget(self._line)
        self.hide()

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return self._task is not None

    @property
    def text(self) -> str:
        """What is said last."""
        return self._message.text if self._message is not None else self.title.text()

    def run(self, title: str, job: Job) -> None:
        """Begin; one that is on is stopped.

        Args:
            title: What is being done, with an ellipsis.
            job: Does it, tells how far it is, and gives the result in words.
        """
        self.stop()
        self._drop_message()
        self._on_share(title, 0, 0)
        self._line.show()
        self.show()
        task = self._task = self._context.spawn(self._work(title, job), title.rstrip("…"))
        self.busy_changed.emit(True)
        task.add_done_callback(self._on_done)

    def stop(self) -> None:
        """Stop what is being done; nothing is said of it."""
        if self._task is not None:
            self._task.cancel()

    async def closed(self) -> None:
        """Stop, and wait for the end."""
        task = self._task
        self.stop()
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)

    def say(self, said: Said) -> None:
        """Say something in place of the progress."""
        self._drop_message()
        self._message = InlineMessage(said.kind, said.text, said.action, closable=True, parent=self)
        self._message.dismissed.connect(self._on_dismissed)
        self._line.hide()
        self._layout.addWidget(self._message)
        self.show()

    async def _work(self, title: str, job: Job) -> None:
        def share(what: str, done: int, total: int) -> None:
            self._on_share(what or title, done, total)

        try:
            said = await job(share)
        except MosaicError as error:
            said = Said(str(error), "error")
        self.say(said)

    def _on_share(self, what: str, done: int, total: int) -> None:
        self.title.setText(what)
        self.progress.setMaximum(total)  # 0: busy, for as long as it takes
        self.progress.setValue(done)

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        if task is not self._task:
            return
        self._task = None
        if task.cancelled():
            self._line.hide()
            self.setVisible(self._message is not None)
        self.busy_changed.emit(False)

    def _on_dismissed(self) -> None:
        self._drop_message()
        self.hide()

    def _drop_message(self) -> None:
        if self._message is not None:
            self._message.hide()
            self._message.deleteLater()
            self._message = None
