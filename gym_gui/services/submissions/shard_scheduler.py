"""Decides which shards each host plays next, and which waiting shards are moved to an idle host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.executor_backend import ExecutorBackend
from gym_gui.services.submissions.shard_status import ShardStatus
from gym_gui.services.submissions.submission_record import SENT, WAITING, Submission

MOST_TRIES: Final = 3
"""Number of successive lost attempts after which a shard has failed."""


class ShardScheduler:
    """Distributes the shards of a submission over its hosts.

    Args:
        submission: The submission.
        backends: The hosts.
        given_up: Names of the hosts that are no longer used, with reasons. The coordinator changes it.
        leases: Distributes budgets that hold for all shards together.
    """

    def __init__(
        self,
        submission: Submission,
        backends: Sequence[ExecutorBackend],
        given_up: Mapping[str, str],
        leases: BudgetLeases | None,
    ) -> None:
        self._submission, self._backends = submission, backends
        self._given_up, self._leases = given_up, leases
        self._unbegun: dict[str, set[int]] = {}
        """Shards that had not begun at the last status request, by host."""

    @property
    def open(self) -> list[int]:
        """Shards that are being played or still to be played."""
        return sorted([*self._submission.numbers(SENT), *self._waiting])

    def of(self, backend: ExecutorBackend) -> dict[int, int]:
        """Return the attempt number of each shard that was sent to a host."""
        states = self._submission.states
        return {
            number: states[number].tries
            for number in self._submission.numbers(SENT)
            if states[number].host == backend.name
        }

    def free_processes(self, backend: ExecutorBackend) -> int:
        """Return how many more processes a host may start."""
        states = self._submission.states
        return backend.capacity - len({states[number].batch or number for number in self.of(backend)})

    def next_batch(self, backend: ExecutorBackend) -> list[int]:
        """Return the shards for the next process on a host: at most its share of the open shards."""
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
                continue  # begun on another host, which resumes the shard
            batch.append(number)
            if len(batch) == share:
                break
        return batch

    def saw(self, backend: ExecutorBackend, looks: Mapping[int, ShardStatus]) -> None:
        """Record which shards have not begun on a host, according to its status."""
        self._unbegun[backend.name] = {number for number, seen in looks.items() if not seen.begun}

    def steal_from(self, idle: ExecutorBackend) -> tuple[ExecutorBackend, list[int]] | None:
        """Return the later half of the longest waiting batch and its host, or ``None`` if no shard waits.

        Args:
            idle: The host that has nothing to do.
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
        """Return whether a shard waits for others that the same process plays first."""
        return self._submission.states[number].batch not in (0, number)

    def put_back(self, number: int) -> None:
        """Set a sent shard that was not begun back to waiting."""
        state = self._submission.states[number]
        state.status, state.batch = WAITING, 0
        if not state.done:
            state.host = ""

    @property
    def _waiting(self) -> list[int]:
        """Shards to start next. If the budgets are spent, only those with earlier attempts, which have
        results."""
        waiting, states = self._submission.numbers(WAITING), self._submission.states
        if self._leases is None or not self._leases.ended:
            return waiting
        return [number for number in waiting if number in states and states[number].tries]
