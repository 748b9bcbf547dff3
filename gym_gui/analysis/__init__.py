"""Reading run folders, statistics, reports. Needs a run folder and nothing else of the engine.

What needs scipy is loaded on first use, so that a reader of rows starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

_HOME = {
    "OperatorRun": "records.reader",
    "Run": "records.reader",
    "RunDifference": "records.compare",
    "Summary": "findings.summary",
    "compare_runs": "records.compare",
    "open_run": "records.reader",
    "render_html": "pages.report_page",
    "render_text": "terminal_report",
    "report": "reporting",
    "summarize": "compute.summary_builder",
    "to_pandas": "exports.export",
    "write_html": "reporting",
    "write_report": "reporting",
    "write_summary": "reporting",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
