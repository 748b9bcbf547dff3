"""A mixin for widgets that accept a dropped file or folder."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtGui import QDragEnterEvent, QDropEvent


class PathDropTarget:
    """Mixin that accepts a dropped file or folder; it must precede the Qt class among the bases."""

    def open_dropped(self, path: Path) -> None:
        """Handle the dropped local file or folder."""
        raise NotImplementedError

    def dragEnterEvent(self, a0: QDragEnterEvent | None) -> None:
        """Accept a drag if it carries exactly one local file or folder."""
        if a0 is not None and _dropped_path(a0) is not None:
            a0.acceptProposedAction()

    def dropEvent(self, a0: QDropEvent | None) -> None:
        """Accept the drop and pass its path to :meth:`open_dropped`."""
        path = _dropped_path(a0) if a0 is not None else None
        if a0 is not None and path is not None:
            a0.acceptProposedAction()
            self.open_dropped(path)


def _dropped_path(event: QDropEvent) -> Path | None:
    """Return the local file or folder of a drop; ``None`` unless it is exactly one."""
    data = event.mimeData()
    urls = data.urls() if data is not None else []
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
