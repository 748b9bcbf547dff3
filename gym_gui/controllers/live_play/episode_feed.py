"""Decides which episodes a live operator plays, one after the other."""

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
"""Seconds for a session to report an aborted episode. A session that takes longer is replaced."""


@dataclass(frozen=True)
class EpisodeInFlight:
    """An episode in flight: its plan, its number within the round, and the run that records it."""

    plan: EpisodePlan
    place: int
    round: int
    run: LiveRun | None
    operator_id: str

    def lost(self, *, begun: bool) -> None:
        """Report to the run that the episode's session has died, so that the episode has no known end."""
        if self.run is not None:
            self.run.lost(self.operator_id, self.plan.index, begun=begun)


class EpisodeFeed:
    """Sends a session one episode at a time, so that only the watched episode is in flight.

    A round is the set of episodes that one start or reset requests: a number of seeds from the first one on,
    or a list of seeds. An episode of an earlier round may still be in flight when the next round begins.

    Args:
        seeds: Environment seeds in order; by default they count up from the round's first seed.

    Attributes:
        limit: Number of episodes in the round; ``None`` for no end.
        flight: The episode that is being played, or ``None``.
    """

    def __init__(self, seeds: Sequence[int] | None = None) -> None:
        self._seeds = seeds
        self.limit: int | None = 0
        self.flight: EpisodeInFlight | None = None
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
        """Begin a round of ``episodes`` episodes; ``None`` for an endless round.

        The first episode may begin with the moves of an earlier episode (``opening``).
        """
        self._seed, self.limit, self._next = seed, episodes, 0
        self._opening, self._time_control = opening, time_control
        self._round += 1
        if self._seeds is not None:
            self.limit = len(self._seeds) if episodes is None else min(episodes, len(self._seeds))

    @property
    def left(self) -> int | None:
        """Number of episodes of the round that no session has received yet; ``None`` for an endless round."""
        return None if self.limit is None else max(self.limit - self._next, 0)

    @property
    def played(self) -> int:
        """Number of episodes of the round that are over."""
        in_flight = self.flight is not None and self.is_of_this_round(self.flight)
        return self._next - in_flight

    @property
    def done(self) -> bool:
        """Whether every episode of the round has been played."""
        return self.flight is None and self.left == 0

    def upcoming(self, operator_id: str, run: LiveRun | None) -> EpisodePlan:
        """Return the plan of the next episode.

        Each episode index is used once per run, even after a restart.
        """
        place = self._next
        if place == 0 or run is not self._counted:
            self._base = run.next_index(operator_id) - place if run is not None else 0
            self._counted = run
        seed = self._seeds[place] if self._seeds is not None else self._seed + place
        opening = self._opening if place == 0 else None
        return EpisodePlan(self._base + place, seed, 0, opening=opening, time_control=self._time_control)

    def give(self, session: Session, operator_id: str, run: LiveRun | None) -> bool:
        """Send the next episode to the session.

        Returns:
            ``False`` if an episode is in flight, none is left, or the run's budgets do not suffice.
        """
        if self.flight is not None or self.left == 0:
            return False
        plan = self.upcoming(operator_id, run)
        if run is not None:
            admitted = run.begin(operator_id, plan)
            if admitted is None:
                return False
            plan = admitted
        self.flight = EpisodeInFlight(plan, self._next, self._round, run, operator_id)
        self._next += 1
        session.play([plan])
        return True

    def is_of_this_round(self, flight: EpisodeInFlight) -> bool:
        """Return whether the episode began after the last start or reset."""
        return flight.round == self._round

    def clear_if_current(self, index: int) -> EpisodeInFlight | None:
        """Clear and return the episode in flight if it has this index; ``None`` for any other index."""
        flight = self.flight
        if flight is None or flight.plan.index != index:
            return None
        self.flight = None
        return flight

    def again(self, flight: EpisodeInFlight) -> None:
        """Plan to play an episode again next, because the run has recorded nothing of it."""
        if self.is_of_this_round(flight):
            self._next = flight.place

    def lost(self, *, begun: bool) -> None:
        """Plan to play the episode in flight again, because its session has died.

        ``begun`` says whether a player had already been asked in the episode.
        """
        if self.flight is not None:
            self.again(self.flight)
            self.flight.lost(begun=begun)
        self.flight = None

    async def abort(self, session: Session) -> bool:
        """End the episode in flight and wait for the session's report.

        Returns:
            Whether the session has reported in time. If not, the episode is not recorded.
        """
        if not self._in_flight():
            return True
        session.abort()
        try:
            await asyncio.wait_for(session.settled(), PATIENCE_S)
        except TimeoutError:
            return not self._in_flight()
        unbegun, self.flight = self.flight, None
        if unbegun is not None:  # the session forgets such an episode without an event
            unbegun.lost(begun=False)
        return True

    def _in_flight(self) -> bool:
        """Return whether an episode is in flight now."""
        return self.flight is not None
