"""Expands matrices in experiment files, and finds the slots of their environments."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.aliases import INLINE_SETTINGS
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.experiment_data import execution_from_data
from gym_gui.core.experiment.matrix import Lineup, Matrix, Seat, Variant
from gym_gui.core.experiment.matrix_data import matrix_from_data
from gym_gui.core.experiment.matrix_expansion import PlacesOf, SlotsAndTeams, expand
from gym_gui.core.trusted.trust import Origin
from gym_gui.core.validation import ConfigError, Plain, keys, mapping

Anchored = Callable[[WorkerAssignment], WorkerAssignment]
"""Type of a function that returns an assignment whose file paths are resolved."""


def expanded(
    data: object,
    origin: Origin,
    anchored: Anchored,
    where: PlacesOf | None = None,
    episodes: int | None = None,
) -> Experiment:
    """Return the experiment that the matrix of a file or run expands to.

    Args:
        data: Content of the file.
        origin: The file.
        anchored: Resolves the files that a player names.
        where: Returns the slots of an environment; by default, the environment is created.
        episodes: Number of episodes, which replaces ``num_episodes``.

    Raises:
        NotAllowedError: An environment is code that the user has not allowed.
        ConfigError: The data is invalid. The error names the invalid key.
    """
    content = _content(data)
    execution = execution_from_data(content.get("execution") or {}, episodes)
    execution.check_distinct()
    return expand(read_matrix(data, origin, anchored), where or places_of, execution)


def read_matrix(data: object, origin: Origin, anchored: Anchored) -> Matrix:
    """Return the matrix in a file or a run, without creating its environments.

    Args:
        data: Content of the file.
        origin: The file.
        anchored: Resolves the files that a player names.

    Raises:
        ConfigError: The data is invalid. The error names the invalid key.
    """
    content = _content(data)
    asked = content.get("matrix") or dict[str, object]()  # an empty one is refused below
    if isinstance(asked, Mapping) and "asked" in asked:
        content = mapping(cast("Mapping[str, object]", asked)["asked"], "matrix.asked")
    elif "operators" in content:
        raise ConfigError(
            "cannot be combined with 'operators'",
            where="matrix",
            fix="Write the operators as rows, or in another file",
        )
    given = keys(content, "", {key: key for key in ("policies", "matrix", "execution")})
    matrix = matrix_from_data(given.get("matrix") or {}, given.get("policies"), origin=origin)
    return with_anchors(matrix, anchored)


def _content(data: object) -> dict[str, object]:
    content = mapping(data, "experiment")
    inner = content.get("experiment")
    return mapping(cast(object, inner), "experiment") if isinstance(inner, Mapping) else content


def with_anchors(matrix: Matrix, anchored: Anchored) -> Matrix:
    """Return a matrix with resolved file paths; ``broken`` names each policy whose file is missing.

    Args:
        matrix: The matrix as read.
        anchored: Resolves the files that a player names.
    """
    found, broken = dict(matrix.policies), dict(matrix.broken)
    for name, player in matrix.policies.items():
        try:
            found[name] = anchored(player)
        except UsageError as error:
            broken[name] = f"policy {name!r}: {error.message}"
    changed = _Changes(matrix, found, anchored)
    return replace(
        matrix,
        policies=found,
        broken=broken,
        lineups=tuple(changed.lineup(each) for each in matrix.lineups),
        variants=tuple(changed.variant(each) for each in matrix.variants),
        written=changed.written(),
    )


class _Changes:
    """Resolves the files in a matrix's rows and settings that change policies."""

    def __init__(self, matrix: Matrix, policies: Mapping[str, WorkerAssignment], anchored: Anchored) -> None:
        self._matrix, self._policies, self._anchored = matrix, policies, anchored

    def lineup(self, lineup: Lineup) -> Lineup:
        return replace(lineup, sides=tuple(tuple(map(self._seat, side)) for side in lineup.sides))

    def _seat(self, seat: Seat) -> Seat:
        return replace(seat, changes=self._found(self._matrix.policy_of(seat), seat.changes))

    def variant(self, variant: Variant) -> Variant:
        of = {name: self._found(name, changes) for name, changes in variant.policies.items()}
        return replace(variant, policies=of)

    def written(self) -> Mapping[str, Plain]:
        """Return the matrix as written but with resolved files, so a run can be resumed from any folder."""
        written = dict(self._matrix.written)
        if "rows" in written:
            written["rows"] = self._seats(written["rows"])
        if settings := _table(written.get("settings")):
            written["settings"] = {name: self._setting(_table(each)) for name, each in settings.items()}
        return written

    def _setting(self, setting: dict[str, Plain]) -> dict[str, Plain]:
        of = _table(setting.get("policies"))
        found: dict[str, Plain] = {name: {**self._found(name, _table(each))} for name, each in of.items()}
        return {**setting, "policies": found} if found else setting

    def _seats(self, written: Plain) -> Plain:
        if isinstance(written, list):
            return [self._seats(each) for each in written]
        if not isinstance(written, dict):
            return written
        policy = written.get("policy")
        if isinstance(policy, str):
            rest = {key: value for key, value in written.items() if key != "policy"}
            return {"policy": policy, **self._found(self._matrix.policy_of(Seat(policy)), rest)}
        return {key: self._seats(value) for key, value in written.items()}

    def _found(self, policy: str, changes: Mapping[str, Plain]) -> Mapping[str, Plain]:
        player, nested = self._policies.get(policy), _table(changes.get("settings"))
        inline = {key: value for key, value in changes.items() if key in INLINE_SETTINGS}
        if player is None or not (inline or nested):
            return changes
        try:
            there = self._anchored(replace(player, settings={**nested, **inline})).settings
        except UsageError:
            return changes  # the run that plays with these changes reports the error
        own: dict[str, Plain] = {**changes, **{key: there.get(key, value) for key, value in inline.items()}}
        if nested:
            own["settings"] = {key: there.get(key, value) for key, value in nested.items()}
        return own


def _table(value: object) -> dict[str, Plain]:
    return cast("dict[str, Plain]", value) if isinstance(value, dict) else {}


def places_of(operator: OperatorConfig) -> SlotsAndTeams:
    """Return the slots of an operator's environment. The environment is created to list them, then closed.

    Raises:
        UsageError: The environment is unknown, not installed, not allowed, or cannot be created.
    """
    from gym_gui import envs  # imports NumPy and Gymnasium, which only an expansion needs

    made = envs.make(
        operator.task,
        env_name=operator.env_name or None,
        api=operator.api,
        env_kwargs=dict(operator.env_kwargs),
        origin=operator.origin,
    )
    with contextlib.closing(made) as environment:
        teams = operator.teams if operator.teams is not None else environment.teams
        return SlotsAndTeams(
            tuple(environment.adapter.possible_agents), {team: tuple(who) for team, who in teams.items()}
        )
