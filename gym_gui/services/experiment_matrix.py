"""Matrices in experiment files, and where one can sit in their environments."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment_data import execution_from_data
from gym_gui.core.matrix import Matrix
from gym_gui.core.matrix_data import matrix_from_data
from gym_gui.core.matrix_expansion import Places, PlacesOf, expand
from gym_gui.core.trust import Origin
from gym_gui.core.validation import ConfigError, keys, mapping

Anchored = Callable[[WorkerAssignment], WorkerAssignment]
"""Finds the files that a player names."""


def expanded(
    data: object,
    origin: Origin,
    anchored: Anchored,
    where: PlacesOf | None = None,
    episodes: int | None = None,
) -> Experiment:
    """The experiment that a file's matrix becomes, or once more that of a run.

    Args:
        data: What the file holds.
        origin: The file.
        anchored: Finds the files that a player names.
        where: Says where one can sit in an environment; by default it is made.
        episodes: Takes the place of ``num_episodes``.

    Raises:
        NotAllowedError: An environment is code that the person has not allowed.
        ConfigError: With the place of what is wrong.
    """
    content = _content(data)
    execution = execution_from_data(content.get("execution") or {}, episodes)
    execution.check_distinct()
    return expand(read_matrix(data, origin, anchored), where or places_of, execution)


def read_matrix(data: object, origin: Origin, anchored: Anchored) -> Matrix:
    """The matrix that a file or a run asks for; no environment of it is made.

    Args:
        data: What the file holds.
        origin: The file.
        anchored: Finds the files that a player names.

    Raises:
        ConfigError: With the place of what is wrong.
    """
    content = _content(data)
    asked = content.get("matrix") or dict[str, object]()  # what names nobody is told so
    if isinstance(asked, Mapping) and "asked" in asked:
        content = mapping(cast("Mapping[str, object]", asked)["asked"], "matrix.asked")
    elif "operators" in content:
        raise ConfigError(
            "does not go with 'operators'", where="matrix", fix="Write them as rows of it, or in another file"
        )
    given = keys(content, "", {key: key for key in ("policies", "matrix", "execution")})
    matrix = matrix_from_data(given.get("matrix") or {}, given.get("policies"), origin=origin)
    return with_anchors(matrix, anchored)


def _content(data: object) -> dict[str, object]:
    content = mapping(data, "experiment")
    inner = content.get("experiment")
    return mapping(cast(object, inner), "experiment") if isinstance(inner, Mapping) else content


def with_anchors(matrix: Matrix, anchored: Anchored) -> Matrix:
    """A matrix whose policies have the files that they name; those that cannot be had are noted.

    Args:
        matrix: As it was read.
        anchored: Finds what a player names.
    """
    found, broken = dict(matrix.policies), dict(matrix.broken)
    for name, player in matrix.policies.items():
        try:
            found[name] = anchored(player)
        except UsageError as error:
            broken[name] = f"policy {name!r}: {error.message}"
    return replace(matrix, policies=found, broken=broken)


def places_of(operator: OperatorConfig) -> Places:
    """Where one can sit in an operator's environment, which is made for that.

    Raises:
        UsageError: It is unknown, not installed, not allowed, or cannot be made so.
    """
    from gym_gui import envs  # NumPy and Gymnasium: only where a matrix is expanded

    made = envs.make(
        operator.task,
        env_name=operator.env_name or None,
        api=operator.api,
        env_kwargs=dict(operator.env_kwargs),
        origin=operator.origin,
    )
    with contextlib.closing(made) as environment:
        teams = operator.teams if operator.teams is not None else environment.teams
        return Places(
            tuple(environment.adapter.possible_agents), {team: tuple(who) for team, who in teams.items()}
        )
