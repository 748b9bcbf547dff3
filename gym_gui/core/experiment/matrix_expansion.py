"""Expands a matrix to ordinary operators, from the file's request and the slots of its environments."""

from __future__ import annotations

import contextlib
import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.document_rows import ROLES
from gym_gui.core.experiment.matrix import Lineup, Matrix, Seat, Variant, changed
from gym_gui.core.experiment.matrix_table import MatrixRow, MatrixTable, one_line
from gym_gui.core.trusted.trust import NotAllowedError
from gym_gui.core.validation import ConfigError, join, key_place, short_id, under


@dataclass(frozen=True)
class SlotsAndTeams:
    """Slots and teams of an environment.

    Attributes:
        slots: All slots, in the environment's order.
        teams: Slots of each team.
    """

    slots: tuple[str, ...]
    teams: Mapping[str, tuple[str, ...]]


PlacesOf = Callable[[OperatorConfig], SlotsAndTeams]
"""Type of a function that returns the slots of an operator's environment, or raises ``UsageError``."""


class _CannotBePlayed(Exception):
    """Error for a row that cannot be played; the message contains the reason."""


def expand(matrix: Matrix, places_of: PlacesOf, execution: ExecutionConfig) -> Experiment:
    """Return the experiment whose operators play a matrix.

    Rows that are the same match share an operator. A row that cannot be played has no operator, but a
    reason.

    Args:
        matrix: The requested matrix.
        places_of: Called once for each environment.
        execution: Number of episodes, seeds and speed.

    Raises:
        NotAllowedError: An environment is code that the user has not allowed.
        ConfigError: No row can be played, or two rows have the same name.
    """
    return _Expansion(matrix, places_of).run(execution)


def everybody(matrix: Matrix) -> list[OperatorConfig]:
    """Return operators with all players of each environment of a matrix, to find out what the players need.

    These operators cannot be played.

    Args:
        matrix: The matrix as the file has it.

    Returns:
        For each task and setting an operator in which each player has its own slot. Players that cannot be
            resolved are left out.
    """
    return _Expansion(matrix, _nowhere).everybody()


def _nowhere(operator: OperatorConfig) -> SlotsAndTeams:
    raise UsageError(f"{operator.task} is not made")


def without(experiment: Experiment, problems: Mapping[str, str]) -> Experiment:
    """Return a matrix's experiment without operators that cannot play; their rows contain the reason.

    Args:
        experiment: The experiment.
        problems: Reason by operator that cannot play.

    Raises:
        ConfigError: No operators are left, or too few.
    """
    assert experiment.matrix is not None
    left = [operator for operator in experiment.operators if operator.operator_id not in problems]
    table = experiment.matrix.without(problems)
    if not left:
        raise _nothing_left(table)
    return Experiment(left, experiment.execution, table)


def _nothing_left(table: MatrixTable) -> ConfigError:
    problems = list(dict.fromkeys(row.problem for row in table.missing))
    left = len(problems) - 1
    more = f" (and {left} more reason{'s' * (left != 1)})" if left else ""
    return ConfigError(f"no row can be played: {problems[0]}{more}", where="matrix")


def _unknown_policy(name: str, policies: Mapping[str, object]) -> str:
    if name in ROLES:
        return f"no policy is called {name!r}, and 'roles' names none"
    near = difflib.get_close_matches(name, list(policies), n=1, cutoff=0.6)
    return f"no policy is called {name!r}{f' (did you mean {near[0]!r}?)' if near else ''}"


def _id(name: str) -> str:
    """Return a row's name as the folder name of its operator."""
    return short_id(re.sub(r"[^\w.-]+", "_", name))


