"""Storage of unsaved text as a draft, which the editor offers after a crash."""

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
"""Pause in typing, in ms, after which unsaved text is written as a draft."""
_FOLDER: Final = "drafts"
_LARGEST: Final = 8 << 20


class _Draft(NamedTuple):
    """Draft file with the unsaved text of one edited file.

    Attributes:
        data: MOSAIC's data folder.
        name: Path of the edited file; the editor's title for a file that was never saved.
    """

    data: Path
    name: str

    @property
    def file(self) -> Path:
        """Path of the draft file."""
        return self.data / _FOLDER / f"{hashlib.sha256(self.name.encode()).hexdigest()[:32]}.json"

    def read(self) -> str | None:
        """Return the text of the draft; ``None`` if there is no draft or it cannot be read."""
        try:
            said = mapping(orjson.loads(read_file(self.file, limit=_LARGEST))) or {}
        except (OSError, ValueError):
            return None
        return text(said.get("text")) if said.get("name") == self.name else None

    def write(self, words: str) -> None:
        """Write a text to the draft file.

        Raises:
            OSError: The draft file cannot be written.
        """
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = orjson.dumps({"name": self.name, "text": words})
        replace_file(self.file, content, mode=0o600, sync=False)

    def remove(self) -> None:
        """Delete the draft file."""
        with contextlib.suppress(OSError):
            self.file.unlink(missing_ok=True)


class DraftKeeper(InlineMessage):
    """Message that offers to restore the draft of an earlier session; hidden if there is no draft.

    Args:
        context: The window's services.
        name: Path of the edited file, or the title of a new one.
        text: Returns the unsaved text; ``None`` if everything is saved.
        parent: Qt owner.
    """

    brought_back = pyqtSignal(str)
    """Emits the draft's text when the user restores it."""
    troubled = pyqtSignal(str)
    """Emits a sentence with the reason why the draft cannot be written."""

    def __init__(
        self, context: AppContext, name: str, text: Callable[[], str | None], parent: QWidget
    ) -> None:
        super().__init__("info", "This file has unsaved text from an earlier session.", parent=parent)
        self.setObjectName("file-draft")
        self.add_action("Restore", self._on_bring_back, name="file-bring-back")
        self.add_action("Discard", self.forget, name="file-forget-draft")
        self._context, self._text = context, text
        self._folder: Path = context.store.data
        self._draft = _Draft(self._folder, name)
        self._work: asyncio.Task[None] | None = None
        self._timer = single_shot_timer(self, DRAFT_MS, self._keep)
        self.hide()

    def offer(self, shown: str) -> None:
        """Show the message if a draft exists and differs from the shown text."""
        words = self._draft.read()
        if words is not None and words != shown:
            self.show()

    def typed(self) -> None:
        """Restart the pause after which unsaved text is written as a draft."""
        self._timer.start()

    def forget(self) -> None:
        """Delete the draft and hide the message."""
        self._draft.remove()
        self.hide()

    def end(self, name: str) -> None:
        """Delete the draft after the text was saved; write further drafts under the name ``name``."""
        self._timer.stop()
        self.forget()
        self._draft = _Draft(self._folder, name)

    async def write(self) -> None:
        """Write the draft if the text is not saved."""
        text = self._text()
        if text is None:
            return
        try:
            await asyncio.to_thread(self._draft.write, text)
        except OSError as error:
            self.troubled.emit(f"The draft cannot be written: {error.strerror}")

    def stop(self) -> None:
        """Stop writing drafts."""
        self._timer.stop()
        if self._work is not None:
            self._work.cancel()

    def _keep(self) -> None:
        if self._text() is not None and not self.isVisible():
            self._work = self._context.spawn(self.write(), "Writing the draft")

    def _on_bring_back(self) -> None:
        words = self._draft.read()
        self.hide()
        if words is not None:
            self.brought_back.emit(words)
