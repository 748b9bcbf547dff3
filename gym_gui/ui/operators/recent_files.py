"""The list of experiment files that the user opened most recently."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PyQt6.QtCore import QSettings

MOST: Final = 5
"""Largest number of files that are remembered."""
_RECENT: Final = "script/recent"


class RecentFiles:
    """List of the experiment files that were opened last, the newest first, stored in the window's settings.

    Args:
        layout: Settings that store the list.
    """

    def __init__(self, layout: QSettings) -> None:
        self._layout = layout

    def add(self, path: Path) -> None:
        """Move a file to the front of the list; the oldest file is dropped if the list is full."""
        kept = [str(path), *(known for known in self._known() if known != str(path))]
        self._layout.setValue(_RECENT, kept[:MOST])

    def files(self) -> list[Path]:
        """Return the listed files that still exist, the newest first."""
        return [path for known in self._known() if (path := Path(known)).is_file()]

    def _known(self) -> list[str]:
        kept = self._layout.value(_RECENT, [])
        return [kept] if isinstance(kept, str) else [str(each) for each in kept or []]
