"""The operators of the page are there again after a restart."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer

from gym_gui.core.errors import MosaicError
from gym_gui.services.operator_table import NAME, OperatorTable

if TYPE_CHECKING:
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.live.deck import OperatorDeck

_SETTLE_MS = 400
"""Quiet time before a change is written."""


class KeptOperators(QObject):
    """Writes who plays side by side to the data folder, and reads it when the page is first opened.

    Args:
        context: The window's services.
        deck: The operators.
    """

    def __init__(self, context: AppContext, deck: OperatorDeck) -> None:
        super().__init__(deck)
        self._context, self._deck = context, deck
        self._written: OperatorTable | None = None
        self._writing = asyncio.Lock()
        self._told = False
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._on_settled)

    def bring_back(self) -> None:
        """Have the operators of the last time be there, the first time it is called."""
        if self._written is not None:
            return
        table = self._read_table()
        if table is not None:
            self._deck.restore(table)
        self._written = self._deck.table
        self._deck.changed.connect(self._on_changed)

    def _read_table(self) -> OperatorTable | None:
        path = self._context.store.data / NAME
        try:
            return OperatorTable.load(path)
        except MosaicError as error:
            aside = path.with_suffix(".unread.json")  # what comes now is written in its place
            with contextlib.suppress(OSError):
                path.replace(aside)
            text = f"The operators of the last time cannot be shown: {error}. They are kept in {aside}"
            self._context.notify(text, "warning")
            return None

    def _on_changed(self) -> None:
        """Said at every step of their play, too."""
        if self._deck.table != self._written:
            self._settle.start()

    def _on_settled(self) -> None:
        self._context.spawn(self._write(), "Keeping the operators")

    async def _write(self) -> None:
        async with self._writing:
            table = self._deck.table
            if self._written is None or table == self._written:
                return
            self._written = table
            try:
                # To a slow disk, it may be.
                await asyncio.to_thread(table.save, self._context.store.data_dir() / NAME)
            except MosaicError as error:
                self._tell(error)

    def _tell(self, error: MosaicError) -> None:
        """Say once that they will not be there after a restart."""
        if not self._told:
            self._told = True
            self._context.notify(f"The operators will not be there after a restart: {error}", "warning")

    async def close(self) -> None:
        """Write what has not been written."""
        self._settle.stop()
        await self._write()
