"""Keeps what is typed and not saved, and offers it after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import orjson
from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.core.record_fields import mapping, text
from gym_gui.ui.context import AppContext
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets import InlineMessage
from mosaic_worker.plain_files import read_file, replace_file

DRAFT_MS: Final = 1000
"""Quiet time after a key before what is not saved is kept."""
_FOLDER: Final = "drafts"
_LARGEST: Final = 8 << 20


class _Draft(NamedTuple):
    """The draft of one file.

    Attributes:
        data: The data folder.
        name: The file's path; of one that was never saved, what it is.
    """

    data: Path
    name: str

    @property
    def file(self) -> Path:
        """Where it is kept."""
        return self.data / _FOLDER / f"{hashlib.sha256(self.name.encode()).hexdigest()[:32]}.json"

    def read(self) -> str | None:
        """What was typed; ``None`` where nothing was, or it cannot be read."""
        try:
            said = mapping(orjson.loads(read_file(self.file, limit=_LARGEST))) or {}
        except (OSError, ValueError):
            return None
        return text(said.get("text")) if said.get("name") == self.name else None

    def write(self, words: str) -> None:
        """Keep this. Raises :class:`OSError` where it cannot be."""
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = orjson.dumps({"name": self.name, "text": words})
        replace_file(self.file, content, mode=0o600, sync=False)

    def remove(self) -> None:
        """It is saved, or was thrown away."""
        with contextlib.suppress(OSError):
            self.file.unlink(missing_ok=True)


class DraftKeeper(InlineMessage):
    """Offers what was typed the last time; hidden while there is nothing to offer.

    Args:
        context: The window's services.
        name: What the draft is of: the path of the file, or what it is.
        text: What stands there, where it is not saved; ``None`` where it is.
        parent: Qt owner.
    """

    brought_back = pyqtSignal(str)
    """The user asks for the draft back: its text."""
    troubled = pyqtSignal(str)
    """The draft cannot be written: why."""

    def __init__(
        self, context: AppContext, name: str, text: Callable[[], str | None], parent: QWidget
    ) -> None:
        super().__init__("info", "What you typed here the last time was not saved.", parent=parent)
        self.setObjectName("file-draft")
        self.add_action("Bring it back", self._on_bring_back, name="file-bring-back")
        self.add_action("Throw it away", self.forget, name="file-forget-draft")
        self._context, self._text = context, text
        self._folder: Path = context.store.data
        self._draft = _Draft(self._folder, name)
        self._work: asyncio.Task[None] | None = None
        self._timer = single_shot_timer(self, DRAFT_MS, self._keep)
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
        self._draft = _Draft(self._folder, name)

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
