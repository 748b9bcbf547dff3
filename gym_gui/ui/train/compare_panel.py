"""Panel that compares several training runs: their results, and the settings in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QWidget

from gym_gui.analysis.words.wording import duration
from gym_gui.services.runs.run_titles import differences
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.ui import theme
from gym_gui.ui.numbers import written
from gym_gui.ui.train.run_colors import RunColors
from gym_gui.ui.training_numbers import NONE, steps_in_words
from gym_gui.ui.training_words import run_return, short_environment
from gym_gui.ui.widgets import (
    Divider,
    Dot,
    ElidedLabel,
    label,
    muted_label,
    section_label,
    title_label,
)
from gym_gui.ui.widgets.layouts import column_layout, panel_head, row_layout


class ComparePanel(QWidget):
    """Panel that shows the results of several runs and the settings in which the runs differ.

    Args:
        colors: Colors of the runs' dots.
        parent: Qt owner.
    """

    closed_by_user = pyqtSignal()

    def __init__(self, colors: RunColors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-compare")
        self._colors = colors
        self._content: QWidget | None = None
        self._shown: Any = None
        self._column = column_layout(self)
        self._title = title_label("")
        self._title.setObjectName("train-compare-title")
        back, closed = "Return to the form for a new run (Esc)", self.closed_by_user.emit
        self._column.addLayout(panel_head(self._title, back, "train-compare-close", closed))
        self._note = muted_label(wrap=True)
        self._column.addWidget(self._note)

    def show_runs(self, records: Sequence[TrainingRecord], titles: dict[str, str]) -> None:
        """Compare the given runs, sorted by mean return with the best run first."""
        ordered = sorted(records, key=lambda r: (r.mean_return is None, -(r.mean_return or 0.0)))
        differing = differences([{**_about(record), **record.settings} for record in ordered])
        shown = [(titles.get(r.run_id, r.run_id), r.run_id, _lines(r, differing)) for r in ordered]
        if shown == self._shown:
            return
        self._shown = shown
        self._title.setText(f"{len(shown)} runs")
        self._note.setText(_note(ordered))
        self._rebuild(shown)

    def _rebuild(self, shown: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]) -> None:
        if self._content is not None:
            self._content.hide()
            self._content.setParent(None)
            self._content.deleteLater()
        content = self._content = QWidget(self)
        column = column_layout(content)
        column.addWidget(section_label("By return"))
        for title, run_id, lines in shown:
            column.addWidget(Divider())
            column.addWidget(self._run(title, run_id, lines))
        self._column.addWidget(content)

    def _run(self, title: str, run_id: str, lines: Sequence[tuple[str, str]]) -> QWidget:
        widget = QWidget()
        widget.setObjectName(f"train-compared-{run_id}")
        column = column_layout(widget, spacing=theme.STEP)
        head = row_layout(spacing=6)
        head.addWidget(Dot(self._colors.color(run_id)))
        head.addWidget(ElidedLabel(title, "strong"), 1)
        column.addLayout(head)
        grid = QGridLayout()
        grid.setContentsMargins(16, 0, 0, 0)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for row, (name, text) in enumerate(lines):
            grid.addWidget(muted_label(name), row, 0)
            value = label(text, wrap=True)
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(value, row, 1)
        column.addLayout(grid)
        return widget


def _note(records: Sequence[TrainingRecord]) -> str:
    if len({record.env_id for record in records}) > 1:
        return "These runs learn in different environments, so their returns are not comparable."
    if len({record.evaluated for record in records}) > 1:
        return (
            "Sorted by return, best first. Returns of evaluations and returns of training episodes, which "
            "include exploration, are not comparable."
        )
    return "Sorted by return, best first, with the settings in which the runs differ."


def _about(record: TrainingRecord) -> dict[str, Any]:
    return {
        "Algorithm": record.algorithm,
        "Environment": short_environment(record.env_id),
        "Worker": record.worker_id,
        "Seed": record.seed,
    }


def _lines(record: TrainingRecord, differing: Sequence[str]) -> list[tuple[str, str]]:
    known = {**_about(record), **record.settings}
    lines = [("Return", run_return(record)), ("Steps", steps_in_words(record.step))]
    if record.elapsed_s:
        lines.append(("Trained for", duration(record.elapsed_s)))
    return [*lines, *((name, written(known[name]) if name in known else NONE) for name in differing)]
