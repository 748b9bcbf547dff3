"""What is dropped onto the window."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtGui import QDropEvent


def dropped_path(event: QDropEvent) -> Path | None:
    """The local file or folder that is dropped, if it is one alone."""
    data = event.mimeData()
    urls = data.urls() if data is not None else []
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
