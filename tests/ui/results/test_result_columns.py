"""Results columns: one list, which terminal, page, window and files follow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

import gym_gui
from gym_gui.analysis import open_run

COLUMNS, SUMMARY = "columns/result_columns.py", "findings/summary.py"
BUILDER, STATISTICS = "compute/summary_builder.py", "statistics/stats.py"
COLUMN = """    ResultColumn(
        "Failed",
        lambda row, locale: Cell(wording.percent(row.operator.failed_share, locale)),
        values=lambda operator: {"failed_share": operator.failed_share},
    ),
"""
PROPERTY = '''
    @property
    def failed_share(self) -> float:
        """Share of episodes that failed."""
        return self.failed / max(self.recorded, 1)
'''
SPREAD = '''def spread(values: Sequence[float]) -> float | None:
    """Standard deviation of a sample; ``None`` of fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


'''
IMPORT = "from gym_gui.analysis.statistics import stats\n"
SPREAD_COLUMN = """    ResultColumn(
        "Spread",
        lambda row, locale: Cell(wording.number(row.operator.spread, locale=locale)),
        values=lambda operator: {"spread": operator.spread},
    ),
"""
SHOW = """
import json, sys
from PyQt6.QtWidgets import QApplication
from gym_gui.analysis import open_run, render_html, summarize
from gym_gui.analysis.exports.export import operator_rows
from gym_gui.analysis.terminal_report import text_of
from gym_gui.ui.results.comparison_table import ComparisonTable

app = QApplication([])
summary = summarize(open_run(sys.argv[1]))
table = ComparisonTable()
table.show_operators(summary.operators)
window = [column.heading for column in table.rows.columns]
cells = [table.rows.index(0, window.index(sys.argv[2])).data()]
print(json.dumps([text_of(summary, 120), render_html(summary), operator_rows(summary)[0], window, cells]))
"""


def insert(path: Path, before: str, text: str) -> None:
    source = path.read_text("utf-8")
    assert source.count(before) == 1
    path.write_text(source.replace(before, text + before), "utf-8")


def patched(folder: Path, *patches: tuple[str, str, str]) -> None:
    """A package with an ``analysis`` of its own, whose files have more text before one that is there."""
    package = Path(gym_gui.__file__).parent
    copy = folder / "gym_gui"
    copy.mkdir()
    for part in package.iterdir():
        if part.name not in ("analysis", "__pycache__"):
            (copy / part.name).symlink_to(part)
    shutil.copytree(package / "analysis", copy / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
    for file, before, text in patches:
        insert(copy / "analysis" / file, before, text)


def shown(folder: Path, run: Path, heading: str) -> tuple[str, str, dict[str, Any], list[str], list[str]]:
    """Of the run, by the patched package: terminal, page, row of files, the window's headings and a cell."""
    show = folder / "show.py"
    show.write_text(SHOW, "utf-8")
    told = subprocess.run(
        [sys.executable, str(show), str(run), heading],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        check=True,
        text=True,
    )
    return json.loads(told.stdout.splitlines()[-1])


def test_a_column_is_added_in_two_files(run: Path, tmp_path: Path) -> None:
    """What CONTRIBUTING says: the list of columns, and what an operator tells; all places follow."""
    patched(
        tmp_path,
        (COLUMNS, '    ResultColumn("Length"', COLUMN),
        (SUMMARY, "\n\n@dataclass(frozen=True)\nclass Failure:", PROPERTY),
    )
    terminal, page, file, window, cells = shown(tmp_path, run, "Failed")
    assert "Failed" in terminal and '<th class="">Failed</th>' in page
    assert file["failed_share"] == 0.0 and list(file).index("failed_share") == list(file).index("length") - 1
    assert window.index("Failed") == window.index("Length") - 1 and cells == ["0 %"]


def test_a_statistic_is_added_in_four_files(run: Path, tmp_path: Path) -> None:
    """What CONTRIBUTING says: the function, where it is asked, what an operator tells, the column."""
    patched(
        tmp_path,
        (STATISTICS, "def iqm(", SPREAD),
        (
            BUILDER,
            "from gym_gui.analysis.statistics.summary",
            "from gym_gui.analysis.statistics import stats\n",
        ),
        (BUILDER, "        success=share([hit for hit", "        spread=stats.spread(values),\n"),
        (SUMMARY, "\n    @property\n    def manager_decisions", "    spread: float | None = None\n"),
        (COLUMNS, '    ResultColumn("Length"', SPREAD_COLUMN),
    )
    terminal, page, file, window, cells = shown(tmp_path, run, "Spread")
    returns = [e.total_reward for e in open_run(run).operators[file["operator_id"]].episodes()]
    assert file["spread"] == pytest.approx(stdev(e for e in returns if e is not None))
    assert "Spread" in terminal and '<th class="">Spread</th>' in page
    assert window.index("Spread") == window.index("Length") - 1 and cells != [""]
