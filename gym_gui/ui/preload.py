"""Imports, while nobody is waiting, what the first click will need.

The window opens without the engine: gRPC, NumPy and the modules of the pages take longer to
import than everything else together. They come in a thread as soon as the window has been
painted, so that a page opens, and a session starts, as quickly the first time as the second.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QObject, QTimer

from gym_gui.ui.pages import places

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.latest_job import Spawn

_log = logging.getLogger(__name__)

DELAY_MS: Final = 250
"""After the first paint; whoever clicks earlier is served first."""
BREATH_S: Final = 0.01
"""Between two modules, so that the window has the interpreter to itself now and then."""
ENGINE: Final = (
    "gym_gui.host.client",
    "gym_gui.controllers.resolved_operator",
    "gym_gui.controllers.live_run",
    "gym_gui.controllers.environment_sheet_cache",
    "gym_gui.controllers.configuration_checks",
    "jsonschema",  # what checks settings imports it when it is first needed
)


def modules() -> Sequence[str]:
    """What is imported ahead: the engine's client, then each page."""
    return (*ENGINE, *(place.module for place in places()))


class Preloader(QObject):
    """See the module.

    Args:
        spawn: Runs work in the background, until the window closes.
        names: Modules, in order.
        parent: Qt owner.
    """

    def __init__(
        self, spawn: Spawn, names: Sequence[str] | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._spawn, self._names = spawn, names
        self._over = threading.Event()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self._on_time)

    def start(self) -> None:
        """Begin in a moment."""
        self._timer.start()

    def stop(self) -> None:
        """Import no further module."""
        self._timer.stop()
        self._over.set()

    def _on_time(self) -> None:
        self._spawn(self._load(), "Getting ready")

    async def _load(self) -> None:
        try:
            await asyncio.to_thread(self._import_all)
        finally:
            self._over.set()

    def _import_all(self) -> None:
        for name in modules() if self._names is None else self._names:
            if self._over.wait(BREATH_S):
                return
            try:
                import_module(name)
            except Exception as error:  # whoever needs it says what it means
                _log.info("%s could not be imported ahead: %s", name, error)
