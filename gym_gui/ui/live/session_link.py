"""The session of a live operator: opened, kept, let go, ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from gym_gui.core.config import OperatorConfig
from gym_gui.core.execution import EpisodePlan
from gym_gui.ui.live.engine import load_engine, open_host_session

if TYPE_CHECKING:
    from gym_gui.controllers.session_events import OnSessionEvent, SessionEvent
    from gym_gui.controllers.sessions import Session, SessionReady
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.live.engine import OpenLiveSession

_log = logging.getLogger(__name__)

Look = tuple[str, float]
"""What is drawn (``rgb_array``, ``ansi``, ``none``), and how often a second at most."""


class SessionLink:
    """At most one session at a time; those that were let go are ended in the background.

    Args:
        context: The window's services.
        on_event: Told what the session says, for as long as it is kept: one that was let go may still
            have messages on their way, which concern nobody.
        open_session: Makes a session; a host process by default.

    Attributes:
        session: The session, or ``None``; it may still be starting.
        ready: What it said of itself once it was ready, or ``None``.
    """

    def __init__(
        self, context: AppContext, on_event: OnSessionEvent, open_session: OpenLiveSession | None = None
    ) -> None:
        self._context, self._on_event = context, on_event
        self._open_session = open_session or open_host_session
        self.session: Session | None = None
        self.ready: SessionReady | None = None
        self._opened: tuple[OperatorConfig, Look, bool] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def playing(self) -> Session | None:
        """The session, once it is ready."""
        return self.session if self.ready is not None else None

    @property
    def pid(self) -> int:
        """Process id of the session host; 0 where there is none."""
        return int(getattr(self.session, "pid", 0)) if self.session is not None else 0

    def suits(self, config: OperatorConfig, look: Look) -> bool:
        """Whether the session that is open plays this."""
        return self.ready is not None and self._opened == (config, look, self._everything)

    @property
    def _everything(self) -> bool:
        return self._context.settings.values.everything_shown

    def adopt(self, before: OperatorConfig, config: OperatorConfig) -> None:
        """What is open goes by another configuration that asks for nothing new of it."""
        if self._opened is not None and self._opened[0] == before:
            self._opened = (config, *self._opened[1:])

    async def make(self, config: OperatorConfig, look: Look, first: EpisodePlan | None) -> Session:
        """Make a session that is not started yet.

        Args:
            config: Who plays.
            look: How it is watched.
            first: The episode that will be played first; how it begins is seen while large
                players are still loading.
        """
        await load_engine()
        from gym_gui.controllers.session_events import LogLine
        from gym_gui.controllers.sessions import LiveSettings, SessionSettings

        everything = self._everything
        live = LiveSettings(look[1], look[0], first, everything)  # type: ignore[arg-type]
        settings = SessionSettings(1, config.max_steps, live=live)
        session: Session | None = None

        def on_event(event: SessionEvent) -> None:
            if isinstance(event, LogLine):
                _log.log(event.level, "%s: %s: %s", config.display_name, event.logger, event.text)
            elif session is None or session is self.session:
                self._on_event(event)

        self.session = session = self._open_session(config, settings, on_event, self._context.store)
        self._opened = (config, look, everything)
        return session

    async def start(self, session: Session) -> bool:
        """Start what was made; ``False`` where it has been let go meanwhile.

        Raises:
            MosaicError: It cannot play, with the reason.
        """
        ready = await session.start()
        if self.session is not session:
            return False
        self.ready = ready
        return True

    def let_go(self) -> Session | None:
        """Listen to the session no more; it is to be ended by :meth:`dispose`."""
        session = self.session
        self.session = self.ready = None
        return session

    def dispose(self, session: Session) -> asyncio.Task[None]:
        """End a session that was let go; goes on although whoever asked for it is cancelled."""
        closing: Coroutine[Any, Any, None] = session.close()
        task = self._context.spawn(closing, "Ending a session")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def ended(self) -> None:
        """Wait until nothing that was let go is left."""
        while self._ending:
            await asyncio.gather(*self._ending, return_exceptions=True)
