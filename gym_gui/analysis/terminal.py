"""The report as tables in a terminal, plain where there is none: of a study, a tournament, cross-play.

What is said lies beside it, without rich: pages and the window say it too.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gym_gui.analysis import wording
from gym_gui.analysis.algorithm_text import columns_of as algorithm_columns
from gym_gui.analysis.algorithm_text import scale_lines, tables_of, values_of
from gym_gui.analysis.algorithm_verdicts import others_of, verdicts_of
from gym_gui.analysis.call_columns import CALL_COLUMNS
from gym_gui.analysis.cells import Place, ResultColumn, ResultRow, columns_in, options_of, teams_of
from gym_gui.analysis.comparison import Verdict
from gym_gui.analysis.cross_play import CrossPlay, SeatTeam, Team
from gym_gui.analysis.cross_play_text import (
    LEGEND,
    TRAINED_LEGEND,
    heading,
    matrix_title,
    shown,
    trained_columns,
)
from gym_gui.analysis.cross_play_text import columns_of as mate_columns
from gym_gui.analysis.findings import Findings
from gym_gui.analysis.matrix_rows import MATRIX_COLUMNS
from gym_gui.analysis.option_columns import OPTION_COLUMNS
from gym_gui.analysis.plain_columns import Column, Row, wanted_of
from gym_gui.analysis.result_columns import OPERATOR_COLUMNS
from gym_gui.analysis.setting_rows import SETTING_COLUMNS
from gym_gui.analysis.standings import Standings
from gym_gui.analysis.standings_text import columns_of, made, rating_legend, seat_lines
from gym_gui.analysis.summary import Summary
from gym_gui.analysis.summary_numbers import Estimate
from gym_gui.analysis.team_columns import TEAM_COLUMNS
from gym_gui.analysis.text import (
    SHOWN_FAILURES,
    all_notes,
    by_task,
    clean,
    failure_in_words,
    incomplete_in_words,
    looks_in_words,
)
from gym_gui.analysis.trainings import AlgorithmReport
from gym_gui.analysis.wording import whole
from gym_gui.core.terminal import console as terminal_console

MOST_WITH_INTERVALS = 4
MOST_IN_MATRIX = 12
"""Policies of a matrix in a terminal; of more, the page and ``tournament.json`` have it."""
_NAME_AT_LEAST = 14
_BETWEEN = 2
"""Blanks between two columns."""


def render_text(summary: Summary, console: Console) -> None:
    """Print the report.

    Args:
        summary: What to say.
        console: Where; colours and width are its own.
    """
    for task, verdicts in summary.verdicts_by_task.items():
        if task:
            console.print(Text(f"{clean(task)}:"))
        for said in map(_verdict, verdicts):
            console.print(Padding(said, (0, 0, 0, 2), expand=False) if task else said)
    print_notes(console, summary.missing)
    if summary.verdicts or summary.missing:
        console.print()
    if summary.matrix:
        print_columns(console, MATRIX_COLUMNS, summary.matrix, "Rows of the matrix")
        console.print()
    if summary.settings:
        print_columns(console, SETTING_COLUMNS, summary.settings, "Settings, each beside the first")
        console.print()
    for task, operators in by_task(summary).items():
        rows = [ResultRow(operator) for operator in operators]
        _print(console, task, OPERATOR_COLUMNS, rows)
        for operator in operators:
            _print(console, f"Teams of {operator.name}", TEAM_COLUMNS, teams_of(operator))
            _print(console, f"Options of {operator.name}", OPTION_COLUMNS, options_of(operator))
        _print(console, "Calls to models", CALL_COLUMNS, [row for row in rows if row.operator.calls])
    _render_failures(summary, console)
    print_notes(console, all_notes(summary, missing=False))
    console.print(
        Text(
            "IQM: mean of the middle half. Intervals: 95 %, bootstrap over seeds; shares: Clopper-Pearson. "
            "p: paired sign-flip permutation; scores of two values: McNemar mid-p.",
            style="dim",
        )
    )
    if looks := looks_in_words(summary):
        console.print(Text(looks, style="dim"))


def text_of(summary: Summary, width: int | None = None) -> str:
    """The report without colours, as the text that ``mosaic report`` prints.

    Args:
        summary: What to say.
        width: Columns; by default those of ``COLUMNS``, else 100.
    """
    buffer = io.StringIO()
    render_text(summary, terminal_console(file=buffer, width=width))
    return buffer.getvalue()


def result_table(title: str) -> Table:
    """A table as reports have it, empty as yet."""
    return Table(
        title=Text(clean(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


class _Column(NamedTuple):
    """A column as it is printed.

    Attributes:
        heading: Its heading.
        words: Whether it holds words, which may be broken over lines; half a number would be another one.
        cells: A text for each row.
        long: Whether it takes the width that is left.
        spare: Whether it stands behind the others where one line has no room for all.
    """

    heading: str
    words: bool
    cells: Sequence[str]
    long: bool = False
    spare: bool = False

    @property
    def width(self) -> int:
        """Columns of the terminal that it takes when nothing of it is broken over lines."""
        lines = [line for text in (self.heading, *self.cells) for line in text.splitlines()]
        return max(map(cell_len, lines), default=0)

    @property
    def least(self) -> int:
        """Columns that it takes at least."""
        return min(self.width, _NAME_AT_LEAST) if self.words or self.long else self.width


def print_columns(
    console: Console, columns: Sequence[Column[Row]], rows: Sequence[Row], title: str = ""
) -> None:
    """Print a table of one text a cell."""
    shown = [
        _Column(each.heading, each.words, [clean(each.show(row)) for row in rows], spare=bool(each.spare))
        for each in wanted_of(columns, rows)
    ]
    _print_parts(console, title, shown)


def _parts(columns: Sequence[_Column], width: int) -> list[list[_Column]]:
    """The columns of each of the tables, one below the other, that have room; each begins with the first."""
    first, *others = columns
    room = width - first.least
    if sum(column.least + _BETWEEN for column in others) > room:  # what is spare gives way, and comes last
        others.sort(key=lambda column: column.spare)
    parts: list[list[_Column]] = [[first]]
    left = room
    for column in others:
        if column.least + _BETWEEN > left and len(parts[-1]) > 1:
            parts.append([first])
            left = room
        parts[-1].append(column)
        left -= column.least + _BETWEEN
    return parts


def _print_parts(console: Console, title: str, columns: Sequence[_Column], *, summed: bool = False) -> None:
    """Print a table, as several with the first column repeated where it is wider than the terminal.

    Args:
        console: Where.
        title: Above the first of them.
        columns: Nothing of them is left out.
        summed: Whether the last row sums up the others.
    """
    for number, part in enumerate(_parts(columns, console.width)):
        if number:
            console.print()
        table = result_table(title if number == 0 else "")
        taken = sum(column.least + _BETWEEN for column in part) - _BETWEEN
        for i, column in enumerate(part):
            justify = "left" if column.words else "right"
            if column.long:
                table.add_column(column.heading, overflow="fold", ratio=1 + (i > 0), min_width=12)
            else:
                fits = taken <= console.width and not column.words
                table.add_column(column.heading, justify=justify, overflow="fold", no_wrap=fits)
        rows = list(zip(*(column.cells for column in part), strict=True))
        for i, row in enumerate(rows):
            if summed and i == len(rows) - 1:
                table.add_section()
            table.add_row(*map(Text, row))
        console.print(table)


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what weakens a report, a line each."""
    for note in notes:
        console.print(Text.assemble(("Note: ", "yellow"), clean(note)))


