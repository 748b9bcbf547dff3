"""Keeps what is typed and not saved, and offers it after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QTimer, pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.ui.editor.drafts import Drafts
from gym_gui.ui.widgets import InlineMessage

if TYPE_CHECKING:
    from gym_gui.ui.context import AppContext

DRAFT_MS: Final = 1000
"""Quiet time after a key before what is not saved is kept."""


class DraftKeeper(InlineMessage):
    """Offers what was typed the last time; hidden while there is nothing to offer.

    Args:
        context: The window's services.
        name: What the draft is of: the path of the file, or what it is.
        text: What stands there, where it is not saved; ``None`` where it is.
        parent: Qt owner.
    """

    brought_back = pyqtSignal(str)
    """The text that somebody wants back."""
    troubled = pyqtSignal(str)
    """It cannot be kept: why."""

    def __init__(
        self, context: AppContext, name: str, text: Callable[[], str | None], parent: QWidget
    ) -> None:
        super().__init__("info", "What you typed here the last time was not saved.", parent=parent)
        self.setObjectName("file-draft")
        self.add_action("Bring it back", self._on_bring_back, name="file-bring-back")
        self.add_action("Throw it away", self.forget, name="file-forget-draft")
        self._context, self._text = context, text
        self._folder: Path = context.store.data
        self._draft = Drafts(self._folder, name)
        self._work: asyncio.Task[None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DRAFT_MS)
        self._timer.timeout.connect(self._keep)
        self.hide()

    def offer(self, shown: str) -> None:
        """Offer what was typed, where it is not what stands there."""
        words = self._draft.read()
        if words is not None and words != shown:
            self.show()

    def typed(self) -> None:
        """Something was typed."""
        self._timer.start()

    def forget(self) -> None:
        """It was thrown away."""
        self._draft.remove()
        self.hide()

    def end(self, name: str) -> None:
        """What was typed is saved, as this file."""
        self._timer.stop()
        self.forget()
        self._draft = Drafts(self._folder, name)

    async def write(self) -> None:
        """Keep what stands there, if it is not saved."""
        text = self._text()
        if text is None:
            return
        try:
            await asyncio.to_thread(self._draft.write, text)
        except OSError as error:
            self.troubled.emit(f"It cannot be kept for after a crash: {error.strerror}")

    def let_go(self) -> None:
        """Keep nothing more."""
        self._timer.stop()
        if self._work is not None:
            self._work.cancel()

    def _keep(self) -> None:
        if self._text() is not None and not self.isVisible():
            self._work = self._context.spawn(self.write(), "Keeping what you typed")

    def _on_bring_back(self) -> None:
        words = self._draft.read()
        self.hide()
        if words is not None:
            self.brought_back.emit(words)
