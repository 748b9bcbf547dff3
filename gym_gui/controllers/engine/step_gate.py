"""Decides when an episode with complete answers takes its step: at once, at a pace, or on request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gym_gui.controllers.engine.episode import Episode

_TOLERANCE_S = 0.0005
"""Seconds by which a step may be early, because timers are not exact."""


class StepGate:
    """Gate that holds episodes before their next step, for pauses and a limited pace.

    Args:
        wake: Called when a held episode may take its step.

    Attributes:
        free: Whether neither a pause nor a pace holds episodes, so that the engine can skip the gate.
        paused: Whether only requested steps are taken.
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
        """Let episodes step again after a pause."""
        self.paused = False
        self._changed()

    def pace(self, steps_per_s: float | None) -> None:
        """Let each episode take at most this many steps per second; ``None`` sets no limit."""
        self._interval = None if steps_per_s is None else 1.0 / steps_per_s
        self._changed()

    def is_slower_than(self, rate: float) -> bool:
        """Return whether steps are so slow that all of them can be shown at ``rate`` views per second."""
        return self.paused or (self._interval is not None and self._interval * rate >= 0.999)

    @property
    def held(self) -> int:
        """Number of episodes that are held."""
        return len(self._held)

    def opened(self, episode: Episode) -> None:
        """Register an episode that begins; at a pace, its first step comes one interval later."""
        if self._interval is not None:
            self._last[episode.index] = asyncio.get_running_loop().time()

    def forget(self, index: int) -> None:
        """Remove an episode that is over from the gate."""
        self._held.pop(index, None)
        self._last.pop(index, None)

    def admit(self, episode: Episode) -> bool:
        """Return whether an episode may step now; if not, hold it until :meth:`released` returns it."""
        if self._may_go(episode, asyncio.get_running_loop().time()):
            return True
        self._held[episode.index] = episode
        self._arm()
        return False

    def released(self) -> list[Episode]:
        """Remove from the gate and return the held episodes that may step now."""
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
            episode.credit -= not episode.choosing  # managers' choices do not use up a requested step
            self._last[episode.index] = now
            return True
        if self._interval is None:
            return True
        due = self._last.setdefault(episode.index, now) + self._interval
        if now < due - _TOLERANCE_S:
            return False
        # Due times stay on a grid, so that the delay of one step does not add to later ones.
        self._last[episode.index] = due if now - due < self._interval else now
        return True

    def _changed(self) -> None:
        self.free = not self.paused and self._interval is None
        if self.free:
            self._last.clear()
        self._arm()
        self._wake()

    def _arm(self) -> None:
        """Set the timer for the next step of the held episode that is due first."""
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
