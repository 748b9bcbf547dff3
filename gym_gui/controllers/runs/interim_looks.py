"""Plays an experiment in batches until its comparisons are decided, with an interim look after each batch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.controllers.runs.run_writer import RunWriter
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.core.record_fields import items, mapping, strings

if TYPE_CHECKING:
    from gym_gui.analysis.compute.interim_analysis import SequentialFamily

LOOKS = "looks"


@dataclass
class _Task:
    """Operators of one task, which are tested together at every interim look.

    Attributes:
        runs: The operators.
        seeds: Number of seeds at each look.
        seatings: Episodes per seed.
        taken: Number of looks so far.
        families: Comparisons by task title: one, unless reports distinguish the operators' tasks.
    """

    runs: list[OperatorExecution]
    seeds: list[int]
    seatings: int
    taken: int = 0
    families: dict[str, SequentialFamily] = field(default_factory=dict[str, "SequentialFamily"])

    @property
    def due(self) -> bool:
        """Whether every operator that still plays has finished the episodes before the next look."""
        if self.taken == len(self.seeds):
            return False
        playing = [run for run in self.runs if run.at_most]
        return bool(playing) and all(run.done >= run.goal for run in playing)

    @property
    def was_played(self) -> bool:
        """Whether an earlier part of the run has played every episode before the next look."""
        episodes = self.seeds[self.taken] * self.seatings
        return all(run.has_played(episodes) for run in self.runs if run.at_most)

    def advance(self, playing: Sequence[str]) -> None:
        """Continue after a look: operators in ``playing`` play the next batch, the others stop."""
        self.taken += 1
        for run in self.runs:
            if run.operator_id not in playing:
                run.play_no_more()
        self.release_batch()

    def release_batch(self) -> None:
        """Make the next batch of episodes available to play."""
        for run in self.runs:
            if run.at_most:
                run.play_up_to(self.seeds[self.taken] * self.seatings)


class InterimLooks:
    """Takes a run's interim looks at its comparisons, and stops operators whose comparisons are decided.

    All operators of a task play the same seeds, a batch at a time. After each batch, the sequential test of
    ``docs/statistics/until_decided.md`` is continued with the recorded episodes. An operator without an
    undecided comparison plays no more.

    Args:
        execution: Settings that say whether and when to take interim looks.
        runs: The operators.
        ledger: Writer of the run folder, whose header holds earlier looks and receives new ones.
    """

    def __init__(
        self, execution: ExecutionConfig, runs: Sequence[OperatorExecution], ledger: RunWriter
    ) -> None:
        self._ledger = ledger
        self._noted: list[Mapping[str, Any]] = []
        self._tasks: list[_Task] = []
        if execution.until == "all":
            return
        self._noted += [look for each in items(ledger.header.get(LOOKS)) or [] if (look := mapping(each))]
        by_task: dict[str, list[OperatorExecution]] = {}
        for run in runs:
            by_task.setdefault(run.resolved.config.task_key, []).append(run)
        self._tasks += [self._task(execution, of_task) for of_task in by_task.values()]

    def _task(self, execution: ExecutionConfig, runs: list[OperatorExecution]) -> _Task:
        seatings = len(runs[0].resolved.seatings)
        most = execution.num_episodes // seatings
        task = _Task(runs, execution.interim_seed_counts(most), seatings)
        for run in runs:
            run.total, run.at_most = most * seatings, True
        task.release_batch()
        ids = {run.operator_id for run in runs}
        ours = [look for look in self._noted if ids & set(strings(look.get("operators")) or ())]
        for look in ours:
            # Episodes that a lost process left open are played now, and this look is taken again.
            if task.taken == len(task.seeds) or not task.was_played:
                self._noted = [each for each in self._noted if each not in ours[task.taken :]]
                break
            task.advance(strings(look.get("playing")) or ())
        return task

    @property
    def due(self) -> bool:
        """Whether a batch has been played, so that its interim look is due."""
        return any(task.due for task in self._tasks)

    async def take_due(self) -> None:
        """Take the looks that are due, write them into ``run.json``, and let undecided operators play on."""
        for task in self._tasks:
            if not task.due:
                continue
            looked = await asyncio.to_thread(_look, task, self._ledger.folder)
            self._noted.append(looked)
            task.advance(looked["playing"])
            totals = dict(mapping(self._ledger.header.get("episodes")) or {})
            totals |= {run.operator_id: run.total for run in task.runs}
            self._ledger.note(looks=self._noted, episodes=totals)


def _look(task: _Task, folder: Path) -> dict[str, Any]:
    # Statistics take a third of a second to import: a run that does not look need not wait for them.
    from gym_gui.controllers.runs.interim_evaluation import evaluate_record

    return evaluate_record(
        folder, [run.operator_id for run in task.runs], task.seeds, task.taken, task.families
    )
