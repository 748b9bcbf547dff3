"""About how much memory the worker processes of an experiment take, and how much if slots share them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.sessions.bind_workers import process_groups
from gym_gui.core.config import Experiment
from gym_gui.core.experiment.execution import Isolation

PROCESS_BYTES: Final = 50_000_000
"""About what a worker process takes: 44 MB if it plays a trained policy of vectors, 50 if it asks a model."""


def with_shared_processes(experiment: Experiment) -> Experiment:
    """The experiment with slots of a team that share a process, unless their operator says otherwise."""
    return replace(experiment, execution=replace(experiment.execution, isolation="worker"))


def worker_bytes(experiment: Experiment, operators: Sequence[ResolvedOperator], sessions: int) -> int:
    """About how many bytes the worker processes take that are on at the same time, at most.

    Args:
        experiment: Says which slots share a process.
        operators: All that play.
        sessions: Session processes at work at the same time; each has workers of its own.
    """
    counts = sorted(_processes(each, experiment.isolation(each.config)) for each in operators)
    largest = counts[-sessions:]
    # Sessions that are left may all play the largest operator.
    spare = sessions - len(largest)
    return PROCESS_BYTES * (sum(largest) + spare * max(largest, default=0))


def _processes(operator: ResolvedOperator, isolation: Isolation) -> int:
    return len(process_groups(replace(operator, config=replace(operator.config, isolation=isolation))))
