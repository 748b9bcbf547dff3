"""Reader that repeatedly reads a submission in a thread while the submission is visible."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.core.errors import MosaicError
from gym_gui.services.submissions.overview import SubmissionWatch

EVERY_MS: Final = 1000
_SHARE: Final = 20
"""Pause after a read, as a multiple of the read's duration, because a network disk may be slow."""
_LONGEST_REST_MS: Final = 60_000


class SubmissionReader(QObject):
    """Reader of one submission at a time, which emits an overview after each read.

    Args:
        spawn: Runs work in the background.
        parent: Qt owner.
    """

    looked = pyqtSignal(object)
    """Emits the :class:`~gym_gui.services.submissions.overview.Overview` of the submission after each
    read.
    """
    refused = pyqtSignal(str)
    """Emits a sentence with the reason why the submission cannot be read."""

    def __init__(self, spawn: Spawn, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spawn = spawn
        self._watch: SubmissionWatch | None = None
        self._busy = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.read_now)

    @property
    def folder(self) -> Path | None:
        """Folder of the submission; ``None`` if no submission is being read."""
        return self._watch.folder if self._watch is not None else None

    def follow(self, folder: Path) -> None:
        """Read the submission in ``folder`` now and repeatedly from then on."""
        if folder != self.folder:
            self._watch = SubmissionWatch(folder)
        self.read_now()

    def rest(self) -> None:
        """Stop reading the submission."""
        self._timer.stop()
        self._watch = None

    def read_now(self) -> None:
        """Read the submission now, unless a read is in progress."""
        if self._watch is not None and not self._busy:
            self._busy = True
            self._spawn(self._look(self._watch), "Reading a submission")

    async def _look(self, watch: SubmissionWatch) -> None:
        began = time.monotonic()
        try:
            seen = await asyncio.to_thread(watch.overview)
            if watch is self._watch:
                self.looked.emit(seen)
        except MosaicError as error:
            if watch is self._watch:
                self.refused.emit(error.sentence)
        finally:
            self._busy = False
            if self._watch is not None:
                rest = round(_SHARE * 1000 * (time.monotonic() - began)) if watch is self._watch else 0
                self._timer.start(min(max(EVERY_MS, rest), _LONGEST_REST_MS) if rest else 0)
