"""Decides which shards are played next in an experiment that plays until its comparisons are decided.

The rule of a single run (:mod:`.interim_looks`) is applied to the merged run of the shards so far. So looks
are taken at the same numbers of seeds, and the same operators play on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from gym_gui.controllers.engine.resolved_operator import unchecked_operator
from gym_gui.controllers.runs.interim_looks import InterimLooks
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.controllers.runs.run_writer import RunWriter
from gym_gui.core.config import ExecutionConfig, Experiment
from gym_gui.core.experiment.shards import Shard, schedule_of, stretches
from gym_gui.services.runs.recorder import COMPLETED, FAILED, STOPPED
from gym_gui.services.runs.run_packing import compress_ended


def shards_for(execution: ExecutionConfig, seatings: Mapping[str, int], wanted: int) -> int:
    """Return the total number of shards that cuts each batch into about ``wanted`` shards.

    Args:
        execution: Number of episodes, and settings of the interim looks.
        seatings: Episodes per seed, by operator.
        wanted: Shards of a batch in which all operators play.
    """
    cells = stretches(schedule_of(execution, seatings))
    most = max(len(episodes) // operator.seatings for operator, episodes in cells)
    return len(cells) * min(most, -(-wanted // len(seatings)))


class Batches:
    """Batches of an experiment that are played as shards, with interim looks between the batches.

    Args:
        experiment: The experiment, which was checked when it was submitted.
        seatings: Episodes per seed, by operator.
        of: Total number of shards if all are played; from :func:`shards_for`.
    """

    def __init__(self, experiment: Experiment, seatings: Mapping[str, int], of: int) -> None:
        self._experiment, self._seatings, self._of = experiment, seatings, of
        self._scheduled = schedule_of(experiment.execution, seatings)

    def first(self) -> list[int]:
        """Return the shards that are played before the first interim look."""
        return self._shards_with({each.operator_id: range(each.looks[0]) for each in self._scheduled})

    def planned(self, due: Collection[int]) -> dict[str, int]:
        """Return the number of episodes, counted from the first, that the given shards cover, by operator."""
        found = dict.fromkeys(self._seatings, 0)
        for number in due:
            for operator, episodes in Shard(number, self._of).episodes(self._scheduled).items():
                found[operator] = max(found[operator], episodes.stop)
        return found

    async def take_interim_looks(self, run: Path) -> list[int]:
        """Take the interim looks that are due, and write them into ``run.json``.

        After a coordinator was killed, repeating the call gives the same result.

        Args:
            run: The merged run of all shards so far. It ends if everything is decided or played.

        Returns:
            Shards that are played next; empty if the run has ended.

        Raises:
            UsageError: The run cannot be read or written.
        """
        ledger = RunWriter(run.parent, run)
        status = STOPPED
        try:
            runs = [self._as_played(operator, ledger) for operator in self._seatings]
            looks = InterimLooks(self._experiment.execution, runs, ledger)
            while looks.due:
                await looks.take_due()
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
        """Return an operator's progress according to the record, without starting a player."""
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
        """Return the shards that contain any of the wanted episodes."""
        found: list[int] = []
        for number in range(1, self._of + 1):
            episodes = Shard(number, self._of).episodes(self._scheduled)
            if any(index in wanted.get(operator, ()) for operator, of in episodes.items() for index in of):
                found.append(number)
        return found
