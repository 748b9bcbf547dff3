"""Results columns: one list, which terminal, page, window and files follow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import gym_gui

COLUMNS, SUMMARY = "columns/result_columns.py", "findings/summary.py"
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
cells = [table.rows.index(0, window.index("Failed")).data()]
print(json.dumps([text_of(summary, 120), render_html(summary), operator_rows(summary)[0], window, cells]))
"""


def insert(path: Path, before: str, text: str) -> None:
    source = path.read_text("utf-8")
    assert source.count(before) == 1
    path.write_text(source.replace(before, text + before), "utf-8")


def test_a_column_is_added_in_two_files(run: Path, tmp_path: Path) -> None:
    """What CONTRIBUTING says: the list of columns, and what an operator tells; all places follow."""
    package = Path(gym_gui.__file__).parent
    copy = tmp_path / "gym_gui"
    copy.mkdir()
    for part in package.iterdir():
        if part.name not in ("analysis", "__pycache__"):
            (copy / part.name).symlink_to(part)
    shutil.copytree(package / "analysis", copy / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
    insert(copy / "analysis" / COLUMNS, '    ResultColumn("Length"', COLUMN)
    insert(copy / "analysis" / SUMMARY, "\n\n@dataclass(frozen=True)\nclass Failure:", PROPERTY)
    show = tmp_path / "show.py"
    show.write_text(SHOW, "utf-8")
    told = subprocess.run(
        [sys.executable, str(show), str(run)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        check=True,
        text=True,
    )
    terminal, page, file, window, cells = json.loads(told.stdout.splitlines()[-1])
    assert "Failed" in terminal and '<th class="">Failed</th>' in page
    assert file["failed_share"] == 0.0 and list(file).index("failed_share") == list(file).index("length") - 1
    assert window.index("Failed") == window.index("Length") - 1 and cells == ["0 %"]
