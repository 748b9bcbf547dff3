"""Somebody looks at one operator of a running experiment, from session to session."""

from __future__ import annotations

from collections.abc import Sequence

from gym_gui.controllers.engine.session_events import OnSessionEvent
from gym_gui.controllers.engine.session_interface import LiveSettings
from gym_gui.controllers.runs.session_shares import SessionShare

_FPS = 15.0
"""An experiment is to be done with: looks are taken less often than where somebody plays."""


class RunWatch:
    """Has one session at a time show what it plays; while nobody looks, none does.

    Attributes:
        operator_id: Who is looked at; ``""``: nobody.
    """

    def __init__(self) -> None:
        self.operator_id = ""
        self._listener: OnSessionEvent | None = None
        self._seat: SessionShare | None = None

    def look(self, operator_id: str, listener: OnSessionEvent | None) -> None:
        """Look at an operator; another one is looked at no more.

        Args:
            operator_id: Who; ``""``: nobody.
            listener: Told every look and picture.
        """
        self.let_go(self._seat)
        self.operator_id, self._listener = operator_id, listener

    def tend(self, seats: Sequence[SessionShare]) -> None:
        """Look at one of these, which are at work; at the same one as long as it is."""
        if not self.operator_id:
            return
        there = [s for s in seats if s.run.operator_id == self.operator_id and s.working and not s.dead]
        if self._seat in there:
            return
        self.let_go(self._seat)
        if there and there[0].session is not None:
            self._seat = there[0]
            self._seat.watcher = self._listener
            there[0].session.watch(LiveSettings(_FPS))

    def let_go(self, seat: SessionShare | None) -> None:
        """A session is not looked at any more: it has other things to do."""
        if seat is None or seat is not self._seat:
            return
        self._seat, seat.watcher = None, None
        if seat.session is not None and not seat.dead:
            seat.session.watch(None)
