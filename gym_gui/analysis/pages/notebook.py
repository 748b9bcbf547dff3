"""Renders a summary as HTML for the output of a notebook cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.pages.report_page import (
    matrix_tables,
    operator_table,
    option_table,
    team_table,
    verdict_lines,
)
from gym_gui.analysis.words.html_markup import safe
from gym_gui.analysis.words.report_text import SHOWN_FAILURES, all_notes, by_task, failure_in_words

# Notebooks have their own colors, so text inherits them and everything else is a shade of the text color.
_STYLE = """
.mosaic { font-variant-numeric: tabular-nums; }
.mosaic p { margin: 4px 0; }
.mosaic h4 { margin: 12px 0 4px; }
.mosaic section { overflow-x: auto; }
.mosaic table { border-collapse: collapse; margin: 0; }
.mosaic th, .mosaic td { padding: 4px 10px; text-align: right; vertical-align: top; white-space: nowrap; }
.mosaic .word { text-align: left; }
.mosaic .sub { display: block; opacity: .65; font-size: 90%; }
.mosaic .muted { opacity: .65; }
.mosaic .bad { font-weight: 600; }
"""


def notebook_html(summary: Summary, places: Sequence[tuple[str, Path]] = ()) -> str:
    """Return verdicts, tables and notes as an HTML element without links and scripts; run data is escaped.

    Args:
        summary: The summary to show.
        places: Labels and paths of files and folders to list at the end.
    """
    parts = [*verdict_lines(summary), matrix_tables(summary)]
    for task, operators in by_task(summary).items():
        parts.append(f"<h4>{safe(task)}</h4>{operator_table(operators)}")
        parts += [team_table(operator) for operator in operators if len(operator.teams) > 1]
        parts += [option_table(operator) for operator in operators if operator.options]
    parts += [f"<p>{safe(failure_in_words(f))}</p>" for f in summary.failures[:SHOWN_FAILURES]]
    if (rest := len(summary.failures) - SHOWN_FAILURES) > 0:
        parts.append(f"<p>{rest:,} more did not complete.</p>")
    parts += [f'<p class="muted">{safe(note)}</p>' for note in all_notes(summary)]
    parts += [f'<p class="muted">{safe(name)}: <code>{safe(str(path))}</code></p>' for name, path in places]
    return f'<div class="mosaic"><style>{_STYLE}</style>{"".join(parts)}</div>'
