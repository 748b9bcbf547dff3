"""Classes for columns of results, independent of where they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Any, NamedTuple

from gym_gui.analysis.findings.summary import OperatorSummary, OptionSummary, TeamSummary
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words.wording import C, Locale


class Place(Flag):
    """Places where a column may be shown."""

    TERMINAL = auto()
    PAGE = auto()
    WINDOW = auto()


REPORTS = Place.TERMINAL | Place.PAGE
EVERYWHERE = REPORTS | Place.WINDOW


@dataclass(frozen=True, slots=True)
class ResultRow:
    """Row of results: an operator, one of its teams, or an option that its managers chose."""

    operator: OperatorSummary
    team: TeamSummary | None = None
    option: OptionSummary | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the workers that play."""
        if self.team is None:
            return self.operator.kinds
        types = {slot.slot: slot.worker_type for slot in self.operator.slots}
        return tuple(dict.fromkeys(types[slot] for slot in self.team.slots if types.get(slot)))

    @property
    def competes(self) -> bool:
        """Whether teams play against each other, so that the sum over all agents says nothing."""
        return len(self.operator.teams) > 1

    @property
    def estimate(self) -> Estimate | None:
        """Estimate by which the row is compared; ``None`` if there is none."""
        if self.option is not None:
            return None
        if self.team is not None:
            return self.team.score or self.team.iqm
        return None if self.competes else self.operator.iqm


def teams_of(operator: OperatorSummary) -> list[ResultRow]:
    """Return a row for each team, if there are several."""
    return [ResultRow(operator, team) for team in operator.teams] if len(operator.teams) > 1 else []


def options_of(operator: OperatorSummary) -> list[ResultRow]:
    """Return a row for each option that was chosen."""
    return [ResultRow(operator, option=option) for option in operator.options]


class Cell(NamedTuple):
    """Content of a cell.

    Attributes:
        text: The text in its shortest form.
        full: A longer text, for places with more space.
        below: A smaller line below the text, for places with more space.
        alarming: Whether the cell is highlighted.
        kinds: Kinds of workers, for places that show badges.
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
    """Column of results.

    Attributes:
        heading: Heading of the column.
        cell: Function that returns the cell of a row.
        about: Tooltip of the heading.
        values: Function that returns an operator's values for files, by column name.
        places: Places where the column is shown.
        headings: Other headings for some places.
        wanted: Function that says whether the column has content for given rows in a place.
        of_teams: Whether the column has content for rows of teams.
        of_options: Whether the column has content for rows of options.
        words: Whether the column holds words, which are left-aligned.
        tip: Function that returns the tooltip of a row's cell.
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
        """Return the heading in a place."""
        return self.headings.get(place, self.heading)

    def show(self, row: ResultRow, locale: Locale = C) -> Cell:
        """Return a row's cell; empty for a team or an option for which the column has no content."""
        silent = (row.team is not None and not self.of_teams) or (
            row.option is not None and not self.of_options
        )
        return Cell("") if silent else self.cell(row, locale)


def columns_in(
    place: Place, columns: Sequence[ResultColumn], rows: Sequence[ResultRow]
) -> list[ResultColumn]:
    """Return the columns that a place shows for these rows, from left to right."""
    return [column for column in columns if place in column.places and column.wanted(rows, place)]
