"""Checks whether an experiment can be played until its comparisons are decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.core.experiment.named_training_groups import TrainingOf
from gym_gui.core.experiment.spending import BUDGETS_OF_SLOTS
from gym_gui.core.validation import ConfigError

MOST_OPERATORS = 32
"""Largest number of operators of one task. All their pairs share the allowed error, and an error of less than
1 in 10,000 for a pair cannot be determined."""


class _Operator(Protocol):
    """Attributes of an operator that the check needs."""

    @property
    def operator_id(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def task_key(self) -> str: ...
    @property
    def seats(self) -> str: ...
    @property
    def group(self) -> TrainingOf | None: ...
    def resolved_slots(self) -> Mapping[str, WorkerAssignment]: ...


def check_decidable(operators: Sequence[_Operator], execution: ExecutionConfig) -> None:
    """Refuse ``until: decided`` if nothing can be compared, or if a budget may end the run before a decision.

    Raises:
        ConfigError: Groups of trainings play, no other operator or too many play an operator's task, a slot
            has a budget for the whole run, seeds are too few, or one is listed twice.
    """
    execution.check_distinct()
    if any(operator.group is not None for operator in operators):
        raise ConfigError(
            "'decided' compares single policies, but groups of trainings play",
            where="until",
            fix="Leave 'until' out: groups are compared at the end",
        )
    tasks = Counter(operator.task_key for operator in operators)
    for operator in operators:
        if tasks[operator.task_key] == 1:
            raise ConfigError(
                f"'decided' compares operators of one task, but {operator.operator_id!r} is the only one "
                f"of its task ({operator.task})",
                where="until",
                fix="Add an operator with the same task and settings, or leave 'until' out",
            )
        if tasks[operator.task_key] > MOST_OPERATORS:
            raise ConfigError(
                f"'decided' compares at most {MOST_OPERATORS} operators of one task, but "
                f"{tasks[operator.task_key]} play {operator.task}",
                where="until",
                fix="Leave some out, or leave 'until' out",
            )
        if operator.seats == "fixed":  # other operators need as many seeds as follow from their teams
            execution.interim_seed_counts(execution.num_episodes)
        for slot, player in operator.resolved_slots().items():
            budget = next((name for name in BUDGETS_OF_SLOTS if player.settings.get(name)), None)
            if budget is not None:
                raise ConfigError(
                    f"'decided' cannot be combined with {budget} of {operator.operator_id}/{slot}, which may"
                    "end the run too early",
                    where="until",
                    fix="Limit num_episodes, or the spending of one episode",
                )
