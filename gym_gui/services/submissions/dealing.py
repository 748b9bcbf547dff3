"""What each place plays next: its share of all that is open, and what others have and it can play sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gym_gui.services.submissions.lease_book import LeaseBook
from gym_gui.services.submissions.shard_look import ShardLook
from gym_gui.services.submissions.site_protocol import Site
from gym_gui.services.submissions.submission_record import SENT, WAITING, Submission

MOST_TRIES: Final = 3
"""How often a shard is begun that is lost each time."""


class Dealing:
    """Deals shards of a submission to places.

    Args:
        submission: The submission.
        sites: The places.
        given_up: Those that are used no more, by name, as that changes.
        leases: Who may spend how much, where budgets hold for all shards together.
    """

    def __init__(
        self,
        submission: Submission,
        sites: Sequence[Site],
        given_up: Mapping[str, str],
        leases: LeaseBook | None,
    ) -> None:
        self._submission, self._sites = submission, sites
        self._given_up, self._leases = given_up, leases
        self._unbegun: dict[str, set[int]] = {}
        """By place, shards that waited there for their turn at the last look."""

    @property
    def open(self) -> list[int]:
        """Shards that are being played, or are to be."""
        return sorted([*self._submission.numbers(SENT), *self._waiting])

    def of(self, site: Site) -> dict[int, int]:
        """Tries of the shards that a place is playing."""
        states = self._submission.states
        return {
            number: states[number].tries
            for number in self._submission.numbers(SENT)
            if states[number].host == site.name
        }

    def room(self, site: Site) -> int:
        """How many more processes a place may have."""
        states = self._submission.states
        return site.capacity - len({states[number].hand or number for number in self.of(site)})

    def next_hand(self, site: Site) -> list[int]:
        """What a process there plays next: its share of all that is open, as far as that waits."""
        serving = [each for each in self._sites if each.name not in self._given_up]
        share = (
            -(-len(self.open) // sum(each.capacity for each in serving))
            if site.deals and self._submission.trainings is None and self._leases is None
            else 1
        )
        known = {each.name for each in serving}
        hand: list[int] = []
        for number in self._waiting:
            state = self._submission.state(number)
            begun_elsewhere = bool(state.tries) and state.host != site.name and state.host in known
            if begun_elsewhere and state.lost < MOST_TRIES - 1:
                continue  # begun there: that place resumes it
            hand.append(number)
            if len(hand) == share:
                break
        return hand

    def saw(self, site: Site, looks: Mapping[int, ShardLook]) -> None:
        """A place was looked at."""
        self._unbegun[site.name] = {number for number, seen in looks.items() if not seen.begun}

    def to_take_back(self, idle: Site) -> tuple[Site, list[int]] | None:
        """Half of what waits for its turn in the longest hand, and where; ``None`` where nothing does.

        Args:
            idle: A place that has nothing to do.
        """
        hands: dict[tuple[str, int], list[int]] = {}
        for host, numbers in self._unbegun.items():
            for number in sorted(numbers):
                state = self._submission.states[number]
                movable = not state.done or host == idle.name
                if state.status == SENT and state.host == host and movable and self.is_dealt(number):
                    hands.setdefault((host, state.hand), []).append(number)
        if not hands:
            return None
        (host, _), waiting = max(hands.items(), key=lambda each: len(each[1]))
        late = waiting[len(waiting) // 2 :]
        self._unbegun[host].difference_update(late)
        return next(each for each in self._sites if each.name == host), late

    def is_dealt(self, number: int) -> bool:
        """Whether a shard waits behind others, which the same process plays first."""
        return self._submission.states[number].hand not in (0, number)

    def put_back(self, number: int) -> None:
        """A shard that was dealt and not begun waits again; nothing of it is anywhere."""
        state = self._submission.states[number]
        state.status, state.hand = WAITING, 0
        if not state.done:
            state.host = ""

    @property
    def _waiting(self) -> list[int]:
        """Shards that are to be begun; where budgets are spent, those that have something to bring."""
        waiting, states = self._submission.numbers(WAITING), self._submission.states
        if self._leases is None or not self._leases.ended:
            return waiting
        return [number for number in waiting if number in states and states[number].tries]