def _print(console: Console, title: str, columns: Sequence[ResultColumn], rows: Sequence[ResultRow]) -> None:
    """Print a table, where there are rows; what is long takes the width that is left."""
    if not rows:
        return
    shown = [
        _Column(
            column.heading_in(Place.TERMINAL),
            column.words,
            [clean(column.show(row).text) for row in rows],
            column.long,
            column.spare,
        )
        for column in columns_in(Place.TERMINAL, columns, rows)
    ]
    _print_parts(console, title, shown)
    console.print()


def _render_failures(summary: Summary, console: Console) -> None:
    if not summary.failures:
        return
    console.print(Text(f"{incomplete_in_words(summary)}:", style="bold red"))
    for failure in summary.failures[:SHOWN_FAILURES]:
        console.print(Text(f"  {failure_in_words(failure)}"))
    if (rest := len(summary.failures) - SHOWN_FAILURES) > 0:
        console.print(Text(f"  ... and {whole(rest)} more, all in summary.json"))


def _verdict(verdict: Verdict) -> Text:
    """The claim in bold, and in colour where it is decided; then its numbers."""
    style = "bold green" if verdict.decided else "bold"
    return Text.assemble((clean(verdict.claim), style), clean(verdict.detail), ".")


def render_algorithms(report: AlgorithmReport, console: Console) -> None:
    """Print a report on algorithms.

    Args:
        report: What to say.
        console: Where; colours and width are its own.
    """
    for verdict in verdicts_of(report):
        console.print(_verdict(verdict))
    console.print()
    render_tables(report, console)


def render_tables(report: AlgorithmReport, console: Console) -> None:
    """Print what stands below the verdicts."""
    for title, rows in tables_of(report):
        console.print(Text(clean(title), style="bold"))
        print_columns(console, algorithm_columns(rows), rows)
        for row in rows:
            if row.trained is not None and row.trained.mean.values:
                console.print(Text(clean(values_of(row.trained))))
        console.print()
    for verdict in others_of(report):
        console.print(Text(clean(str(verdict))))
    for line in scale_lines(report):
        console.print(Text(clean(line)))
    print_notes(console, report.notes)
    console.print(
        Text(
            "The unit is the training, not the episode. Intervals: 95 %, bootstrap over trainings. "
            "p: two-sample permutation test.",
            style="dim",
        )
    )


