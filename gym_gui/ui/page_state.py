"""Saves what a page shows, so that a restart restores it, even after a crash."""

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
"""Milliseconds between two writes; the first change is written at once."""


class Kept(QObject, Generic[T]):
    """Writes a page's state to the data folder and reads it when the page is first opened.

    Args:
        context: The window's services.
        name: Name of the file in the data folder.
        what: Description of the state for messages: ``"The operators"``.
        load: Reads the file; returns ``None`` if there is none. Raises :class:`MosaicError`.
        save: Writes the file atomically. Raises :class:`MosaicError`.
        now: Returns the current state; ``None`` if it cannot be saved: the file then stays unchanged.
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
        self._told = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._on_soon)
        self._since = QElapsedTimer()

    def bring_back(self, show: Callable[[T], object]) -> None:
        """Show the saved state at the first call; from then on, save changes.

        Args:
            show: Shows a state on the page.
        """
        if self._begun:
            return
        kept = self._read()
        if kept is not None:
            show(kept)
        self._written = kept if kept is not None else self._now()
        self._begun = True

    def look(self, *_: object) -> None:
        """Save the state soon if it changed; called often, also at every step of a play."""
        if not self._begun:
            return
        now = self._now()
        if now is not None and now != self._written and not self._soon.isActive():
            rested = not self._since.isValid() or self._since.hasExpired(_PAUSE_MS)
            self._soon.start(0 if rested else _PAUSE_MS)

    def _read(self) -> T | None:
        path = self._context.store.data / self._name
        try:
            return self._load(path)
        except MosaicError as error:
            aside = path.with_suffix(".unread.json")  # the new state is written to the original name
            with contextlib.suppress(OSError):
                path.replace(aside)
            text = (
                f"{self._what} of the last time cannot be shown: {error}. What was there is kept in {aside}"
            )
            self._context.notify(text, "warning")
            return None

    def _on_soon(self) -> None:
        self._since.start()
        self._context.spawn(self._write(), f"Keeping {without_capital(self._what)}")

    async def _write(self) -> None:
        async with self._writing:
            now = self._now()
            if not self._begun or now is None or now == self._written:
                return
            self._written = now
            try:
                # In a thread: the disk may be slow.
                await asyncio.to_thread(self._save, now, self._context.store.data_dir() / self._name)
            except MosaicError as error:
                self._tell(error)

    def _tell(self, error: MosaicError) -> None:
        """Show once that the state will be lost at a restart."""
        if not self._told:
            self._told = True
            self._context.notify(f"{self._what} will not be there after a restart: {error}", "warning")

    async def close(self) -> None:
        """Write the state if it changed since the last write."""
        self._soon.stop()
        await self._write()
