"""Thumbnails of environments for a list; only visible ones are drawn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QPixmap

from gym_gui.core.asyncio_tasks import end_task

if TYPE_CHECKING:
    from gym_gui.controllers.setup.environment_pictures import EnvironmentPictures
    from gym_gui.ui.context import AppContext

_MOST_WAITING = 16
"""Largest number of requested pictures; older requests are dropped, because their rows have scrolled away."""


class EnvironmentThumbnails(QObject):
    """Returns existing pictures of environments, and draws those that were requested last.

    Args:
        context: Runs background tasks and names the data folders.
        parent: Qt owner.
    """

    came = pyqtSignal()
    """Emitted when another picture has been drawn."""

    def __init__(self, context: AppContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._pictures: EnvironmentPictures | None = None
        self._known: dict[str, QPixmap | None] = {}
        self._waiting: dict[str, None] = {}
        self._work: asyncio.Task[Any] | None = None
        self._closed = False

    def picture_of(self, value: object) -> QPixmap | None:
        """Return the picture of an environment by its id; request it and return ``None`` if it is missing."""
        env_id = str(value)
        if env_id in self._known:
            return self._known[env_id]
        if not self._closed and not env_id.startswith("family:"):
            self._waiting.pop(env_id, None)
            self._waiting[env_id] = None
            if self._work is None or self._work.done():
                self._work = self._context.spawn(self._draw(), "Drawing environments")
        return None

    async def close(self) -> None:
        """End the process that draws the pictures."""
        self._closed = True
        self._waiting.clear()
        await end_task(self._work)
        if self._pictures is not None:
            await self._pictures.close()

    async def _draw(self) -> None:
        make = await asyncio.to_thread(_import)
        pictures = self._pictures or make(self._context)
        self._pictures = pictures
        while self._waiting:
            for old in list(self._waiting)[:-_MOST_WAITING]:
                del self._waiting[old]
            env_id = next(iter(self._waiting))
            del self._waiting[env_id]
            png = await pictures.png(env_id)
            pixmap = QPixmap()
            self._known[env_id] = pixmap if png and pixmap.loadFromData(png) else None
            if self._known[env_id] is not None:
                self.came.emit()


def _import() -> Any:
    """Return a function that creates the drawer of pictures; call this in a thread, because its imports are
    slow.
    """
    from gym_gui.controllers.setup.environment_pictures import PICTURES_FOLDER, EnvironmentPictures
    from gym_gui.controllers.setup.environment_probe import EnvironmentProbe

    def make(context: AppContext) -> EnvironmentPictures:
        return EnvironmentPictures(context.store.cache_dir(PICTURES_FOLDER), EnvironmentProbe())

    return make
