"""Slots whose worker asks a model: replays their recorded calls, or plays without asking the model.

A worker's manifest shows whether the worker supports this: by the settings ``cassette`` and
``cassette_file``, and by ``dry_run``. This module does not depend on a particular worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gym_gui.analysis.records.reader import Run
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import OnInvalid, WorkerAssignment
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.record_fields import count, number
from gym_gui.core.secret_refs import without_references
from gym_gui.core.trusted.subjects import Subject
from gym_gui.core.trusted.trust import allow
from gym_gui.core.validation import Plain
from gym_gui.workers.discovery import find_workers
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.plain_files import check_file

CASSETTE, CASSETTE_FILE, DRY_RUN = "cassette", "cassette_file", "dry_run"
CALLS = "calls.jsonl"
MONEY_BUDGET, TOKEN_BUDGET = "money_budget_usd", "token_budget"
_SAMPLES = "samples"
_EPISODE_COST, _EPISODE_TOKENS = "episode_cost_limit_usd", "episode_token_limit"

Change = Callable[[WorkerAssignment], WorkerAssignment]


def has_setting(assignment: WorkerAssignment, name: str) -> bool:
    """Return whether the slot's worker declares a setting of this name."""
    find_workers([assignment.worker_id])
    definition = WorkerTypeRegistry.get(assignment.worker_id)
    return definition is not None and any(setting.name == name for setting in definition.settings_schema)


def slots_with(operator: OperatorConfig, name: str) -> dict[str, WorkerAssignment]:
    """Return the slots of an operator whose worker has a setting of this name, with their assignments."""
    return {slot: a for slot, a in operator.resolved_slots().items() if has_setting(a, name)}


def settings_of(assignment: WorkerAssignment) -> Mapping[str, Any]:
    """Return a slot's settings, completed with the worker's defaults."""
    return WorkerTypeRegistry.require(assignment.worker_id).with_defaults(assignment.settings)


class Budgets(NamedTuple):
    """Cost limits of a slot that asks a model; 0 stands for no limit.

    Attributes:
        run: Limit for the whole run.
        episode: Limit for each episode.
        at_once: Requests that the slot has in flight at the same time in one episode.
    """

    run: Amount
    episode: Amount
    at_once: int = 1


def paying_slots(assignments: Mapping[str, WorkerAssignment]) -> dict[str, Budgets]:
    """Return the slots whose model calls cost money or tokens, with the budgets from their settings."""
    found: dict[str, Budgets] = {}
    for slot, assignment in assignments.items():
        if not has_setting(assignment, MONEY_BUDGET):
            continue
        settings = settings_of(assignment)
        if settings.get(CASSETTE) == "replay" or settings.get(DRY_RUN):
            continue
        run = _amount(settings, TOKEN_BUDGET, MONEY_BUDGET)
        episode = _amount(settings, _EPISODE_TOKENS, _EPISODE_COST)
        found[slot] = Budgets(run, episode, max(1, count(settings.get(_SAMPLES)) or 1))
    return found


def _amount(settings: Mapping[str, Any], tokens: str, usd: str) -> Amount:
    """Return the token and money amounts in two settings that the worker has not validated yet."""
    return Amount(count(settings.get(tokens)) or 0, max(0.0, number(settings.get(usd)) or 0.0))


def with_limits(resolved: ResolvedOperator, execution: ExecutionConfig) -> ResolvedOperator:
    """Return an operator whose paying slots get the run's budgets if they have no budgets themselves.

    So a worker can refuse a budget that it cannot observe before anything is played.
    """
    given = {MONEY_BUDGET: execution.money_budget_usd, TOKEN_BUDGET: execution.token_budget}

    def change(assignment: WorkerAssignment) -> WorkerAssignment:
        if not has_setting(assignment, MONEY_BUDGET):
            return assignment
        settings = settings_of(assignment)
        more = {name: budget for name, budget in given.items() if budget and not settings.get(name)}
        return replace(assignment, settings={**assignment.settings, **more})

    if not any(given.values()):
        return resolved
    assignments = {slot: change(assignment) for slot, assignment in resolved.assignments.items()}
    return replace(resolved, config=_changed(resolved.config, change), assignments=assignments)


