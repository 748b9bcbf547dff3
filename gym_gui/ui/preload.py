"""Imports ahead, while the user waits for nothing, what the first click will need.

The window opens without the engine: gRPC, NumPy and the modules of the pages take longer to
import than everything else together. They come in a thread as soon as the window has been
painted, so that a page opens, and a session starts, as quickly the first time as the second.
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
"""Wait after the first paint, so that the window handles a click in that time first."""
BREATH_S: Final = 0.01
"""Between two modules, so that the window has the interpreter to itself now and then."""
ENGINE: Final = (
    "gym_gui.controllers.engine.resolved_operator",
    "gym_gui.controllers.live_play.live_run",
    "gym_gui.controllers.setup.environment_info_cache",
    "gym_gui.controllers.setup.configuration_checks",
)
SESSIONS: Final = ("gym_gui.host.host_client",)
"""What no page needs before an operator is opened, with gRPC: 11 MB."""


def modules() -> Sequence[str]:
    """What is imported ahead: the engine's client, then each page."""
    return (*ENGINE, *(place.module for place in places()))


class Preloader(QObject):
    """See the module.

    Args:
        spawn: Runs work in the background, until the window closes.
        names: Modules, in order.
        later: Modules that come when a page is shown that opens sessions.
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
        """Begin in a moment."""
        self._timer.start()

    def stop(self) -> None:
        """Import no further module."""
        self._timer.stop()
        self._over.set()

    def on_page_shown(self, name: str) -> None:
        """From the first page but Home on, sessions may be opened: what they need comes next."""
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
