"""When an episode whose agents have all answered may take its step: at once, at a pace, one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gym_gui.controllers.engine.episode import Episode

_TOLERANCE_S = 0.0005
"""A step may be this much early: timers are not exact, and a second trip would make it late."""


class StepGate:
    """Holds episodes back before their next step.

    Args:
        wake: Called when an episode that is held may go on.

    Attributes:
        free: Whether no episode is held back; then the engine need not ask the gate.
        paused: Whether only steps asked for by :meth:`step` are taken.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.free = True
        self.paused = False
        self._interval: float | None = None
        self._held: dict[int, Episode] = {}
        self._last: dict[int, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def pause(self) -> None:
        """Hold every episode before its next step."""
        self.paused = True
        self._changed()

    def resume(self) -> None:
        """Go on after :meth:`pause`."""
        self.paused = False
        self._changed()

    def pace(self, steps_per_s: float | None) -> None:
        """Let each episode take at most so many steps a second; ``None`` for no limit."""
        self._interval = None if steps_per_s is None else 1.0 / steps_per_s
        self._changed()

    def is_slower_than(self, rate: float) -> bool:
        """Whether every step can be looked at, with so many looks a second."""
        return self.paused or (self._interval is not None and self._interval * rate >= 0.999)

    @property
    def held(self) -> int:
        """Episodes that are held."""
        return len(self._held)

    def opened(self, episode: Episode) -> None:
        """An episode begins; at a pace, its first step comes one interval later."""
        if self._interval is not None:
            self._last[episode.index] = asyncio.get_running_loop().time()

    def forget(self, index: int) -> None:
        """An episode is over."""
        self._held.pop(index, None)
        self._last.pop(index, None)

    def admit(self, episode: Episode) -> bool:
        """Whether an episode may step now; otherwise it is held until :meth:`released` gives it out."""
        if self._may_go(episode, asyncio.get_running_loop().time()):
            return True
        self._held[episode.index] = episode
        self._arm()
        return False

    def released(self) -> list[Episode]:
        """Held episodes that may step now; they are held no longer."""
        now = asyncio.get_running_loop().time()
        going = [episode for episode in self._held.values() if self._may_go(episode, now)]
        for episode in going:
            del self._held[episode.index]
        self._arm()
        return going

    def _may_go(self, episode: Episode, now: float) -> bool:
        if self.paused:
            if not episode.credit:
                return False
            episode.credit -= not episode.choosing  # a choice of managers is no step: the step is still owed
            self._last[episode.index] = now
            return True
        if self._interval is None:
            return True
        due = self._last.setdefault(episode.index, now) + self._interval
        if now < due - _TOLERANCE_S:
            return False
        # On the grid, so that what one step is late is not added to all that follow.
        self._last[episode.index] = due if now - due < self._interval else now
        return True

    def _changed(self) -> None:
        self.free = not self.paused and self._interval is None
        if self.free:
            self._last.clear()
        self._arm()
        self._wake()

    def _arm(self) -> None:
        """Wake up for the first that is due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held and not self.paused and self._interval is not None:
            loop = asyncio.get_running_loop()
            for index in self._held:
                self._last.setdefault(index, loop.time())  # held while paused, before there was a pace
            first = min(self._last[index] for index in self._held) + self._interval
            self._timer = loop.call_at(first, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._wake()
