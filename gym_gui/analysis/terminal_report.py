"""Prints reports on runs, algorithms, tournaments and cross-play as tables in a terminal or as plain text.

The sentences come from modules without rich, which pages and the window also use.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from gym_gui.analysis.columns.call_columns import CALL_COLUMNS
from gym_gui.analysis.columns.cells import (
    ColumnOutput,
    ResultColumn,
    ResultRow,
    columns_in,
    options_of,
    teams_of,
)
from gym_gui.analysis.columns.option_columns import OPTION_COLUMNS
from gym_gui.analysis.columns.result_columns import OPERATOR_COLUMNS
from gym_gui.analysis.columns.team_columns import TEAM_COLUMNS
from gym_gui.analysis.compute.algorithm_verdicts import others_of, verdicts_of
from gym_gui.analysis.compute.matrix_rows import MATRIX_COLUMNS
from gym_gui.analysis.compute.setting_rows import SETTING_COLUMNS
from gym_gui.analysis.findings.comparison import Verdict
from gym_gui.analysis.findings.cross_play import CrossPlay, SeatTeam, Team
from gym_gui.analysis.findings.findings import Findings
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.algorithm_text import columns_of as algorithm_columns
from gym_gui.analysis.words.algorithm_text import scale_lines, tables_of, values_of
from gym_gui.analysis.words.cross_play_text import (
    LEGEND,
    TRAINED_LEGEND,
    heading,
    matrix_title,
    shown,
    trained_columns,
)
from gym_gui.analysis.words.cross_play_text import columns_of as mate_columns
from gym_gui.analysis.words.plain_columns import Column, Row, wanted_of
from gym_gui.analysis.words.report_text import (
    SHOWN_FAILURES,
    all_notes,
    by_task,
    clean,
    failure_in_words,
    incomplete_in_words,
    looks_in_words,
)
from gym_gui.analysis.words.standings_text import columns_of, made, rating_legend, seat_lines
from gym_gui.analysis.words.wording import whole
from gym_gui.core.terminal import Heading, print_table
from gym_gui.core.terminal import console as terminal_console

MOST_WITH_INTERVALS = 4
MOST_IN_MATRIX = 12
"""Largest number of policies for which a terminal shows a matrix; page and ``tournament.json`` have all."""


def render_text(summary: Summary, console: Console) -> None:
    """Print the report.

    Args:
        summary: Findings to print.
        console: Console to print to; it sets colors and width.
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
        print_columns(console, SETTING_COLUMNS, summary.settings, "Settings, each compared with the first")
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
    """Return a summary as the text that ``mosaic report`` prints, without colors.

    Args:
        summary: Findings to print.
        width: Width in characters; by default that of ``COLUMNS``, else 100.
    """
    buffer = io.StringIO()
    render_text(summary, terminal_console(file=buffer, width=width))
    return buffer.getvalue()


def print_columns(
    console: Console, columns: Sequence[Column[Row]], rows: Sequence[Row], title: str = ""
) -> None:
    """Print a table of rows with the columns that have content."""
    shown = wanted_of(columns, rows)
    headings = [Heading(column.heading, column.words) for column in shown]
    cells = [[Text(clean(column.show(row))) for column in shown] for row in rows]
    print_table(console, headings, cells, title=clean(title))


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print notes, one per line."""
    for note in notes:
        console.print(Text.assemble(("Note: ", "yellow"), clean(note)))


def _print(console: Console, title: str, columns: Sequence[ResultColumn], rows: Sequence[ResultRow]) -> None:
    """Print a result table with the columns for terminals; print nothing without rows."""
    if not rows:
        return
    shown = columns_in(ColumnOutput.TERMINAL, columns, rows)
    headings = [Heading(column.heading_in(ColumnOutput.TERMINAL), column.words) for column in shown]
    cells = [[Text(clean(column.show(row).text)) for column in shown] for row in rows]
    print_table(console, headings, cells, title=clean(title))
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
    """Return a verdict with its claim in bold, in green if it is decided."""
    style = "bold green" if verdict.decided else "bold"
    return Text.assemble((clean(verdict.claim), style), clean(verdict.detail), ".")


def render_algorithms(report: AlgorithmReport, console: Console) -> None:
    """Print a report on algorithms.

    Args:
        report: Findings to print.
        console: Console to print to; it sets colors and width.
    """
    for verdict in verdicts_of(report):
        console.print(_verdict(verdict))
    console.print()
    render_tables(report, console)


def render_tables(report: AlgorithmReport, console: Console) -> None:
    """Print a report on algorithms without its verdicts: tables, comparisons, scales and notes."""
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


def print_verdicts(found: Findings, console: Console, missing: Sequence[str] = ()) -> None:
    """Print the beginning of a tournament's report: verdicts, sentences below them, missing games."""
    for verdict in found.opening_verdicts:
        console.print(_verdict(verdict))
    for sentence in found.remarks:
        console.print(Text(clean(sentence)))
    print_notes(console, missing)
    console.print()


def render_standings(standings: Standings, console: Console, missing: Sequence[str] = ()) -> None:
    """Print the report of a tournament.

    Args:
        standings: Findings to print.
        console: Console to print to; it sets colors and width.
        missing: Notes on what is missing.
    """
    print_verdicts(standings, console, missing)
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
    """Print a square matrix whose rows have numbers and names, and whose columns have numbers."""
    headings = [Heading("", words=True), *(Heading(str(i + 1)) for i in range(len(names)))]
    rows = [
        [Text(clean(f"{i + 1} {name}")), *map(Text, row)]
        for i, (name, row) in enumerate(zip(names, cells, strict=True))
    ]
    print_table(console, headings, rows)
    console.print()


def render_cross_play(found: CrossPlay, console: Console, missing: Sequence[str] = ()) -> None:
    """Print the report of a cross-play.

    Args:
        found: Findings to print.
        console: Console to print to; it sets colors and width.
        missing: Notes on what is missing.
    """
    print_verdicts(found, console, missing)
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
    headings = [Heading(column.heading, column.words) for column in columns]
    print_table(console, headings, [list(map(Text, row)) for row in rows], total=True)
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
