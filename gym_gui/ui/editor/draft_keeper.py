"""Keeps unsaved text as a draft and offers it after a crash."""

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
"""Milliseconds without a key press after which unsaved text is kept."""
_FOLDER: Final = "drafts"
_LARGEST: Final = 8 << 20


class _Draft(NamedTuple):
    """Draft of one file.

    Attributes:
        data: The data folder.
        name: Path of the file; for a file that was never saved, a title.
    """

    data: Path
    name: str

    @property
    def file(self) -> Path:
        """Path of the draft's own file."""
        return self.data / _FOLDER / f"{hashlib.sha256(self.name.encode()).hexdigest()[:32]}.json"

    def read(self) -> str | None:
        """Return the text of the draft; ``None`` if there is none or it cannot be read."""
        try:
            said = mapping(orjson.loads(read_file(self.file, limit=_LARGEST))) or {}
        except (OSError, ValueError):
            return None
        return text(said.get("text")) if said.get("name") == self.name else None

    def write(self, words: str) -> None:
        """Write a text as the draft. Raises :class:`OSError` if it cannot be written."""
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = orjson.dumps({"name": self.name, "text": words})
        replace_file(self.file, content, mode=0o600, sync=False)

    def remove(self) -> None:
        """Delete the draft."""
        with contextlib.suppress(OSError):
            self.file.unlink(missing_ok=True)


class DraftKeeper(InlineMessage):
    """Message that offers the draft of the last time; hidden while there is none.

    Args:
        context: The window's services.
        name: Path of the file, or the title of a new one.
        text: Returns the unsaved text; ``None`` if all is saved.
        parent: Qt owner.
    """

    brought_back = pyqtSignal(str)
    """Emitted with the draft's text when the user restores it."""
    troubled = pyqtSignal(str)
    """Emitted with the reason why the draft cannot be written."""

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
        """Offer the draft if it differs from the shown text."""
        words = self._draft.read()
        if words is not None and words != shown:
            self.show()

    def typed(self) -> None:
        """Start the pause after which unsaved text is kept."""
        self._timer.start()

    def forget(self) -> None:
        """Delete the draft and hide the offer."""
        self._draft.remove()
        self.hide()

    def end(self, name: str) -> None:
        """Delete the draft after the text was saved, and keep further drafts under a file's name."""
        self._timer.stop()
        self.forget()
        self._draft = _Draft(self._folder, name)

    async def write(self) -> None:
        """Write the draft, if the text is not saved."""
        text = self._text()
        if text is None:
            return
        try:
            await asyncio.to_thread(self._draft.write, text)
        except OSError as error:
            self.troubled.emit(f"It cannot be kept for after a crash: {error.strerror}")

    def let_go(self) -> None:
        """Stop keeping drafts."""
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
