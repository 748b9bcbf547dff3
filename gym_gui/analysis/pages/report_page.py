"""Renders a report as a single self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from gym_gui.analysis.charts import Chart, interval_charts, outcome_chart, pair_chart
from gym_gui.analysis.charts.shapes import operator_roles
from gym_gui.analysis.charts.svg import svg
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
from gym_gui.analysis.findings.comparison import Comparison, Verdict
from gym_gui.analysis.findings.summary import OperatorSummary, RunInfo, Summary
from gym_gui.analysis.pages.film_choice import Films, scenes_of
from gym_gui.analysis.pages.film_page import film_section
from gym_gui.analysis.pages.film_style import FILM_STYLE, film_head
from gym_gui.analysis.pages.page_style import PAGE_HEAD, STYLE
from gym_gui.analysis.pages.transcript_style import TRANSCRIPT_STYLE
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.html_markup import safe
from gym_gui.analysis.words.page_links import Links
from gym_gui.analysis.words.plain_columns import Column, Row, wanted_of
from gym_gui.analysis.words.report_text import all_notes, by_task, incomplete_in_words, looks_in_words
from gym_gui.core.drawing.colors import kind_role
from gym_gui.core.enums import kind_word
from gym_gui.core.errors import with_capital
from gym_gui.core.record_digest import KEY

MOST_PAIRED_PLOTS = 4
MOST_FAILURES = 200
MOST_SEEDS = 100
MOST_OF_AN_EXPERIMENT = 30_000
"""Largest number of characters of an experiment that a page shows."""
TRANSCRIPT = "transcript.html"
"""File name of the transcript page beside the report."""


def render_html(
    summary: Summary,
    *,
    turns: str = "",
    parts: Sequence[str] = (),
    films: Films | None = None,
    runs: Sequence[Run] = (),
) -> str:
    """Return the HTML page of a report.

    The page is self-contained: styles, charts and replays are inline, and nothing is loaded from elsewhere.
    The only script plays replays. All run data is escaped.

    Args:
        summary: The summary to show.
        turns: Description of the transcript page's content, for a link; empty without such a page.
        parts: Further HTML, shown below the verdicts.
        films: Replays, by episode.
        runs: Opened runs, for transcripts beside replays and for experiments.
    """
    title = "Results of " + (summary.runs[0].title if len(summary.runs) == 1 else f"{len(summary.runs)} runs")
    whole = [_header(summary, turns), *report_body(summary, parts)]
    whole.append(film_section(scenes_of(summary), films or {}, runs))
    whole.append(failure_table(summary))
    whole.append(notes_section(all_notes(summary, missing=False)))
    whole.append(_foot(summary, runs))
    return page(title, whole, films=bool(films))


def page(title: str, parts: Iterable[str], *, films: bool = False) -> str:
    """Return an HTML page with the given parts and the style sheet.

    Args:
        title: Title of the page.
        parts: HTML of the page's content.
        films: Whether the parts contain replays.
    """
    start, style = (film_head(), STYLE + TRANSCRIPT_STYLE + FILM_STYLE) if films else (PAGE_HEAD, STYLE)
    head = f"{start}<title>{safe(title)}</title>\n<style>{style}</style>\n</head>\n<body><main>"
    return f"{head}{''.join(parts)}</main></body>\n</html>\n"


def report_body(summary: Summary, parts: Sequence[str] = (), links: Links | None = None) -> Iterator[str]:
    """Yield the HTML of a summary's verdicts, tables, charts and comparisons.

    Args:
        summary: The summary to show.
        parts: Further HTML, shown below the verdicts.
        links: Addresses of the operators' pages, if they have pages.
    """
    yield _verdicts(summary)
    yield matrix_tables(summary)
    yield from parts
    for task, operators in by_task(summary).items():
        yield from _task(summary, task, operators, links)
    yield _comparisons(summary)


def _header(summary: Summary, turns: str) -> str:
    recorded = sum(o.recorded for o in summary.operators)
    facts = f"{wording.count(len(summary.operators), 'operator')}, {wording.count(recorded, 'episode')}"
    runs = ", ".join(f"{run.title} ({run.status})" for run in summary.runs)
    line = f"{safe(facts)} \N{MIDDLE DOT} {safe(runs)}"
    link = f'<a href="{TRANSCRIPT}">{safe(f"Transcript of {turns}")}</a>' if turns else ""
    return f'<header><h1>Results</h1><span class="muted">{line}</span>{link}</header>'


def _verdicts(summary: Summary) -> str:
    lines = "".join(verdict_lines(summary)) or "<p>Nothing is recorded yet.</p>"
    return f'<section class="verdict">{lines}{missing_lines(summary)}</section>'


def missing_lines(summary: Summary) -> str:
    """Return HTML paragraphs on missing episodes, for the top of a report."""
    missing = [*summary.missing, *([f"{words}."] if (words := incomplete_in_words(summary)) else [])]
    return "".join(f'<p class="note">{safe(note)}</p>' for note in missing)


def verdict_lines(summary: Summary) -> Iterable[str]:
    """Yield HTML paragraphs of the verdicts; with several environments, grouped by environment."""
    for task, verdicts in summary.verdicts_by_task.items():
        if task:
            yield f'<p class="muted">{safe(task)}</p>'
        yield from (f"<p><strong>{safe(v.claim)}</strong>{safe(v.detail)}.</p>" for v in verdicts)


def _task(
    summary: Summary, task: str, operators: Sequence[OperatorSummary], links: Links | None
) -> Iterable[str]:
    yield f"<h2>{safe(task or 'Operators')}</h2>"
    roles = operator_roles(summary.operators)
    yield from operator_parts(operators, roles, links)
    keys = {o.key: o for o in operators}
    charts: list[Chart] = [*interval_charts(operators, roles)]
    charts += [pair_chart(c, keys, roles) for c in _plotted(summary, keys)]
    charts += [chart for chart in [outcome_chart(operators)] if chart]
    yield f'<div class="grid">{"".join(map(chart_panel, charts))}</div>'


def operator_parts(
    operators: Sequence[OperatorSummary], roles: Mapping[str, str], links: Links | None = None
) -> Iterator[str]:
    """Yield the HTML tables of the operators of one task: results, calls to models, teams, options.

    Args:
        operators: Operators of the task.
        roles: Names of colors by operator key.
        links: Addresses of the operators' pages, if they have pages.
    """
    yield operator_table(operators, links, roles)
    yield _result_table(CALL_COLUMNS, [ResultRow(o) for o in operators if o.calls])
    for operator in operators:
        yield team_table(operator)
        yield option_table(operator)


def chart_panel(chart: Chart) -> str:
    """Return an HTML panel with a chart, its title and its caption."""
    if not chart:
        nothing = safe(chart.nothing or "No completed episodes.")
        return panel(chart.title, f'<p class="muted">{nothing}</p>')
    caption = f'<p class="muted">{safe(chart.caption)}</p>' if chart.caption else ""
    return panel(chart.title, caption + svg(chart))


def panel(title: str, body: str) -> str:
    """Return an HTML panel with a title and ``body``, which is HTML."""
    return f'<section class="panel"><h3>{safe(title)}</h3>{body}</section>'


def _badges(kinds: Sequence[str], role: str = "") -> str:
    """Return HTML badges of kinds of workers; a single kind has the operator's color ``role``."""
    own = role if len(kinds) == 1 else ""
    return "".join(
        f'<span class="badge"><i class="{own or kind_role(kind)}"></i>{safe(kind_word(kind))}</span>'
        for kind in kinds
    )


