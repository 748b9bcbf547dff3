"""Renders a report on algorithms as a single self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from gym_gui.analysis.charts.bands import algorithm_charts
from gym_gui.analysis.compute.algorithm_verdicts import others_of, verdicts_of
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.pages.report_page import chart_panel, html_table, page, panel
from gym_gui.analysis.words.algorithm_text import (
    columns_of,
    scale_lines,
    tables_of,
    values_of,
)
from gym_gui.analysis.words.html_markup import safe


def render_algorithm_page(report: AlgorithmReport) -> str:
    """Return the HTML page of a report on algorithms."""
    return page("Algorithms", _parts(report))


def _parts(report: AlgorithmReport) -> Iterator[str]:
    total = sum(algorithm.trainings for algorithm in report.algorithms)
    facts = f"{len(report.algorithms):,} algorithms, {total:,} trainings, {', '.join(report.environments)}"
    if len(report.algorithms) == 1:
        facts = facts.replace("1 algorithms", "1 algorithm", 1)
    yield f'<header><h1>Algorithms</h1><span class="muted">{safe(facts)}</span></header>'
    said = "".join(f"<p><strong>{safe(v.claim)}</strong>{safe(v.detail)}.</p>" for v in verdicts_of(report))
    yield f'<section class="verdict">{said}</section>'
    yield from algorithm_parts(report)
    yield "<h2>Trainings and methods</h2>"
    for algorithm in report.algorithms:
        for each in algorithm.trained:
            facts = "".join(f"<dt>{safe(k)}</dt><dd>{safe(v)}</dd>" for k, v in each.about.items())
            yield panel(each.group, f"<dl>{facts}</dl>") if facts else ""
    methods = "".join(f"<dt>{safe(name)}</dt><dd>{safe(text)}</dd>" for name, text in report.methods.items())
    yield panel("Methods", f"<dl>{methods}</dl>")


def algorithm_parts(report: AlgorithmReport) -> Iterator[str]:
    """Yield the HTML below the verdicts: tables, charts, scores of all trainings, notes."""
    for title, rows in tables_of(report):
        columns = columns_of(rows)
        cells = [[safe(column.show(row)) for column in columns] for row in rows]
        yield f"<h2>{safe(title)}</h2>"
        yield html_table([c.heading for c in columns], cells, [c.heading for c in columns if c.words])
    yield f'<div class="grid">{"".join(map(chart_panel, algorithm_charts(report)))}</div>'
    others = "".join(f"<p>{safe(str(verdict))}</p>" for verdict in others_of(report))
    yield f'<h2>Other comparisons</h2><section class="panel">{others}</section>' if others else ""
    every = "".join(f"<p>{safe(values_of(t))}</p>" for a in report.algorithms for t in a.trained)
    yield f'<h2>Every training</h2><section class="panel">{every}</section>'
    scales = "".join(f"<p>{safe(line)}</p>" for line in scale_lines(report))
    yield f'<h2>Normalized scores</h2><section class="panel">{scales}</section>' if scales else ""
    notes = "".join(f'<p class="note">{safe(note)}</p>' for note in report.notes)
    yield f'<h2>Notes</h2><section class="panel">{notes}</section>' if notes else ""
