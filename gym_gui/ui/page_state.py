"""Saves the state of a page, so that a restart restores it, even after a crash."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from PyQt6.QtCore import QElapsedTimer, QObject, QTimer

from gym_gui.core.errors import MosaicError, without_capital
from gym_gui.ui.context import AppContext

T = TypeVar("T")
_PAUSE_MS = 400
"""Least time between two writes, in milliseconds; the first change is written at once."""


class SavedPageState(QObject, Generic[T]):
    """Writes a page's state to the data folder, and reads it when the page is first opened.

    Args:
        context: The window's services.
        name: Name of the file in the data folder.
        what: Name of the state in messages, such as ``"The operators"``.
        load: Reads the file; returns ``None`` if it does not exist. Raises :class:`MosaicError`.
        save: Writes the file atomically. Raises :class:`MosaicError`.
        now: Returns the current state; ``None`` leaves the file unchanged.
        parent: Qt owner.
    """

    def __init__(
        self,
        context: AppContext,
        name: str,
        what: str,
        *,
        load: Callable[[Path], T | None],
        save: Callable[[T, Path], None],
        now: Callable[[], T | None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._context, self._name, self._what = context, name, what
        self._load, self._save, self._now = load, save, now
        self._begun = False
        self._written: T | None = None
        self._writing = asyncio.Lock()
        self._has_warned = False
        self._save_timer = QTimer(self)
        self._save_timer.setSingleShot(True)
        self._save_timer.timeout.connect(self._on_save_due)
        self._last_write = QElapsedTimer()

    def restore(self, show: Callable[[T], object]) -> None:
        """Show the saved state at the first call; from then on, save changes.

        Args:
            show: Called with the saved state to show it.
        """
        if self._begun:
            return
        kept = self._read()
        if kept is not None:
            show(kept)
        self._written = kept if kept is not None else self._now()
        self._begun = True

    def save_soon(self, *_: object) -> None:
        """Save the state soon if it has changed; a page calls this after every possible change."""
        if not self._begun:
            return
        now = self._now()
        if now is not None and now != self._written and not self._save_timer.isActive():
            rested = not self._last_write.isValid() or self._last_write.hasExpired(_PAUSE_MS)
            self._save_timer.start(0 if rested else _PAUSE_MS)

    def _read(self) -> T | None:
        path = self._context.store.data / self._name
        try:
            return self._load(path)
        except MosaicError as error:
            aside = path.with_suffix(".unread.json")  # the new state is written to the original name
            with contextlib.suppress(OSError):
                path.replace(aside)
            text = (
                f"{self._what} of the last session cannot be restored: {error}. The old file is now {aside}"
            )
            self._context.notify(text, "warning")
            return None

    def _on_save_due(self) -> None:
        self._last_write.start()
        self._context.spawn(self._write(), f"Saving {without_capital(self._what)}")

    async def _write(self) -> None:
        async with self._writing:
            now = self._now()
            if not self._begun or now is None or now == self._written:
                return
            self._written = now
            try:
                # In a thread, because the disk may be slow.
                await asyncio.to_thread(self._save, now, self._context.store.data_dir() / self._name)
            except MosaicError as error:
                self._warn_once(error)

    def _warn_once(self, error: MosaicError) -> None:
        """Show once that the state cannot be saved and will be lost at a restart."""
        if not self._has_warned:
            self._has_warned = True
            self._context.notify(f"{self._what} cannot be saved for the next start: {error}", "warning")

    async def close(self) -> None:
        """Write the state if it has changed since the last write."""
        self._save_timer.stop()
        await self._write()
