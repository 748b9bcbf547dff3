"""Reading run folders, statistics, reports. Needs a run folder and nothing else of the engine.

What needs scipy is loaded on first use, so that a reader of rows starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gym_gui.analysis.compare import RunDifference, compare_runs
    from gym_gui.analysis.export import to_pandas
    from gym_gui.analysis.page import render_html
    from gym_gui.analysis.reader import OperatorRun, Run, open_run
    from gym_gui.analysis.reporting import report, write_html, write_report, write_summary
    from gym_gui.analysis.summary import Summary
    from gym_gui.analysis.summary_builder import summarize
    from gym_gui.analysis.terminal import render_text

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
    "OperatorRun": "reader",
    "Run": "reader",
    "RunDifference": "compare",
    "Summary": "summary",
    "compare_runs": "compare",
    "open_run": "reader",
    "render_html": "page",
    "render_text": "terminal",
    "report": "reporting",
    "summarize": "summary_builder",
    "to_pandas": "export",
    "write_html": "reporting",
    "write_report": "reporting",
    "write_summary": "reporting",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
