"""Shards of an experiment that is played until it is decided: which are played next.

It is the run's own rule (:mod:`.run_looks`) on the run that the shards make so far: the same looks at the
same numbers of seeds, and the same who play on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from gym_gui.controllers.engine.resolved_operator import unchecked_operator
from gym_gui.controllers.runs.interim_looks import RunLooks
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.controllers.runs.run_writer import RunWriter
from gym_gui.core.config import ExecutionConfig, Experiment
from gym_gui.core.experiment.shards import Shard, schedule_of, stretches
from gym_gui.services.runs.recorder import COMPLETED, FAILED, STOPPED
from gym_gui.services.runs.run_packing import compress_ended


def shards_for(execution: ExecutionConfig, seatings: Mapping[str, int], wanted: int) -> int:
    """How many shards make about so many of each batch, all together.

    Args:
        execution: How much is played, and when it is looked at.
        seatings: Episodes of each seed, by operator.
        wanted: Shards of a batch in which all operators play.
    """
    cells = stretches(schedule_of(execution, seatings))
    most = max(len(episodes) // operator.seatings for operator, episodes in cells)
    return len(cells) * min(most, -(-wanted // len(seatings)))


class Batches:
    """What is played of an experiment between two looks.

    Args:
        experiment: The experiment; read, and checked where it was submitted.
        seatings: Episodes of each seed, by operator.
        of: How many shards there are in all, should all be played; from :func:`shards_for`.
    """

    def __init__(self, experiment: Experiment, seatings: Mapping[str, int], of: int) -> None:
        self._experiment, self._seatings, self._of = experiment, seatings, of
        self._scheduled = schedule_of(experiment.execution, seatings)

    def first(self) -> list[int]:
        """Shards that are played before the first look."""
        return self._shards_with({each.operator_id: range(each.looks[0]) for each in self._scheduled})

    def planned(self, due: Collection[int]) -> dict[str, int]:
        """How many of each operator's episodes these shards have, from the first on."""
        found = dict.fromkeys(self._seatings, 0)
        for number in due:
            for operator, episodes in Shard(number, self._of).episodes(self._scheduled).items():
                found[operator] = max(found[operator], episodes.stop)
        return found

    async def look(self, run: Path) -> list[int]:
        """Look at what was played, and note it; who comes after one that was killed comes to the same.

        Args:
            run: The run of all shards so far. It is ended where all is decided, or all is played.

        Returns:
            Shards that are played next; none where the run has ended.

        Raises:
            UsageError: The run cannot be read, or written.
        """
        ledger = RunWriter(run.parent, run)
        status = STOPPED
        try:
            runs = [self._as_played(operator, ledger) for operator in self._seatings]
            looks = RunLooks(self._experiment.execution, runs, ledger)
            while looks.due:
                await looks.take()
            if all(each.finished for each in runs):
                status = FAILED if any(each.failed for each in runs) else COMPLETED
        finally:
            ledger.close(status)
        if status == STOPPED:
            return self._shards_with({r.operator_id: {p.index for p in r.pending} for r in runs})
        if self._experiment.execution.record.compress:
            compress_ended(run)
        return []

    def _as_played(self, operator_id: str, ledger: RunWriter) -> OperatorExecution:
        """Where an operator stands, from the record; no player is started."""
        config = next(each for each in self._experiment.operators if each.operator_id == operator_id)
        seatings = self._seatings[operator_id]
        schedule = self._experiment.execution.schedule(seatings)
        done = ledger.done(operator_id)
        return OperatorExecution(
            replace(unchecked_operator(config), seatings=({},) * seatings),
            len(schedule),
            deque(plan for plan in schedule if plan.index not in done),
            done=len(done),
            failed=ledger.failed(operator_id),
        )

    def _shards_with(self, wanted: Mapping[str, Collection[int]]) -> list[int]:
        """Shards that have any of these episodes."""
        found: list[int] = []
        for number in range(1, self._of + 1):
            episodes = Shard(number, self._of).episodes(self._scheduled)
            if any(index in wanted.get(operator, ()) for operator, of in episodes.items() for index in of):
                found.append(number)
        return found
