"""Form that continues a completed training with more steps."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.ui.numbers import local, read, written
from gym_gui.ui.widgets import FormRows, PrimaryButton, QuietButton, label, muted_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.number_fields import ThousandsSeparators
from gym_gui.workers.settings.settings_schema import Setting

MOST: Final = 10**15
TIMES: Final = 2
"""Factor between the current number of steps and the proposed new total."""


class ExtendTrainingForm(QWidget):
    """Form that asks for the new total number of steps, which includes the steps already taken."""

    requested = pyqtSignal(str, object)
    """Emits the id of a run and its new total number of steps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-longer")
        self._run_id, self._taken = "", 0
        rows = FormRows()
        self._steps = QLineEdit()
        self._steps.setObjectName("train-longer-steps")
        ThousandsSeparators(self._steps)
        self._steps.textEdited.connect(self.check)
        rows.add_row("Total steps", self._steps, tooltip="New total, including the steps already taken")
        self._note = muted_label(wrap=True)
        self._problem = label("", "error", wrap=True, name="train-longer-problem")
        self.go = PrimaryButton("Continue", name="train-longer-go", on_click=self.submit)
        leave = QuietButton("Cancel", name="train-longer-cancel", on_click=self.hide)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(leave)
        buttons.addWidget(self.go)
        column = column_layout(self)
        for widget in (rows, self._note, self._problem):
            column.addWidget(widget)
        column.addLayout(buttons)

    def ask(self, record: TrainingRecord) -> None:
        """Show the form for a completed run, with a proposed number of steps."""
        self._run_id, self._taken = record.run_id, max(record.step, record.total_steps)
        self._steps.setText(written(TIMES * self._taken))
        self._note.setText(
            f"The run has taken {local(record.step):,} of {local(record.total_steps):,} steps. It continues "
            "in the same folder, with the same settings and seed."
        )
        self.check()
        self.show()
        self._steps.setFocus()
        self._steps.selectAll()

    def check(self, *_: object) -> int:
        """Show the error of the entry, if any, and return the number of steps, or 0 if the entry is
        invalid.
        """
        limits = {"type": "integer", "exclusiveMinimum": self._taken, "maximum": MOST}
        steps = read(self._steps.text(), limits)
        wrong = Setting("total_steps", limits, required=True).problem(steps)
        self._problem.setText(wrong)
        self._problem.setVisible(bool(wrong))
        self.go.setEnabled(not wrong)
        return 0 if wrong else steps

    def submit(self) -> None:
        """Emit the new total number of steps if it is valid."""
        steps = self.check()
        if steps:
            self.hide()
            self.requested.emit(self._run_id, steps)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Submit the form on Enter and close it on Esc."""
        if a0 is not None and a0.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.submit()
        elif a0 is not None and a0.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(a0)