class _Expansion:
    def __init__(self, matrix: Matrix, places_of: PlacesOf) -> None:
        self._matrix, self._places_of = matrix, places_of
        self._places: dict[str, SlotsAndTeams | str] = {}
        self._operators: dict[str, OperatorConfig] = {}

    def run(self, execution: ExecutionConfig) -> Experiment:
        matrix = self._matrix
        rows = [
            self._row(lineup, name, variant)
            for lineup in matrix.lineups
            for name in matrix.tasks
            for variant in matrix.variants
        ]
        table = MatrixTable(matrix.asked(), tuple(rows))
        if not self._operators:
            raise _nothing_left(table)
        sides = (self._where(operator).teams for operator in self._operators.values())
        if execution.until == "decided" and any(len(teams) > 1 for teams in sides):
            raise ConfigError(
                "'decided' compares operators, but the sides of a matrix's rows are compared within each row",
                where="execution.until",
                fix="Leave 'until' out",
            )
        return Experiment(list(self._operators.values()), execution, table)

    def everybody(self) -> list[OperatorConfig]:
        seats = [seat for lineup in self._matrix.lineups for side in lineup.sides for seat in side]
        found: list[OperatorConfig] = []
        for task in self._matrix.tasks:
            for variant in self._matrix.variants:
                players: dict[str, WorkerAssignment] = {}
                for i, seat in enumerate(seats):
                    with contextlib.suppress(_CannotBePlayed):
                        players[f"{i}"] = self._player(seat, variant)
                found.append(replace(self._empty(task, variant, "players", "Players"), workers=players))
        return found

    def _row(self, lineup: Lineup, task: str, variant: Variant) -> MatrixRow:
        several = [part for part in (task, variant.name) if part]
        name = ".".join([lineup.name, *several])
        title = ", ".join([lineup.title, *([variant.name] if variant.name else [])])
        played = str(self._matrix.tasks[task]["task"])
        row = MatrixRow(name, title, played, self._in_words(lineup), setting=variant.name)
        try:
            operator, seated = self._operator(lineup, task, variant, _id(name), title)
        except _CannotBePlayed as reason:
            return replace(row, problem=one_line(reason))
        # Rows with the same players and environment are the same match, whatever their names.
        record = {k: v for k, v in operator.to_record().items() if k not in ("id", "name")}
        known = self._operators.setdefault(json.dumps(record, sort_keys=True), operator)
        if not lineup.everywhere:  # sides get the environment's names of teams, in its order
            teams = self._where(operator).teams or {"": ()}
            listed = dict(zip(lineup.teams or teams, row.sides.values(), strict=True))
            row = replace(row, sides={team: listed[team] for team in teams})
        slots = {slot: self._matrix.policy_of(seat) for slot, seat in seated.items()}
        return replace(row, operator=known.operator_id, slots=slots)

    def _in_words(self, lineup: Lineup) -> dict[str, tuple[str, ...]]:
        """Return the players' names by side as the file has it, as the environment's teams may be unknown."""
        named = [tuple(seat.named(self._matrix.policy_of(seat)) for seat in side) for side in lineup.sides]
        if lineup.everywhere:
            return {"": named[0]}
        return dict(zip(lineup.teams or [f"{i + 1}" for i in range(len(named))], named, strict=True))

    def _operator(
        self, lineup: Lineup, task: str, variant: Variant, called: str, title: str
    ) -> tuple[OperatorConfig, dict[str, Seat]]:
        """Return the operator of a row, and the seat in each of its slots."""
        seats = "fixed" if lineup.everywhere or len(lineup.sides) < 2 else "swap"
        empty = self._empty(task, variant, called, title, seats)
        seated = self._seated(lineup, self._where(empty), empty.task)
        workers = {slot: self._player(seat, variant) for slot, seat in seated.items()}
        operator = replace(empty, workers=workers)
        operator.check_complete()
        return operator, seated

    def _empty(
        self, task: str, variant: Variant, called: str, title: str, seats: str = "fixed"
    ) -> OperatorConfig:
        """Return an operator without players."""
        given: dict[str, Any] = {"seats": seats, **self._matrix.tasks[task], **variant.environment}
        given["env_kwargs"] = {
            **self._matrix.tasks[task].get("env_kwargs", {}),
            **variant.environment.get("env_kwargs", {}),
        }
        with under(join("matrix.tasks", key_place(task)) if task else "matrix"):
            return OperatorConfig(called, title, origin=self._matrix.origin, **given)

    def _where(self, operator: OperatorConfig) -> SlotsAndTeams:
        """Return the environment slots of an operator, requested only once for the same environment."""
        made = (operator.task, operator.env_name, dict(operator.env_kwargs), operator.api)
        teams = None if operator.teams is None else {team: list(who) for team, who in operator.teams.items()}
        key = json.dumps((*made, teams), sort_keys=True)
        if key not in self._places:
            try:
                self._places[key] = self._places_of(operator)
            except NotAllowedError:
                raise
            except UsageError as error:
                self._places[key] = str(error)
        found = self._places[key]
        if isinstance(found, str):
            raise _CannotBePlayed(found)
        return found

    def _seated(self, lineup: Lineup, places: SlotsAndTeams, task: str) -> dict[str, Seat]:
        """Return the seat that plays each slot."""
        if lineup.everywhere:
            return dict.fromkeys(places.slots, lineup.sides[0][0])
        teams = places.teams or {"": places.slots}
        sides = dict(zip(lineup.teams or teams, lineup.sides, strict=False))
        if len(lineup.sides) != len(teams) or set(sides) != set(teams):
            has = f"has {', '.join(teams)}" if len(teams) > 1 else "has one side"
            wanted = ", ".join(lineup.teams) or f"{len(lineup.sides)} sides"
            raise _CannotBePlayed(f"it needs {wanted}, but {task} {has}")
        seated: dict[str, Seat] = {}
        for team, slots in teams.items():
            side = sides[team] * len(slots) if len(sides[team]) == 1 else sides[team]
            if len(side) != len(slots):
                raise _CannotBePlayed(
                    f"it has {len(side)} players for {team or 'the team'} of {task}, which has {len(slots)}"
                )
            seated |= dict(zip(slots, side, strict=True))
        return {slot: seated[slot] for slot in places.slots if slot in seated}

    def _player(self, seat: Seat, variant: Variant) -> WorkerAssignment:
        matrix, name = self._matrix, self._matrix.policy_of(seat)
        if name in matrix.broken:
            raise _CannotBePlayed(matrix.broken[name])
        if name not in matrix.policies:
            raise _CannotBePlayed(_unknown_policy(name, matrix.policies))
        player = matrix.policies[name]
        if name in variant.policies:
            player = changed(
                player, variant.policies[name], f"matrix.settings.{variant.name}.policies.{name}"
            )
        return changed(player, seat.changes, f"matrix: {name}") if seat.changes else player
