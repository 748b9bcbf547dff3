"""Estimates the memory of an experiment's worker processes, with or without processes shared by slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.sessions.bind_workers import process_groups
from gym_gui.core.config import Experiment
from gym_gui.core.experiment.execution import Isolation

PROCESS_BYTES: Final = 50_000_000
"""Approximate memory of a worker process: 44 MB with a trained policy, 50 MB with a language model."""


def with_shared_processes(experiment: Experiment) -> Experiment:
    """Return the experiment with one process per team and worker as the default of its operators."""
    return replace(experiment, execution=replace(experiment.execution, isolation="worker"))


def worker_bytes(experiment: Experiment, operators: Sequence[ResolvedOperator], sessions: int) -> int:
    """Return the approximate peak memory in bytes of the worker processes of parallel sessions.

    Args:
        experiment: Experiment with the setting for slots that share a process.
        operators: All operators.
        sessions: Number of session processes that play at the same time; each has its own workers.
    """
    counts = sorted(_processes(each, experiment.isolation(each.config)) for each in operators)
    largest = counts[-sessions:]
    # All remaining sessions may play the largest operator.
    spare = sessions - len(largest)
    return PROCESS_BYTES * (sum(largest) + spare * max(largest, default=0))


def _processes(operator: ResolvedOperator, isolation: Isolation) -> int:
    return len(process_groups(replace(operator, config=replace(operator.config, isolation=isolation))))
