"""Finds the experiment for a resumed run: the run's own, or one that differs only in permitted ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from gym_gui.analysis.records.reader import open_run
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import BUDGETS
from gym_gui.core.experiment.matrix_expansion import PlacesOf
from gym_gui.core.experiment.shards import Shard
from gym_gui.services.experiment_file import load_experiment


def shard_of(run: Path) -> Shard | None:
    """Return the shard that a run folder records; ``None`` if the run is no shard."""
    return Shard.of_run(open_run(run).record.extra)


def experiment_to_resume(
    run: Path, file: Experiment | None = None, *, places_of: PlacesOf | None = None
) -> Experiment:
    """Return the experiment that a resumed run plays.

    Rows of the run's matrix that could not be played at its start are tried again.

    Args:
        run: The run folder.
        file: The experiment of a file, by default the run's own. Its budgets may differ, and it may have
            additional rows if the run can gain rows (:func:`can_gain_rows`).
        places_of: Reads the seats in the environments of the matrix; by default, the environments are made
            in this process.

    Raises:
        UsageError: The file differs from the run in more than budgets or added rows.
    """
    begun = load_experiment(run, allow_code=True)
    rows_are_fixed = not can_gain_rows(begun) or shard_of(run) is not None
    if file is None:
        return begun if rows_are_fixed else _with_missing_rows(begun, run, places_of)
    _require_same(file, begun)
    if begun.matrix is None or file.matrix is None or not rows_are_fixed:
        return file
    if _without_budgets(file.matrix.asked) != _without_budgets(begun.matrix.asked):
        raise UsageError(
            "this run cannot gain rows, because it is a shard or ends when its comparisons are decided",
            fix="Begin a new run with the file, or leave the file out",
        )
    # Rows that could not be played when the run began stay out of it.
    there = {operator.operator_id for operator in begun.operators}
    kept = [operator for operator in file.operators if operator.operator_id in there]
    return Experiment(kept, file.execution, begun.matrix)


def can_gain_rows(experiment: Experiment) -> bool:
    """Return whether matrix rows that could not be played at first may be added to a run later.

    They may not if the run plays until its comparisons are decided, because all comparisons share one error
    level.
    """
    return experiment.matrix is not None and experiment.execution.until == "all"


def _with_missing_rows(run: Experiment, folder: Path, places_of: PlacesOf | None) -> Experiment:
    """Return a run's experiment with the matrix rows that could not be played, to try them again."""
    if not run.matrix or not run.matrix.missing:
        return run
    again = load_experiment(folder, allow_code=True, anew=True, places_of=places_of)
    return run if _lost(again, run) else again


def _lost(now: Experiment, run: Experiment) -> list[str]:
    """Return the operators of a run that are missing from an experiment or differ in more than budgets."""
    there = {operator.operator_id: _without_budgets(operator.to_record()) for operator in now.operators}
    return [
        o.operator_id for o in run.operators if there.get(o.operator_id) != _without_budgets(o.to_record())
    ]


def _without_budgets(value: object) -> object:
    """Return plain data of an experiment without the budgets of the run and of its slots."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: _without_budgets(item) for key, item in items if key not in BUDGETS}
    if isinstance(value, (list, tuple)):
        return [_without_budgets(item) for item in cast("Sequence[object]", value)]
    return value


def _require_same(file: Experiment, run: Experiment) -> None:
    """Refuse to resume a run with an experiment that differs in more than budgets or added rows.

    Raises:
        UsageError: The experiments differ in more.
    """
    if file.matrix is not None and run.matrix is not None:
        same = _without_budgets(file.execution.to_record()) == _without_budgets(run.execution.to_record())
        lost = _lost(file, run)
        if same and not lost:
            return
        if same:
            raise UsageError(
                f"operator {lost[0]!r} of the run is missing from the file, or differs there",
                fix="Only add rows, or begin a new run with the file",
            )
        raise UsageError(
            "the run was begun with another 'execution': only budgets can be changed",
            fix="Begin a new run with the file, or use --resume without a file",
        )
    if _without_budgets(file.to_record()) != _without_budgets(run.to_record()):
        raise UsageError(
            "the file contains another experiment than the run: only budgets can be changed",
            fix="Begin a new run with the file, or use --resume without a file",
        )
