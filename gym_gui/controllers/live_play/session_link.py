"""Opens, holds, releases and ends the session of a live operator."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

from gym_gui.controllers.engine.session_events import LogLine
from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.execution import EpisodePlan

if TYPE_CHECKING:
    from gym_gui.controllers.engine.session_events import OnSessionEvent, SessionEvent
    from gym_gui.controllers.engine.session_interface import Render, Session, SessionReady, SessionSettings

    OpenLiveSession = Callable[[OperatorConfig, SessionSettings, OnSessionEvent], Awaitable[Session]]
    """Makes a session, not started yet, for an operator that is not checked yet."""

_log = logging.getLogger(__name__)

Look = tuple[str, float]
"""How a session is shown: render mode (``rgb_array``, ``ansi``, ``none``) and the most views per second."""


class SessionLink:
    """Holds at most one session of a live operator at a time; released sessions end in the background.

    Args:
        on_event: Receives the events of the current session. Late events of a released session are dropped.
        open_session: Makes a session.
        spawn: Runs a background task.
        everything_shown: Returns whether people see observations that the game hides from their seats.

    Attributes:
        session: The session, or ``None``; it may still be starting.
        ready: Description that the session sent when it became ready, or ``None``.
    """

    def __init__(
        self,
        on_event: OnSessionEvent,
        open_session: OpenLiveSession,
        spawn: Spawn,
        everything_shown: Callable[[], bool],
    ) -> None:
        self._on_event, self._open_session = on_event, open_session
        self._spawn, self._everything_shown = spawn, everything_shown
        self.session: Session | None = None
        self.ready: SessionReady | None = None
        self._opened: tuple[OperatorConfig, Look, bool] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def playing(self) -> Session | None:
        """The session if it is ready, else ``None``."""
        return self.session if self.ready is not None else None

    @property
    def pid(self) -> int:
        """Process id of the session host; 0 without a session."""
        return int(getattr(self.session, "pid", 0)) if self.session is not None else 0

    def suits(self, config: OperatorConfig, look: Look) -> bool:
        """Return whether the open session plays this operator with this render mode and frame rate."""
        return self.ready is not None and self._opened == (config, look, self._everything_shown())

    def adopt(self, before: OperatorConfig, config: OperatorConfig) -> None:
        """Note an operator's new configuration, for which the open session needs no change."""
        if self._opened is not None and self._opened[0] == before:
            self._opened = (config, *self._opened[1:])

    async def make(self, config: OperatorConfig, look: Look, first: EpisodePlan | None) -> Session:
        """Make a session that is not started yet.

        Args:
            config: The operator.
            look: Render mode and the most views per second.
            first: The episode that will be played first. Its first observation is shown while large players
                are still loading.
        """
        # In a thread: the window must not wait for the import of NumPy.
        await asyncio.to_thread(importlib.import_module, "gym_gui.controllers.live_play.live_run")
        from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings

        everything = self._everything_shown()
        live = LiveSettings(look[1], cast("Render", look[0]), first, everything)
        settings = SessionSettings(1, config.max_steps, live=live)
        session: Session | None = None

        def on_event(event: SessionEvent) -> None:
            if isinstance(event, LogLine):
                _log.log(event.level, "%s: %s: %s", config.display_name, event.logger, event.text)
            elif session is None or session is self.session:
                self._on_event(event)

        self.session = session = await self._open_session(config, settings, on_event)
        self._opened = (config, look, everything)
        return session

    async def start(self, session: Session) -> bool:
        """Start a session; return ``False`` if the caller released it during the start.

        Raises:
            MosaicError: The session cannot play, with the reason.
        """
        ready = await session.start()
        if self.session is not session:
            return False
        self.ready = ready
        return True

    def release(self) -> Session | None:
        """Release the session and ignore its events from now on; the caller ends it with :meth:`dispose`."""
        session = self.session
        self.session = self.ready = None
        return session

    def dispose(self, session: Session) -> asyncio.Task[None]:
        """End a released session, in a task that runs on even if the caller is canceled."""
        task = self._spawn(_closed(session), "Ending a session")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def ended(self) -> None:
        """Wait until all released sessions have ended."""
        while self._ending:
            await asyncio.gather(*self._ending, return_exceptions=True)


async def _closed(session: Session) -> None:
    await session.close()
