"""Checks which operators of an experiment can play, and leaves out rows of a matrix that cannot."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Mapping, Sequence

from gym_gui.controllers.engine.environment_seats import SeatsOf
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.core.config import Experiment
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.matrix_expansion import without
from gym_gui.core.experiment.matrix_table import MatrixTable, missing_in_words
from gym_gui.core.trusted.trust import NotAllowedError
from gym_gui.services.secrets import resolve_secrets

MOST_TRIED = 50
"""Largest number of operators for which a session each is started as a test before the run."""

_log = logging.getLogger(__name__)


def resolve_all(
    experiment: Experiment,
    played: Collection[str] = (),
    *,
    seats_of: SeatsOf,
    secrets: bool = True,
) -> tuple[list[ResolvedOperator], dict[str, str]]:
    """Check every operator against its environment, its workers and the secrets that it needs.

    Args:
        experiment: The experiment with the operators.
        played: Operators with recorded episodes, which cannot be left out.
        seats_of: Reads the slots and teams of environments.
        secrets: Whether the secrets must exist on this machine; ``False`` if players run on other machines.

    Returns:
        The operators that can play, and the reason for each row of a matrix that cannot, by operator.

    Raises:
        NotAllowedError: An operator names code that the user has not allowed.
        UsageError: An operator cannot play, and is no row of a matrix or has recorded episodes.
    """
    resolved: list[ResolvedOperator] = []
    problems: dict[str, str] = {}
    for operator in experiment.operators:
        try:
            found = resolve_operator(operator, seats_of=seats_of)
            for assignment in found.assignments.values() if secrets else ():
                resolve_secrets(assignment)
        except NotAllowedError:
            raise
        except UsageError as error:
            if experiment.matrix is None or operator.operator_id in played:
                raise
            problems[operator.operator_id] = why_not(experiment.matrix, operator.operator_id, error.message)
        else:
            resolved.append(found)
    return resolved, problems


def tried_of(operators: Sequence[ResolvedOperator]) -> list[str] | None:
    """Return operators of a large matrix that together cover each player on each task; ``None`` for all.

    A session of each is started as a test before the run. Starting a thousand sessions would take too long.
    """
    if len(operators) <= MOST_TRIED:
        return None
    seen, found = set[str](), list[str]()
    for each in operators:
        players = {
            json.dumps((each.env_id, player.to_record()), sort_keys=True)
            for player in each.assignments.values()
        }
        if players - seen:
            found.append(each.config.operator_id)
            seen |= players
    return found


def without_unstarted(
    experiment: Experiment, failed: Mapping[str, BaseException], first: BaseException, done: Collection[str]
) -> Experiment:
    """Return a matrix's experiment without the operators whose test session could not be started.

    Args:
        experiment: The experiment.
        failed: Why the session of an operator did not start, by operator.
        first: The error to raise if the operators cannot be left out.
        done: Operators with episodes on record, which cannot be left out.

    Raises:
        BaseException: ``first``, if the experiment has no matrix or plays until its comparisons are decided,
            or if an operator cannot be left out, or if no operator would remain.
    """
    problems = {
        name: error.message
        for name, error in failed.items()
        if isinstance(error, MosaicError) and not isinstance(error, NotAllowedError) and name not in done
    }
    table = experiment.matrix
    kept = not problems or len(problems) < len(failed) or len(problems) == len(experiment.operators)
    if table is None or experiment.execution.until != "all" or kept:
        raise first
    said = {name: why_not(table, name, message) for name, message in problems.items()}
    found = without(experiment, said)
    news = [row for row in table.without(said).rows if row.problem and row not in table.rows]
    for line in missing_in_words(news):
        _log.warning("Not played: %s.", line)
    return found


def why_not(table: MatrixTable, operator_id: str, message: str) -> str:
    """Return an error message about an operator as a message about the policy in the affected slot.

    The same policy may be in many rows, so the message does not name the operator.

    Args:
        table: The rows of the matrix.
        operator_id: The operator.
        message: The error message about the operator.
    """
    for mark in (": ", ", "):
        message = message.removeprefix(f"operator {operator_id!r}{mark}")
    for slot, policy in table.policies_of(operator_id).items():
        named = rf"(?<![\w/]){re.escape(slot)}(?![\w/])"
        if not re.search(named, message):
            continue
        message = re.sub(rf"^{named}[:,] | of {named}(?= )", "", message)
        return f"policy {policy!r}: {re.sub(f'cannot play {named}', 'cannot play here', message)}"
    return message
