"""Imports the modules that the first click needs, while the user waits for nothing.

The window opens without the engine: gRPC, NumPy and the modules of the pages take longer to import than
everything else together. A thread imports them as soon as the window has been painted, so that a page opens
and a session starts as fast the first time as later.
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
"""Milliseconds after the first paint, in which the window handles clicks first."""
BREATH_S: Final = 0.01
"""Seconds between two modules in which the window has the interpreter to itself."""
ENGINE: Final = (
    "gym_gui.controllers.engine.resolved_operator",
    "gym_gui.controllers.live_play.live_run",
    "gym_gui.controllers.setup.environment_info_cache",
    "gym_gui.controllers.setup.configuration_checks",
)
SESSIONS: Final = ("gym_gui.host.host_client",)
"""Modules, with gRPC (11 MB), that no page needs before an operator is opened."""


def modules() -> Sequence[str]:
    """Return the modules to import ahead: the engine's client, then each page."""
    return (*ENGINE, *(place.module for place in places()))


class Preloader(QObject):
    """Imports modules in the background, ahead of their first use.

    Args:
        spawn: Runs work in the background, until the window closes.
        names: Modules to import, in order.
        later: Modules to import once a page is shown that can open sessions.
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
        self._over = threading.Event()
        self._work: asyncio.Task[None] | None = None
        self._timer = single_shot_timer(self, DELAY_MS, self._on_time)

    def start(self) -> None:
        """Start after a short delay."""
        self._timer.start()

    def stop(self) -> None:
        """Import no further module."""
        self._timer.stop()
        self._over.set()

    def on_page_shown(self, name: str) -> None:
        """Put the modules for sessions next in the queue when a page other than Home is shown."""
        if name == places()[0].name or not self._later:
            return
        self._names.extendleft(reversed(self._later))
        self._later = ()
        if self._work is not None and self._work.done():
            self._on_time()

    def _on_time(self) -> None:
        self._work = self._spawn(asyncio.to_thread(self._import_all), "Getting ready")

    def _import_all(self) -> None:
        while self._names:
            if self._over.wait(BREATH_S):
                return
            name = self._names.popleft()
            try:
                import_module(name)
            except Exception as error:  # the page that needs the module imports it again, and reports this
                _log.info("%s could not be imported ahead: %s", name, error)
