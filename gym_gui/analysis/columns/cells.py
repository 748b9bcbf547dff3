"""Defines rows, columns and cells of result tables, for terminal, page, window and files alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Any, NamedTuple

from gym_gui.analysis.findings.summary import OperatorSummary, OptionSummary, TeamSummary
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words.wording import C, Locale


class ColumnOutput(Flag):
    """Outputs in which a column may appear: terminal, HTML page, window."""

    TERMINAL = auto()
    PAGE = auto()
    WINDOW = auto()


REPORTS = ColumnOutput.TERMINAL | ColumnOutput.PAGE
EVERYWHERE = REPORTS | ColumnOutput.WINDOW


@dataclass(frozen=True, slots=True)
class ResultRow:
    """Row of a result table: an operator, one of its teams, or an option that its managers chose."""

    operator: OperatorSummary
    team: TeamSummary | None = None
    option: OptionSummary | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the workers that play for the operator or team."""
        if self.team is None:
            return self.operator.kinds
        types = {slot.slot: slot.worker_type for slot in self.operator.slots}
        return tuple(dict.fromkeys(types[slot] for slot in self.team.slots if types.get(slot)))

    @property
    def competes(self) -> bool:
        """Whether the operator has several teams, so that a sum over all agents is meaningless."""
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
    """Return one row per team of the operator; empty if there are not several teams."""
    return [ResultRow(operator, team) for team in operator.teams] if len(operator.teams) > 1 else []


def options_of(operator: OperatorSummary) -> list[ResultRow]:
    """Return one row per option that managers of the operator chose."""
    return [ResultRow(operator, option=option) for option in operator.options]


class Cell(NamedTuple):
    """Content of one cell of a result table.

    Attributes:
        text: The text in its shortest form.
        full: A longer text, for outputs with more space; may be empty.
        below: A smaller line below the text, for outputs with more space; may be empty.
        alarming: Whether the cell is highlighted as a problem.
        kinds: Kinds of workers, for outputs that show badges.
    """

    text: str
    full: str = ""
    below: str = ""
    alarming: bool = False
    kinds: tuple[str, ...] = ()


def _always(_rows: Sequence[ResultRow], _place: ColumnOutput) -> bool:
    return True


@dataclass(frozen=True, slots=True, eq=False)
class ResultColumn:
    """Column of a result table.

    Attributes:
        heading: Heading of the column.
        cell: Function that returns the cell of a row.
        about: Tooltip of the heading.
        values: Function that returns an operator's values for files, by column name.
        places: Outputs in which the column appears.
        headings: Headings for outputs in which the heading differs.
        wanted: Function that returns whether an output shows the column for given rows.
        of_teams: Whether the column has content for rows of teams.
        of_options: Whether the column has content for rows of options.
        words: Whether the column holds words, which are left-aligned.
        tip: Function that returns the tooltip of a row's cell.
    """

    heading: str
    cell: Callable[[ResultRow, Locale], Cell]
    about: str = ""
    values: Callable[[OperatorSummary], Mapping[str, Any]] | None = None
    places: ColumnOutput = EVERYWHERE
    headings: Mapping[ColumnOutput, str] = field(default_factory=dict[ColumnOutput, str])
    wanted: Callable[[Sequence[ResultRow], ColumnOutput], bool] = _always
    of_teams: bool = False
    of_options: bool = False
    words: bool = False
    tip: Callable[[ResultRow], str | None] | None = None

    def heading_in(self, place: ColumnOutput) -> str:
        """Return the column's heading in an output."""
        return self.headings.get(place, self.heading)

    def show(self, row: ResultRow, locale: Locale = C) -> Cell:
        """Return a row's cell; empty for a team or an option for which the column has no content."""
        silent = (row.team is not None and not self.of_teams) or (
            row.option is not None and not self.of_options
        )
        return Cell("") if silent else self.cell(row, locale)


def columns_in(
    place: ColumnOutput, columns: Sequence[ResultColumn], rows: Sequence[ResultRow]
) -> list[ResultColumn]:
    """Return the columns that an output shows for given rows, from left to right."""
    return [column for column in columns if place in column.places and column.wanted(rows, place)]
