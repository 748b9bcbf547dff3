"""What a column of results is, whatever shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Any, NamedTuple

from gym_gui.analysis.findings.summary import OperatorSummary, OptionSummary, TeamSummary
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words.wording import C, Locale


class Place(Flag):
    """Where a column is shown."""

    TERMINAL = auto()
    PAGE = auto()
    WINDOW = auto()


REPORTS = Place.TERMINAL | Place.PAGE
EVERYWHERE = REPORTS | Place.WINDOW


@dataclass(frozen=True, slots=True)
class ResultRow:
    """An operator, one of its teams, or an option that its managers have chosen."""

    operator: OperatorSummary
    team: TeamSummary | None = None
    option: OptionSummary | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of worker that play."""
        if self.team is None:
            return self.operator.kinds
        types = {slot.slot: slot.worker_type for slot in self.operator.slots}
        return tuple(dict.fromkeys(types[slot] for slot in self.team.slots if types.get(slot)))

    @property
    def competes(self) -> bool:
        """Whether the sum over all agents says nothing: teams play against each other."""
        return len(self.operator.teams) > 1

    @property
    def estimate(self) -> Estimate | None:
        """What it is compared by."""
        if self.option is not None:
            return None
        if self.team is not None:
            return self.team.score or self.team.iqm
        return None if self.competes else self.operator.iqm


def teams_of(operator: OperatorSummary) -> list[ResultRow]:
    """A row for each team, where there are several."""
    return [ResultRow(operator, team) for team in operator.teams] if len(operator.teams) > 1 else []


def options_of(operator: OperatorSummary) -> list[ResultRow]:
    """A row for each option that was chosen."""
    return [ResultRow(operator, option=option) for option in operator.options]


class Cell(NamedTuple):
    """What stands in a cell.

    Attributes:
        text: The text, as short as it can be said.
        full: What stands there instead where there is room.
        below: A smaller line below it, where there is room.
        alarming: Whether it wants to be seen.
        kinds: Kinds of worker, for places that have badges for them.
    """

    text: str
    full: str = ""
    below: str = ""
    alarming: bool = False
    kinds: tuple[str, ...] = ()


def _always(_rows: Sequence[ResultRow], _place: Place) -> bool:
    return True


@dataclass(frozen=True, slots=True, eq=False)
class ResultColumn:
    """One column.

    Attributes:
        heading: Its heading.
        cell: What stands in a row's cell.
        about: What it is, said where one points at the heading.
        values: What files hold of an operator, by the name of their column; files are the same everywhere.
        places: Where it is shown.
        headings: Other headings, where it is called otherwise.
        wanted: Whether it says something of these rows in a place.
        of_teams: Whether it says something of teams that stand below their operator.
        of_options: Whether it says something of options.
        words: Whether it holds words, which stand at the left.
        tip: What is said where one points at a cell.
    """

    heading: str
    cell: Callable[[ResultRow, Locale], Cell]
    about: str = ""
    values: Callable[[OperatorSummary], Mapping[str, Any]] | None = None
    places: Place = EVERYWHERE
    headings: Mapping[Place, str] = field(default_factory=dict[Place, str])
    wanted: Callable[[Sequence[ResultRow], Place], bool] = _always
    of_teams: bool = False
    of_options: bool = False
    words: bool = False
    tip: Callable[[ResultRow], str | None] | None = None

    def heading_in(self, place: Place) -> str:
        """What it is called there."""
        return self.headings.get(place, self.heading)

    def show(self, row: ResultRow, locale: Locale = C) -> Cell:
        """A row's cell; empty for a team or an option of which it says nothing."""
        silent = (row.team is not None and not self.of_teams) or (
            row.option is not None and not self.of_options
        )
        return Cell("") if silent else self.cell(row, locale)


def columns_in(
    place: Place, columns: Sequence[ResultColumn], rows: Sequence[ResultRow]
) -> list[ResultColumn]:
    """The columns that a place shows of these rows, from left to right."""
    return [column for column in columns if place in column.places and column.wanted(rows, place)]
