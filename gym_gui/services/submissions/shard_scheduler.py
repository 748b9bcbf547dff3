"""Chooses which shards each place plays next: its share of those that are open, and some of others'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gym_gui.services.submissions.executor_backend import ExecutorBackend
from gym_gui.services.submissions.lease_book import LeaseBook
from gym_gui.services.submissions.shard_status import ShardStatus
from gym_gui.services.submissions.submission_record import SENT, WAITING, Submission

MOST_TRIES: Final = 3
"""How often a shard is begun that is lost each time."""


class ShardScheduler:
    """Schedules the shards of a submission over its places.

    Args:
        submission: The submission.
        backends: The places.
        given_up: Those that are used no more, by name, as that changes.
        leases: Who may spend how much, where budgets hold for all shards together.
    """

    def __init__(
        self,
        submission: Submission,
        backends: Sequence[ExecutorBackend],
        given_up: Mapping[str, str],
        leases: LeaseBook | None,
    ) -> None:
        self._submission, self._backends = submission, backends
        self._given_up, self._leases = given_up, leases
        self._unbegun: dict[str, set[int]] = {}
        """By place, shards that waited there for their turn at the last look."""

    @property
    def open(self) -> list[int]:
        """Shards that are being played, or are to be."""
        return sorted([*self._submission.numbers(SENT), *self._waiting])

    def of(self, backend: ExecutorBackend) -> dict[int, int]:
        """Tries of the shards that a place is playing."""
        states = self._submission.states
        return {
            number: states[number].tries
            for number in self._submission.numbers(SENT)
            if states[number].host == backend.name
        }

    def room(self, backend: ExecutorBackend) -> int:
        """How many more processes a place may have."""
        states = self._submission.states
        return backend.capacity - len({states[number].batch or number for number in self.of(backend)})

    def next_batch(self, backend: ExecutorBackend) -> list[int]:
        """What a process there plays next: its share of all that is open, as far as that waits."""
        serving = [each for each in self._backends if each.name not in self._given_up]
        share = (
            -(-len(self.open) // sum(each.capacity for each in serving))
            if backend.deals and self._submission.trainings is None and self._leases is None
            else 1
        )
        known = {each.name for each in serving}
        batch: list[int] = []
        for number in self._waiting:
            state = self._submission.state(number)
            begun_elsewhere = bool(state.tries) and state.host != backend.name and state.host in known
            if begun_elsewhere and state.lost < MOST_TRIES - 1:
                continue  # begun there: that place resumes it
            batch.append(number)
            if len(batch) == share:
                break
        return batch

    def saw(self, backend: ExecutorBackend, looks: Mapping[int, ShardStatus]) -> None:
        """A place was looked at."""
        self._unbegun[backend.name] = {number for number, seen in looks.items() if not seen.begun}

    def steal_from(self, idle: ExecutorBackend) -> tuple[ExecutorBackend, list[int]] | None:
        """Half of what waits for its turn in the longest batch, and where; ``None`` where nothing does.

        Args:
            idle: A place that has nothing to do.
        """
        batches: dict[tuple[str, int], list[int]] = {}
        for host, numbers in self._unbegun.items():
            for number in sorted(numbers):
                state = self._submission.states[number]
                movable = not state.done or host == idle.name
                if state.status == SENT and state.host == host and movable and self.is_dealt(number):
                    batches.setdefault((host, state.batch), []).append(number)
        if not batches:
            return None
        (host, _), waiting = max(batches.items(), key=lambda each: len(each[1]))
        late = waiting[len(waiting) // 2 :]
        self._unbegun[host].difference_update(late)
        return next(each for each in self._backends if each.name == host), late

    def is_dealt(self, number: int) -> bool:
        """Whether a shard waits behind others, which the same process plays first."""
        return self._submission.states[number].batch not in (0, number)

    def put_back(self, number: int) -> None:
        """A shard that was dealt and not begun waits again; nothing of it is anywhere."""
        state = self._submission.states[number]
        state.status, state.batch = WAITING, 0
        if not state.done:
            state.host = ""

    @property
    def _waiting(self) -> list[int]:
        """Shards that are to be begun; where budgets are spent, those that have something to bring."""
        waiting, states = self._submission.numbers(WAITING), self._submission.states
        if self._leases is None or not self._leases.ended:
            return waiting
        return [number for number in waiting if number in states and states[number].tries]