def replayed(experiment: Experiment, run: Run) -> Experiment:
    """Return the experiment with every model reply taken from the recorded calls of a run.

    No API keys are needed then.

    Raises:
        UsageError: No slot of the experiment asks a model, or the run has no calls of an operator.
    """
    if not any(slots_with(operator, CASSETTE) for operator in experiment.operators):
        raise UsageError(
            f"no slot of {run.path} asks a model: there are no calls to replay",
            fix=f"Repeat the run with `mosaic run {run.path}`, or watch it with `mosaic replay {run.path}`",
        )
    return _with_each(experiment, lambda operator: _from(_calls_of(run, operator)))


def with_recorded_replies(resolved: ResolvedOperator, folder: Path) -> ResolvedOperator:
    """Return an operator that reuses the recorded model replies of the run that is resumed.

    The calls of an episode that was cut off are on record. The same prompt at the same step of the same
    episode gets the recorded reply; any other prompt goes to the server.

    Args:
        resolved: The operator.
        folder: The run folder that is resumed.

    Raises:
        UsageError: The record of the calls is a link or no regular file.
    """
    file = _calls_file(folder, resolved.config.operator_id)

    def change(assignment: WorkerAssignment) -> WorkerAssignment:
        if not has_setting(assignment, CASSETTE) or settings_of(assignment).get(CASSETTE) != "record":
            return assignment
        more: dict[str, Plain] = {CASSETTE: "resume", CASSETTE_FILE: str(file)}
        return replace(assignment, settings={**assignment.settings, **more})

    config = _changed(resolved.config, change)
    if config == resolved.config or not _has_calls(file, folder):
        return resolved
    _allow_calls(file)
    assignments = {slot: change(assignment) for slot, assignment in resolved.assignments.items()}
    return replace(resolved, config=config, assignments=assignments)


def _calls_of(run: Run, operator: OperatorConfig) -> Path | None:
    if not slots_with(operator, CASSETTE):
        return None
    recorded = run.operators.get(operator.operator_id)
    file = None if recorded is None else _calls_file(run.path, operator.operator_id)
    if file is None or not _has_calls(file, run.path):
        raise UsageError(
            f"{run.path} has no recorded calls of operator {operator.operator_id!r}",
            fix="Give a run whose model slots have played with cassette 'record'",
        )
    return file


def _calls_file(run: Path, operator_id: str) -> Path:
    # The run folder may be reached through a link. Its content is untrusted and must not be a link.
    return run.resolve() / "operators" / operator_id / CALLS


def _has_calls(file: Path, run: Path) -> bool:
    """Return whether a run has a record of an operator's calls.

    Raises:
        UsageError: The path is a link or no file, or the file cannot be read.
    """
    try:
        check_file(file, inside=run.resolve())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {error.strerror}", fix="Give a run folder that contains this file"
        ) from error
    return True


def _allow_calls(file: Path) -> None:
    allow([Subject("file", str(file))])  # the person has named the run, and it is a file of the run


def _from(file: Path | None) -> Change:
    def change(assignment: WorkerAssignment) -> WorkerAssignment:
        if not has_setting(assignment, CASSETTE):
            return assignment
        _allow_calls(Path(str(file)))
        played: dict[str, Plain] = {CASSETTE: "replay", CASSETTE_FILE: str(file)}
        return replace(assignment, settings={**without_references(assignment.settings), **played})

    return change


def dry(experiment: Experiment) -> Experiment:
    """Return the experiment with random legal actions in slots that ask models.

    Their prompts are recorded.
    """

    def change(assignment: WorkerAssignment) -> WorkerAssignment:
        if not has_setting(assignment, DRY_RUN):
            return assignment
        settings = {**without_references(assignment.settings), DRY_RUN: True}
        return replace(assignment, settings=settings, on_invalid=OnInvalid(then="random_legal"))

    return _with_each(experiment, lambda operator: change)


def _with_each(experiment: Experiment, change_of: Callable[[OperatorConfig], Change]) -> Experiment:
    def operators() -> Iterator[OperatorConfig]:
        for operator in experiment.operators:
            yield _changed(operator, change_of(operator))

    return replace(experiment, operators=list(operators()))


def _changed(operator: OperatorConfig, change: Change) -> OperatorConfig:
    return replace(
        operator,
        workers={agent: change(a) for agent, a in operator.workers.items()},
        manager={agent: change(a) for agent, a in operator.manager.items()},
    )
