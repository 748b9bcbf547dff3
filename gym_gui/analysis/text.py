"""The report as a table in a terminal, plain where there is none."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gym_gui.analysis import wording
from gym_gui.analysis.call_columns import CALL_COLUMNS
from gym_gui.analysis.cells import Place, ResultColumn, ResultRow, columns_in, options_of, teams_of
from gym_gui.analysis.distributions import MIN_INTERVAL
from gym_gui.analysis.matrix_rows import MATRIX_COLUMNS
from gym_gui.analysis.option_columns import OPTION_COLUMNS
from gym_gui.analysis.plain_columns import Column, Row, wanted_of
from gym_gui.analysis.result_columns import OPERATOR_COLUMNS
from gym_gui.analysis.setting_rows import SETTING_COLUMNS
from gym_gui.analysis.summary import Failure, OperatorSummary, Summary
from gym_gui.analysis.team_columns import TEAM_COLUMNS
from gym_gui.analysis.wording import whole
from gym_gui.core.terminal import console as terminal_console
from gym_gui.core.visible import visible

SHOWN_FAILURES = 10


def clean(text: str) -> str:
    """Text from run data without what a terminal would obey or a line would break on."""
    return visible(text).replace("\n", "\N{REPLACEMENT CHARACTER}").replace("\t", "\N{REPLACEMENT CHARACTER}")


def iqm_title(operators: Iterable[OperatorSummary]) -> str:
    """What a plot of IQMs shows; that of completed episodes, where others are missing."""
    missing = any(o.bounds is not None for o in operators)
    return f"IQM return{' of completed episodes' if missing else ''}, 95 % interval"


def incomplete_in_words(summary: Summary) -> str:
    """``10 episodes did not complete and are in no mean``; empty where all completed."""
    n = len(summary.failures)
    scores = {o.key: o.failure_score for o in summary.operators}
    counted = sum(f.status == "failed" and scores.get(f.operator) is not None for f in summary.failures)
    if not n:
        return ""
    told = f"{wording.count(n, 'episode')} did not complete"
    if counted == n:
        return f"{told} and {'counts' if n == 1 else 'count'} as the experiment says"
    if counted:
        return f"{told}; {whole(counted)} count as the experiment says, the others are in no mean"
    return f"{told} and {'is' if n == 1 else 'are'} in no mean"


def render_text(summary: Summary, console: Console) -> None:
    """Print the report.

    Args:
        summary: What to say.
        console: Where; colours and width are its own.
    """
    for task, verdicts in summary.verdicts_by_task.items():
        if task:
            console.print(Text(f"{clean(task)}:"))
        for verdict in verdicts:
            style = "bold green" if verdict.decided else "bold"
            said = Text.assemble((clean(verdict.claim), style), clean(verdict.detail), ".")
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


def looks_in_words(summary: Summary) -> str:
    """The test of comparisons that were looked at while seeds were added; empty where none was."""
    stages = [c.stage for c in summary.comparisons if c.stage is not None]
    if not stages:
        return ""
    looks = wording.count(max(stage.looks for stage in stages), "look")
    most = wording.count(max(stage.largest for stage in stages), "seed")
    words = (
        "Sequential test: group-sequential sign-flip permutation over paired seeds, "
        f"{looks} in at most {most}; 5 % of error over all looks and comparisons of a task (Holm); "
        "its 95 % intervals hold at all looks together."
    )
    if any(c.verdict == "undecided" for c in summary.comparisons if c.stage is not None):
        words += " How many more seeds a difference would need: mosaic power RUN."
    return words


def text_of(summary: Summary, width: int | None = None) -> str:
    """The report without colours, as the text that ``mosaic report`` prints.

    Args:
        summary: What to say.
        width: Columns; by default those of ``COLUMNS``, else 100.
    """
    buffer = io.StringIO()
    render_text(summary, terminal_console(file=buffer, width=width))
    return buffer.getvalue()


def by_task(summary: Summary) -> dict[str, list[OperatorSummary]]:
    """Operators by task, the best first."""
    tasks: dict[str, list[OperatorSummary]] = {}
    for operator in summary.operators:
        tasks.setdefault(operator.task, []).append(operator)
    for operators in tasks.values():
        operators.sort(key=lambda o: -o.iqm.value if o.iqm.value is not None else float("inf"))
    return tasks


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


def print_columns(
    console: Console, columns: Sequence[Column[Row]], rows: Sequence[Row], title: str = ""
) -> None:
    """Print a table of one text a cell; what is spare is left out where there is little width."""
    shown = [each for each in wanted_of(columns, rows) if console.width >= 110 or not each.spare]
    table = result_table(title)
    for column in shown:
        justify = "left" if column.words else "right"
        # Names give way, figures do not: half a number would be another one.
        whole = not column.words and console.width >= 80
        table.add_column(column.heading, justify=justify, overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*(Text(clean(column.show(row))) for column in shown))
    console.print(table)


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what weakens a report, a line each."""
    for note in notes:
        console.print(Text.assemble(("Note: ", "yellow"), clean(note)))


def _print(console: Console, title: str, columns: Sequence[ResultColumn], rows: Sequence[ResultRow]) -> None:
    """Print a table, where there are rows; what is long takes the width that is left."""
    if not rows:
        return
    table = result_table(title)
    shown = columns_in(Place.TERMINAL, columns, rows)
    shown = [column for column in shown if console.width >= 96 or not column.spare]
    for i, column in enumerate(shown):
        heading = column.heading_in(Place.TERMINAL)
        if column.long:
            table.add_column(heading, overflow="fold", ratio=1 + (i > 0), min_width=12)
        else:
            # Figures are broken over lines only where they would be cut off otherwise.
            justify = "left" if column.words else "right"
            table.add_column(heading, justify=justify, overflow="fold", no_wrap=console.width >= 80)
    for row in rows:
        table.add_row(*(Text(clean(column.show(row).text)) for column in shown))
    console.print(table)
    console.print()


def _render_failures(summary: Summary, console: Console) -> None:
    if not summary.failures:
        return
    console.print(Text(f"{incomplete_in_words(summary)}:", style="bold red"))
    for failure in summary.failures[:SHOWN_FAILURES]:
        console.print(Text(f"  {failure_in_words(failure)}"))
    if (rest := len(summary.failures) - SHOWN_FAILURES) > 0:
        console.print(Text(f"  ... and {whole(rest)} more, all in summary.json"))


def failure_in_words(failure: Failure) -> str:
    """One line: which episode, how it ended, why."""
    place = f"{failure.operator}, episode {failure.episode_index}, seed {failure.seed}"
    return clean(f"{place}: {failure.status}: {failure.reason}")


def all_notes(summary: Summary, *, missing: bool = True) -> Iterable[str]:
    """Notes of the summary and of its operators, which are named.

    Args:
        summary: Whose.
        missing: Also those that say what is not there.
    """
    yield from (note for note in summary.notes if missing or note not in summary.missing)
    several = len({operator.task for operator in summary.operators}) > 1
    for operator in summary.operators:
        name = f"{operator.name} in {operator.task}" if several else operator.name
        for note in operator.notes:
            yield f"{name}: {note}"
        if words := wording.fallbacks(operator.decisions):
            yield f"{name}: not the policy's own first choice: {words}."
        if words := wording.calls(operator.calls):
            yield f"{name}: {words}."
        if len(values := operator.mean.values) > 1:
            told = ", ".join(map(wording.number, values))
            yield f"{name}: on each seed {told}; too few for an interval (below {MIN_INTERVAL})."
