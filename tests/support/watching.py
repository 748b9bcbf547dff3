"""Operators and episodes for sessions that are watched."""

from __future__ import annotations

from typing import Any

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.experiment_data import experiment_from_data


def resolved(
    workers: Any = None, objects: Any = None, task: str = "CartPole-v1", **more: Any
) -> ResolvedOperator:
    """An operator, checked.

    Args:
        workers: By slot, as in an experiment file; who plays at random by default.
        objects: In-process policies by slot.
        task: Its environment.
        more: More for the operator.
    """
    given = {} if workers is None and objects is not None else workers or {"agent": {"type": "random"}}
    data = {"id": "op", "task": task, "workers": given, **more}
    return resolve_operator(experiment_from_data({"operators": [data]}, complete=False).operators[0], objects)


def plans(*seeds: int, first: int = 0) -> list[EpisodePlan]:
    """Episodes with these seeds."""
    return [EpisodePlan(first + i, seed, 0) for i, seed in enumerate(seeds)]
