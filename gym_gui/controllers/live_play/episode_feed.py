"""Which episodes a live operator plays, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gym_gui.core.experiment.execution import EpisodePlan, Opening, TimeControl

if TYPE_CHECKING:
    from gym_gui.controllers.engine.session_interface import Session
    from gym_gui.controllers.live_play.live_run import LiveRun

PATIENCE_S: Final = 10.0
"""Time a session has to report an episode that was aborted; one that hangs is started again."""


@dataclass(frozen=True)
class Flight:
    """The episode that is being played: which one of which round, and where it is written."""

    plan: EpisodePlan
    place: int
    round: int
    run: LiveRun | None
    operator_id: str

    def lost(self, *, begun: bool) -> None:
        """The episode's session is gone, so that its end stays unknown."""
        if self.run is not None:
            self.run.lost(self.operator_id, self.plan.index, begun=begun)


class EpisodeFeed:
    """Gives a session one episode at a time: the one that is looked at is the one in flight.

    A round is what was asked for with one start or reset: seeds from one on, or as they were
    given. An episode of an earlier round may still be in flight when the next begins.

    Args:
        seeds: Environment seeds in order; by default they count up from the round's own.

    Attributes:
        limit: How many episodes the round has; ``None``: no end.
        flight: What is being played, or ``None``.
    """

    def __init__(self, seeds: Sequence[int] | None = None) -> None:
        self._seeds = seeds
        self.limit: int | None = 0
        self.flight: Flight | None = None
        self._seed, self._next, self._base, self._round = 0, 0, 0, 0
        self._counted: LiveRun | None = None
        self._opening: Opening | None = None
        self._time_control: TimeControl | None = None

    def begin(
        self,
        seed: int,
        episodes: int | None,
        opening: Opening | None = None,
        time_control: TimeControl | None = None,
    ) -> None:
        """A new round of ``episodes``, or without end; the first may begin as another one did."""
        self._seed, self.limit, self._next = seed, episodes, 0
        self._opening, self._time_control = opening, time_control
        self._round += 1
        if self._seeds is not None:
            self.limit = len(self._seeds) if episodes is None else min(episodes, len(self._seeds))

    @property
    def left(self) -> int | None:
        """Episodes of the round that have not been given yet; ``None``: without end."""
        return None if self.limit is None else max(self.limit - self._next, 0)

    @property
    def played(self) -> int:
        """Episodes of the round that are over."""
        flies = self.flight is not None and self.is_of_this_round(self.flight)
        return self._next - flies

    @property
    def done(self) -> bool:
        """Whether every episode that was asked for has been played."""
        return self.flight is None and self.left == 0

    def upcoming(self, operator_id: str, run: LiveRun | None) -> EpisodePlan:
        """The next episode; an index stands once in a run, however often play begins anew in it."""
        place = self._next
        if place == 0 or run is not self._counted:
            self._base = run.next_index(operator_id) - place if run is not None else 0
            self._counted = run
        seed = self._seeds[place] if self._seeds is not None else self._seed + place
        opening = self._opening if place == 0 else None
        return EpisodePlan(self._base + place, seed, 0, opening=opening, time_control=self._time_control)

    def give(self, session: Session, operator_id: str, run: LiveRun | None) -> bool:
        """Have the session play the next episode.

        Returns:
            ``False`` while one is in flight, where none is left, or where the run's budgets do not carry it.
        """
        if self.flight is not None or self.left == 0:
            return False
        plan = self.upcoming(operator_id, run)
        if run is not None:
            admitted = run.begin(operator_id, plan)
            if admitted is None:
                return False
            plan = admitted
        self.flight = Flight(plan, self._next, self._round, run, operator_id)
        self._next += 1
        session.play([plan])
        return True

    def is_of_this_round(self, flight: Flight) -> bool:
        """Whether the episode belongs to the current round: no start or reset since it began."""
        return flight.round == self._round

    def over(self, index: int) -> Flight | None:
        """An episode is over; ``None`` where it is not the one in flight."""
        flight = self.flight
        if flight is None or flight.plan.index != index:
            return None
        self.flight = None
        return flight

    def again(self, flight: Flight) -> None:
        """What was played left no trace and is begun again."""
        if self.is_of_this_round(flight):
            self._next = flight.place

    def lost(self, *, begun: bool) -> None:
        """The session is gone; ``begun``: a player had been asked in its episode."""
        if self.flight is not None:
            self.again(self.flight)
            self.flight.lost(begun=begun)
        self.flight = None

    async def abort(self, session: Session) -> bool:
        """End the episode in flight, and wait until it is reported: what was played of it is on record.

        Returns:
            Whether the session has reported; one that does not in time keeps what it has played.
        """
        if not self._flies():
            return True
        session.abort()
        try:
            await asyncio.wait_for(session.settled(), PATIENCE_S)
        except TimeoutError:
            return not self._flies()
        unbegun, self.flight = self.flight, None
        if unbegun is not None:  # it is forgotten without a word
            unbegun.lost(begun=False)
        return True

    def _flies(self) -> bool:
        """Whether an episode is in flight, at this moment."""
        return self.flight is not None
