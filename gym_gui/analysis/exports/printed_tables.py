"""Exports reports as Markdown, and as LaTeX tables with booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gym_gui.analysis.columns.call_columns import CALL_COLUMNS
from gym_gui.analysis.columns.cells import (
    Cell,
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
from gym_gui.analysis.compute.matrix_rows import MATRIX_COLUMNS
from gym_gui.analysis.compute.setting_rows import SETTING_COLUMNS
from gym_gui.analysis.findings.cross_play import CrossPlay, Found
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.words.algorithm_text import columns_of as algorithm_columns
from gym_gui.analysis.words.algorithm_text import tables_of
from gym_gui.analysis.words.cross_play_text import TEAMS, means_sentence, trained_columns
from gym_gui.analysis.words.cross_play_text import columns_of as mate_columns
from gym_gui.analysis.words.plain_columns import Column, Row, wanted_of
from gym_gui.analysis.words.report_text import all_notes, by_task, clean, incomplete_in_words
from gym_gui.analysis.words.standings_text import columns_of
from gym_gui.core.enums import kind_word


class PrintedTable(NamedTuple):
    """Table of a report as text cells.

    Attributes:
        title: Title above the table.
        headings: Headings of the columns.
        words: Whether each column holds words, which are left-aligned.
        rows: Text of each cell, by row.
    """

    title: str
    headings: tuple[str, ...]
    words: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


def printed_tables(summary: Summary, standings: Found | None = None) -> list[PrintedTable]:
    """Return the tables of the report page, in the same order and with the same columns."""
    return list(_standings_tables(standings) if standings is not None else _tables(summary))


def verdict_sentences(summary: Summary, standings: Found | None = None) -> list[str]:
    """Return the verdicts of a report, then its notes on missing episodes."""
    if standings is not None:
        said = [*map(str, standings.opening_verdicts), *standings.remarks]
        if isinstance(standings, CrossPlay):
            said.append(means_sentence(standings))
    else:
        said = [str(verdict) for verdict in summary.verdicts] or ["Nothing is recorded yet."]
    words = incomplete_in_words(summary)
    return [*said, *summary.missing, *([f"{words}."] if words else [])]


def _tables(summary: Summary) -> Iterator[PrintedTable]:
    if summary.matrix:
        yield _plain("Rows of the matrix", wanted_of(MATRIX_COLUMNS, summary.matrix), summary.matrix)
    if summary.settings:
        columns = wanted_of(SETTING_COLUMNS, summary.settings)
        yield _plain("Settings, each compared with the first", columns, summary.settings)
    for task, operators in by_task(summary).items():
        of_task: list[tuple[str, Sequence[ResultColumn], Sequence[ResultRow]]] = [
            (task or "Operators", OPERATOR_COLUMNS, [ResultRow(o) for o in operators]),
            ("Calls to models", CALL_COLUMNS, [ResultRow(o) for o in operators if o.calls]),
        ]
        for operator in operators:
            of_task.append((f"Teams of {operator.name}", TEAM_COLUMNS, teams_of(operator)))
            of_task.append((f"Options of {operator.name}", OPTION_COLUMNS, options_of(operator)))
        yield from (_printed(*each) for each in of_task if each[2])


def _printed(title: str, columns: Sequence[ResultColumn], rows: Sequence[ResultRow]) -> PrintedTable:
    shown = columns_in(ColumnOutput.PAGE, columns, rows)
    return PrintedTable(
        clean(title),
        tuple(column.heading_in(ColumnOutput.PAGE) for column in shown),
        tuple(bool(column.words) for column in shown),
        tuple(tuple(_words(column.show(row)) for column in shown) for row in rows),
    )


def _words(cell: Cell) -> str:
    if cell.kinds:
        return ", ".join(kind_word(kind) for kind in cell.kinds)
    return clean(cell.full or cell.text)


def _standings_tables(found: Found) -> Iterator[PrintedTable]:
    if isinstance(found, CrossPlay):
        yield _plain(found.task, mate_columns(found.policies), found.policies)
        yield _plain("Teams", TEAMS, found.teams)
        if found.algorithms:
            yield _plain("Trainings", trained_columns(found.algorithms), found.algorithms)
    else:
        yield _plain(found.task, columns_of(found.policies), found.policies)
        if found.algorithms is not None:
            for title, rows in tables_of(found.algorithms):
                yield _plain(f"Algorithms in {title}", algorithm_columns(rows), rows)


def _plain(title: str, columns: Sequence[Column[Row]], rows: Sequence[Row]) -> PrintedTable:
    headings, words = tuple(c.heading for c in columns), tuple(c.words for c in columns)
    shown = tuple(tuple(clean(c.show(row)) for c in columns) for row in rows)
    return PrintedTable(title, headings, words, shown)


# --------------------------------------------------------------------------- Markdown

_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")


def render_markdown(summary: Summary, standings: Found | None = None) -> str:
    """Return the report as Markdown, with tables for GitHub, Pandoc and Sphinx."""
    lines = ["# Results" if standings is None else "# Tournament", ""]
    for sentence in verdict_sentences(summary, standings):
        lines += [_markdown(sentence), ""]
    for table in printed_tables(summary, standings):
        lines += [f"## {_markdown(table.title)}", "", *_markdown_table(table), ""]
    notes = [*(standings.notes if standings is not None else all_notes(summary, missing=False))]
    if notes:
        lines += ["## Notes", "", *(f"- {_markdown(note)}" for note in notes), ""]
    lines += ["## Runs and versions", "", *(f"- {_markdown(line)}" for line in _origins(summary))]
    return "\n".join(lines) + "\n"


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(clean(text).split()))


def _markdown_table(table: PrintedTable) -> Iterator[str]:
    yield _markdown_row(table.headings)
    yield "|" + "|".join(" --- " if word else " ---: " for word in table.words) + "|"
    yield from map(_markdown_row, table.rows)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_markdown, cells)) + " |"


def _origins(summary: Summary) -> Iterator[str]:
    for run in summary.runs:
        versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
        when = run.started_at or "no date"
        yield f"Run {run.run_id} ({run.status}), {len(run.seeds):,} seeds, {when}: {versions}"


# ------------------------------------------------------------------------------ LaTeX

_LATEX: Final[Mapping[str, str]] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\N{MINUS SIGN}": "$-$",
    "†": r"\dag{}",
    "…": r"\dots{}",
    "·": r"$\cdot$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "\N{NO-BREAK SPACE}": "~",
}
_MINUS: Final = re.compile(r"(?<![\w.-])-(?=\d)")
_LAST_OF_LATEX: Final = 0x17F
_KNOWN_TO_LATEX: Final = "–—‘’“”•€™"  # noqa: RUF001  # what any LaTeX sets beside European letters


def render_latex(summary: Summary, standings: Found | None = None) -> str:
    r"""Return each table of a report as a LaTeX ``table``; the first caption has the verdicts.

    A table that is wider than the text is scaled down. The document needs
    ``\usepackage{booktabs,graphicx}``.
    """
    said = " ".join(verdict_sentences(summary, standings))
    tables: list[str] = []
    for number, table in enumerate(printed_tables(summary, standings)):
        caption = f"{table.title}. {said}" if number == 0 else f"{table.title}."
        tables.append(_latex_table(table, caption, f"tab:mosaic-{number + 1}"))
    head = [r"% \usepackage{booktabs,graphicx}"]
    if any(ord(letter) > _LAST_OF_LATEX and letter not in _KNOWN_TO_LATEX for letter in "".join(tables)):
        head.append("% Some characters need LuaLaTeX or XeLaTeX, and a font that has them.")
    head += [f"% {_one_line(line)}" for line in _origins(summary)]
    return "\n".join([*head, *tables]) + "\n"


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _latex(text: str) -> str:
    line = _MINUS.sub("\N{MINUS SIGN}", _one_line(text))
    return "".join(_LATEX.get(letter, letter) for letter in line)


def _latex_row(cells: Sequence[str]) -> str:
    # In braces, because LaTeX would read a bracket at the beginning of a row as an optional length.
    return " & ".join(f"{{{_latex(cell)}}}" for cell in cells) + r" \\"


def _latex_table(table: PrintedTable, caption: str, label: str) -> str:
    lines = [
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{_latex(caption)}}}",
        f"  \\label{{{label}}}",
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        f"  \\begin{{tabular}}{{@{{}}{''.join('l' if word else 'r' for word in table.words)}@{{}}}}",
        r"    \toprule",
        f"    {_latex_row(table.headings)}",
        r"    \midrule",
        *(f"    {_latex_row(cells)}" for cells in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join(lines)
