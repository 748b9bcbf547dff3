"""Shows one operator of a running experiment to the user, whichever session plays it."""

from __future__ import annotations

from collections.abc import Sequence

from gym_gui.controllers.engine.session_events import OnSessionEvent
from gym_gui.controllers.engine.session_interface import LiveSettings
from gym_gui.controllers.runs.session_shares import SessionShare

_FPS = 15.0
"""Views per second of a watched experiment, fewer than for a person who plays, to save computing time."""


class RunWatch:
    """Selects one session of the operator that the user watches, and sends its views to a listener.

    Attributes:
        operator_id: The operator that the user watches; ``""`` for none.
    """

    def __init__(self) -> None:
        self.operator_id = ""
        self._listener: OnSessionEvent | None = None
        self._seat: SessionShare | None = None

    def watch(self, operator_id: str, listener: OnSessionEvent | None) -> None:
        """Watch another operator instead of the current one.

        Args:
            operator_id: The operator; ``""`` for none.
            listener: Receives every view and picture.
        """
        self.stop_watching(self._seat)
        self.operator_id, self._listener = operator_id, listener

    def tend(self, seats: Sequence[SessionShare]) -> None:
        """Watch one of the sessions that play the chosen operator, and keep to it as long as it plays."""
        if not self.operator_id:
            return
        there = [s for s in seats if s.run.operator_id == self.operator_id and s.working and not s.dead]
        if self._seat in there:
            return
        self.stop_watching(self._seat)
        if there and there[0].session is not None:
            self._seat = there[0]
            self._seat.watcher = self._listener
            there[0].session.watch(LiveSettings(_FPS))

    def stop_watching(self, seat: SessionShare | None) -> None:
        """Stop watching a session, if it is the watched one."""
        if seat is None or seat is not self._seat:
            return
        self._seat, seat.watcher = None, None
        if seat.session is not None and not seat.dead:
            seat.session.watch(None)