def print_said(found: Findings, console: Console, missing: Sequence[str] = ()) -> None:
    """Print what comes first: verdicts, what goes with them, and what is not there."""
    for verdict in found.said:
        console.print(_verdict(verdict))
    for sentence in found.remarks:
        console.print(Text(clean(sentence)))
    print_notes(console, missing)
    console.print()


def render_standings(standings: Standings, console: Console, missing: Sequence[str] = ()) -> None:
    """Print a tournament.

    Args:
        standings: What to say.
        console: Where; colours and width are its own.
        missing: What is not there.
    """
    print_said(standings, console, missing)
    title = f"{standings.task}: {standings.schedule}, "
    title += f"{whole(standings.games)} games on {whole(standings.seeds)} seeds"
    console.print(Text(clean(title), style="bold"))
    print_columns(console, columns_of(standings.policies), standings.policies)
    console.print()
    _points(standings, console)
    for sentence in seat_lines(standings):
        console.print(Text(clean(sentence)))
    if standings.algorithms is not None:
        console.print()
        render_tables(standings.algorithms, console)
    print_notes(console, standings.notes)
    console.print(Text(rating_legend(standings.policies), style="dim"))


def _points(standings: Standings, console: Console) -> None:
    names = [standing.policy for standing in standings.policies]
    if len(names) > MOST_IN_MATRIX or not standings.payoffs:
        return
    console.print(Text("Points of the row against the column", style="bold"))
    few = len(names) <= MOST_WITH_INTERVALS

    def show(cell: Estimate) -> str:
        return made(cell) if few else wording.percent(cell.value)

    rows = [[standings.payoff(name, other) if name != other else None for other in names] for name in names]
    _print_matrix(console, names, [["" if cell is None else show(cell) for cell in row] for row in rows])


def _print_matrix(console: Console, names: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Rows under their numbers and names, columns under their numbers."""
    first = _Column("", True, [clean(f"{i + 1} {name}") for i, name in enumerate(names)])
    others = [_Column(str(i + 1), False, [row[i] for row in cells]) for i in range(len(names))]
    _print_parts(console, "", [first, *others])
    console.print()


def render_cross_play(found: CrossPlay, console: Console, missing: Sequence[str] = ()) -> None:
    """Print cross-play.

    Args:
        found: What to say.
        console: Where; colours and width are its own.
        missing: What is not there.
    """
    print_said(found, console, missing)
    console.print(Text(clean(f"{found.task}: {heading(found)}"), style="bold"))
    _mates(found, console)
    if found.algorithms:
        print_columns(console, trained_columns(found.algorithms), found.algorithms)
        console.print(Text(TRAINED_LEGEND, style="dim"))
        console.print()
    _pairs(found, console)
    print_notes(console, found.notes)
    console.print(Text(LEGEND, style="dim"))


def _mates(found: CrossPlay, console: Console) -> None:
    means = {"Self-play": found.own, "Cross-play": found.cross, "Held-out": found.held}
    columns = mate_columns(found.policies)
    rows = [[clean(column.show(mate)) for column in columns] for mate in found.policies]
    of = [means.get(column.heading.removesuffix(" [95 %]")) for column in columns[1:]]
    rows.append(["mean of the pool", *("" if e is None else shown(e) for e in of)])
    of_columns = list(zip(columns, zip(*rows, strict=True), strict=True))
    widths = [max(map(len, (c.heading, *texts))) for c, texts in of_columns if not c.words]
    # Where figures would leave no room for names, intervals go below their estimates: half a number would be
    # another one.
    whole = console.width >= sum(widths) + 2 * len(widths) + _NAME_AT_LEAST

    def text(told: str) -> str:
        return told if whole else told.replace(" [", "\n[")

    columns_shown = [
        _Column(text(column.heading), column.words, [text(each) for each in cells], spare=column.spare)
        for column, cells in of_columns
    ]
    _print_parts(console, "", columns_shown, summed=True)
    console.print()


def _pairs(found: CrossPlay, console: Console) -> None:
    names = [mate.policy for mate in found.policies]
    if len(names) > MOST_IN_MATRIX or not found.teams:
        return
    console.print(Text(matrix_title(found), style="bold"))
    few = len(names) < MOST_WITH_INTERVALS and console.width >= 100

    def show(team: SeatTeam | Team | None) -> str:
        if team is None:
            return ""
        return shown(team.value) if few else wording.number(team.value.value)

    _print_matrix(console, names, [[show(found.cell(name, other)) for other in names] for name in names])
