"""Imports the modules that the first click needs, while the window is idle.

The window opens without the engine, because importing gRPC, NumPy and the pages takes longer than everything
else together. After the first paint a thread imports them, so that the first page and the first session open
fast.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QObject

from gym_gui.ui.pages import places
from gym_gui.ui.timers import single_shot_timer

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.latest_task import Spawn

_log = logging.getLogger(__name__)

DELAY_MS: Final = 250
"""Time after the first paint during which the window handles clicks first, in milliseconds."""
BREATH_S: Final = 0.01
"""Pause between two imports, in which the window can use the interpreter, in seconds."""
ENGINE: Final = (
    "gym_gui.controllers.engine.resolved_operator",
    "gym_gui.controllers.live_play.live_run",
    "gym_gui.controllers.setup.environment_info_cache",
    "gym_gui.controllers.setup.configuration_checks",
)
SESSIONS: Final = ("gym_gui.host.host_client",)
"""Modules with gRPC (11 MB) that no page needs before an operator is opened."""


def modules() -> Sequence[str]:
    """Return the modules to import ahead: those of the engine, then each page."""
    return (*ENGINE, *(place.module for place in places()))


class Preloader(QObject):
    """Imports modules in a thread before they are needed.

    Args:
        spawn: Runs background tasks.
        names: Modules to import, in order.
        later: Modules to import after a page was shown that can open sessions.
        parent: Qt owner.
    """

    def __init__(
        self,
        spawn: Spawn,
        names: Sequence[str] | None = None,
        later: Sequence[str] = SESSIONS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._spawn = spawn
        self._names, self._later = deque(modules() if names is None else names), tuple(later)
        self._stopped = threading.Event()
        self._work: asyncio.Task[None] | None = None
        self._timer = single_shot_timer(self, DELAY_MS, self._on_due)

    def start(self) -> None:
        """Start the imports after a short delay."""
        self._timer.start()

    def stop(self) -> None:
        """Import no further modules."""
        self._timer.stop()
        self._stopped.set()

    def on_page_shown(self, name: str) -> None:
        """Import the modules for sessions next, when a page other than Home is shown."""
        if name == places()[0].name or not self._later:
            return
        self._names.extendleft(reversed(self._later))
        self._later = ()
        if self._work is not None and self._work.done():
            self._on_due()

    def _on_due(self) -> None:
        self._work = self._spawn(asyncio.to_thread(self._import_all), "Importing modules")

    def _import_all(self) -> None:
        while self._names:
            if self._stopped.wait(BREATH_S):
                return
            name = self._names.popleft()
            try:
                import_module(name)
            except Exception as error:  # the page that needs the module imports it again, and reports this
                _log.info("%s could not be imported ahead: %s", name, error)
