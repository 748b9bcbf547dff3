"""What is dropped onto the window."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtGui import QDragEnterEvent, QDropEvent


class PathDropTarget:
    """A widget that takes a file or folder; stands before its Qt class among the bases."""

    def take(self, path: Path) -> None:
        """Do something with the local file or folder that was dropped."""
        raise NotImplementedError

    def dragEnterEvent(self, a0: QDragEnterEvent | None) -> None:
        """Accept one local file or folder."""
        if a0 is not None and _dropped_path(a0) is not None:
            a0.acceptProposedAction()

    def dropEvent(self, a0: QDropEvent | None) -> None:
        """Take it."""
        path = _dropped_path(a0) if a0 is not None else None
        if a0 is not None and path is not None:
            a0.acceptProposedAction()
            self.take(path)


def _dropped_path(event: QDropEvent) -> Path | None:
    """The local file or folder that is dropped, if it is one alone."""
    data = event.mimeData()
    urls = data.urls() if data is not None else []
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