def _plotted(summary: Summary, keys: Mapping[str, OperatorSummary]) -> list[Comparison]:
    """Return the comparisons to plot: the best operator against the next ones, and the teams."""
    operators = [c for c in summary.comparisons if c.kind == "operators" and c.first in keys and c.pairs]
    best = [c for c in operators if c.first == operators[0].first]
    teams = [c for c in summary.comparisons if c.kind == "teams" and c.operator in keys and c.pairs]
    return best[:MOST_PAIRED_PLOTS] + teams[:MOST_PAIRED_PLOTS]


def html_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str] = (), title: str = ""
) -> str:
    """Return an HTML table of HTML cells; columns named in ``words`` are aligned left, the others right."""
    above = f"<h3>{safe(title)}</h3>" if title else ""
    head = "".join(f'<th class="{"word" if h in words else ""}">{safe(h)}</th>' for h in headings)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{"word" if h in words else "figure"}">{cell}</td>'
            for h, cell in zip(headings, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<section class="panel">{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</section>"
    )


def operator_table(
    operators: Sequence[OperatorSummary],
    links: Links | None = None,
    roles: Mapping[str, str] | None = None,
) -> str:
    """Return an HTML table with one row per operator of a task; with ``links``, names link to pages."""
    rows = [ResultRow(o) for o in operators]
    return _result_table(OPERATOR_COLUMNS, rows, links=links, roles=roles or operator_roles(operators))


def team_table(operator: OperatorSummary) -> str:
    """Return an HTML table with one row per team of an operator."""
    return _result_table(TEAM_COLUMNS, teams_of(operator), f"Teams of {operator.name}")


def matrix_tables(summary: Summary) -> str:
    """Return HTML tables of matrix rows and of players' settings; empty without a matrix."""
    rows = _plain_table("Rows of the matrix", MATRIX_COLUMNS, summary.matrix)
    return rows + _plain_table("Settings, each compared with the first", SETTING_COLUMNS, summary.settings)


def _plain_table(title: str, listed: Sequence[Column[Row]], rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    columns = wanted_of(listed, rows)
    cells = [[_cell(Cell(column.show(row)), column.words) for column in columns] for row in rows]
    words = [column.heading for column in columns if column.words]
    return f"<h2>{safe(title)}</h2>{html_table([c.heading for c in columns], cells, words)}"


def option_table(operator: OperatorSummary) -> str:
    """Return an HTML table with one row per option that an operator's managers chose."""
    return _result_table(OPTION_COLUMNS, options_of(operator), f"Options of {operator.name}")


def _result_table(
    columns: Sequence[ResultColumn],
    rows: Sequence[ResultRow],
    title: str = "",
    links: Links | None = None,
    roles: Mapping[str, str] | None = None,
) -> str:
    """Return an HTML table of rows with the columns for pages; empty without rows."""
    if not rows:
        return ""
    shown = columns_in(ColumnOutput.PAGE, columns, rows)
    headings = [column.heading_in(ColumnOutput.PAGE) for column in shown]
    words = [column.heading_in(ColumnOutput.PAGE) for column in shown if column.words]
    cells = [
        [
            _cell(
                column.show(row),
                bool(column.words),
                # The first column has the operator's name.
                links.operator(row.operator.key) if links is not None and column is shown[0] else "",
                (roles or {}).get(row.operator.key, ""),
            )
            for column in shown
        ]
        for row in rows
    ]
    return html_table(headings, cells, words, title)


def link(address: str, text: str) -> str:
    """Return an HTML link; ``text`` is HTML."""
    return f'<a href="{safe(address)}">{text}</a>'


def _in_parts(text: str) -> str:
    """Return HTML in which a line breaks only between a number and its bracket, for narrow tables."""
    first, bracket, rest = text.partition(" (") if " (" in text else text.partition(" [")
    if not bracket:
        return safe(text)
    return f'<span class="part">{safe(first)}</span> <span class="part">{safe(bracket.strip() + rest)}</span>'


def _cell(cell: Cell, word: bool, address: str = "", role: str = "") -> str:
    if cell.kinds:
        return _badges(cell.kinds, role)
    text = safe(cell.full or cell.text) if word else _in_parts(cell.full or cell.text)
    text = f'<span class="bad">{text}</span>' if cell.alarming else text
    text = link(address, text) if address else text
    return text + (f'<span class="sub">{safe(cell.below)}</span>' if cell.below else "")


def _comparisons(summary: Summary) -> str:
    task = {operator.key: operator.task for operator in summary.operators}
    several = len(set(task.values())) > 1
    shown = {str(v) for v in summary.verdicts}
    lines = [
        str(Verdict(c.claim, c.detail, False, task.get(c.operator or c.first, "") if several else ""))
        for c in summary.comparisons
    ]
    rest = [line for line in lines if line not in shown]
    if not rest:
        return ""
    items = "".join(f"<p>{safe(line)}</p>" for line in rest)
    return f"<h2>Other comparisons</h2><section class='panel'>{items}</section>"


def failure_table(summary: Summary, links: Links | None = None) -> str:
    """Return an HTML table of the episodes that did not complete; empty if all completed.

    Args:
        summary: Summary whose failures are listed.
        links: Addresses of the operators' pages, if they have pages.
    """
    if not summary.failures:
        return ""
    names = {o.key: o.name for o in summary.operators}
    rows = [
        [
            safe(names[f.operator]),
            str(f.episode_index)
            if links is None
            else link(links.episode(f.operator, f.episode_index), str(f.episode_index)),
            safe(str(f.seed)),
            safe(f.status),
            safe(f.reason),
        ]
        for f in summary.failures[:MOST_FAILURES]
    ]
    rest = len(summary.failures) - MOST_FAILURES
    more = f'<p class="muted">and {rest:,} more, all in summary.json</p>' if rest > 0 else ""
    headings = ["Operator", "Episode", "Seed", "Status", "Reason"]
    table = html_table(headings, rows, ("Operator", "Status", "Reason"))
    return f"<h2>{safe(incomplete_in_words(summary))}</h2>{table}{more}"


def notes_section(notes: Iterable[str]) -> str:
    """Return an HTML section of notes; empty without notes."""
    items = "".join(f'<p class="note">{safe(note)}</p>' for note in notes)
    return f'<h2>Notes</h2><section class="panel">{items}</section>' if items else ""


def _foot(summary: Summary, runs: Sequence[Run]) -> str:
    whence = f"<h2>Runs and methods</h2>{looks_line(summary)}{run_panels(summary, runs)}"
    return f"{whence}{methods_panel(summary.methods)}"


def looks_line(summary: Summary) -> str:
    """Return an HTML paragraph on the sequential test with interim looks; empty without looks."""
    looks = looks_in_words(summary)
    return f"<p>{safe(looks)}</p>" if looks else ""


def methods_panel(methods: Mapping[str, str]) -> str:
    """Return an HTML panel that describes each statistical method."""
    return panel("Methods", facts_list(methods))


def facts_list(facts: Mapping[str, str]) -> str:
    """Return an HTML description list of names with their texts."""
    items = "".join(f"<dt>{safe(name)}</dt><dd>{safe(text)}</dd>" for name, text in facts.items())
    return f"<dl>{items}</dl>"


def run_panels(summary: Summary, runs: Sequence[Run]) -> str:
    """Return an HTML panel per run with its status, times, seeds, versions, digest and experiment."""
    read = {run.run_id: run for run in runs}
    return "".join(_run_panel(info, read.get(info.run_id)) for info in summary.runs)


def _run_panel(run: RunInfo, read: Run | None) -> str:
    seeds = ", ".join(str(seed) for seed in run.seeds[:MOST_SEEDS])
    if len(run.seeds) > MOST_SEEDS:
        seeds += f", and {len(run.seeds) - MOST_SEEDS:,} more"
    facts = {
        "Status": run.status,
        "Started": run.started_at or "-",
        "Finished": run.finished_at or "-",
        f"Seeds ({len(run.seeds):,})": seeds or "-",
        "Versions": _pairs(run.versions),
        "Machine": _pairs(run.machine),
        "Commit": run.commit or "-",
    }
    experiment = ""
    if read is not None:
        facts["Digest of the record"] = str(read.record.extra.get(KEY) or "none: written when a run ends")
        experiment = _experiment(read.record.experiment)
    heading = f"<h3>{safe(with_capital(run.title))}</h3>"
    return f'<section class="panel">{heading}{facts_list(facts)}{experiment}</section>'


def _experiment(data: Mapping[str, Any]) -> str:
    """Return a foldable HTML element with the resolved experiment as JSON, which ``mosaic run`` accepts."""
    written = orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    lines = "\n".join(map(safe, written[:MOST_OF_AN_EXPERIMENT].split("\n")))
    rest = len(written) - MOST_OF_AN_EXPERIMENT
    more = f'<p class="muted">and {rest:,} characters more, in run.json</p>' if rest > 0 else ""
    return f"<details><summary>Experiment</summary><pre>{lines}</pre>{more}</details>"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "-"
