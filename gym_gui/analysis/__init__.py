"""Reads run folders, computes statistics and writes reports, without the engine that plays episodes.

Modules that need scipy are loaded on first use, so that reading rows starts fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gym_gui.lazy_imports import lazy_names

if TYPE_CHECKING:
    from gym_gui.analysis.compute.summary_builder import summarize
    from gym_gui.analysis.exports.export import to_pandas
    from gym_gui.analysis.findings.summary import Summary
    from gym_gui.analysis.pages.report_page import render_html
    from gym_gui.analysis.records.compare import RunDifference, compare_runs
    from gym_gui.analysis.records.reader import OperatorRun, Run, open_run
    from gym_gui.analysis.reporting import report, write_html, write_report, write_summary
    from gym_gui.analysis.terminal_report import render_text

__all__ = [
    "OperatorRun",
    "Run",
    "RunDifference",
    "Summary",
    "compare_runs",
    "open_run",
    "render_html",
    "render_text",
    "report",
    "summarize",
    "to_pandas",
    "write_html",
    "write_report",
    "write_summary",
]

__getattr__ = lazy_names(
    __name__,
    {
        "records.reader": ("OperatorRun", "Run", "open_run"),
        "records.compare": ("RunDifference", "compare_runs"),
        "findings.summary": ("Summary",),
        "pages.report_page": ("render_html",),
        "terminal_report": ("render_text",),
        "reporting": ("report", "write_html", "write_report", "write_summary"),
        "compute.summary_builder": ("summarize",),
        "exports.export": ("to_pandas",),
    },
)
