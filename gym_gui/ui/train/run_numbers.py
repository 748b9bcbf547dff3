"""Form fields for the seed, the number and the name of new training runs."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QLabel, QLineEdit, QWidget

from gym_gui.ui.agents.settings_form import LABEL_WIDTH
from gym_gui.ui.numbers import read
from gym_gui.ui.widgets import FormRows, label
from gym_gui.workers.settings.settings_schema import Setting

MOST_RUNS: Final = 20
HIGHEST_SEED: Final = 2**31 - 1
SEED: Final = Setting("seed", {"type": "integer", "minimum": 0, "maximum": HIGHEST_SEED}, required=True)
RUNS: Final = Setting("runs", {"type": "integer", "minimum": 1, "maximum": MOST_RUNS}, required=True)


class RunNumbers(FormRows):
    """Form rows for first seed, number of runs and name; errors are shown below their field."""

    changed = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(label_width=LABEL_WIDTH, parent=parent)
        self._notes: dict[QLineEdit, QLabel] = {}
        self.seed = self._line(
            "seed", "1", "Seed", "Seed of the training; the same seed reproduces the same run"
        )
        several = "Number of runs with consecutive seeds, to measure how much results depend on the seed"
        self.runs = self._line("runs", "1", "Runs", several)
        self.name = self._line("name", "", "Name", "Name of the run; by default made from its settings")
        self.name.setPlaceholderText("optional")

    @property
    def first_seed(self) -> int:
        """Seed of the first run; 1 if the field is invalid."""
        return _number(self.seed, 1)

    @property
    def count(self) -> int:
        """Number of runs to start, from 1 to 20."""
        return min(max(_number(self.runs, 1), 1), MOST_RUNS)

    def problems(self) -> list[str]:
        """Check the fields, show each error below its field, and return the errors."""
        return [
            wrong
            for line, setting in ((self.seed, SEED), (self.runs, RUNS))
            if (wrong := self._check_line(line, setting))
        ]

    @property
    def titles(self) -> dict[int, str]:
        """Name of the run with each seed; ``""`` if the user entered no name."""
        name, first = self.name.text().strip(), self.first_seed
        many = bool(name) and self.count > 1
        return {seed: f"{name}, seed {seed}" if many else name for seed in range(first, first + self.count)}

    @property
    def start_words(self) -> tuple[str, str]:
        """Text and tooltip of the Start button."""
        if self.count == 1:
            return "Start", "Start this run"
        return f"Start {self.count}", f"Start {self.count} runs, with seeds from {self.first_seed} on"

    def _line(self, name: str, text: str, title: str, tip: str) -> QLineEdit:
        line = QLineEdit(text)
        line.setObjectName(f"train-{name}")
        line.textEdited.connect(self._on_edited)
        self.add_row(title, line, tooltip=tip)
        note = label("", "error", wrap=True, name=f"train-{name}-problem")
        note.hide()
        self.add_wide(note)
        self._notes[line] = note
        return line

    def _check_line(self, line: QLineEdit, setting: Setting) -> str:
        wrong = setting.problem(read(line.text(), setting.schema))
        self._notes[line].setText(wrong)
        self._notes[line].setVisible(bool(wrong))
        return wrong

    def _on_edited(self, _text: str) -> None:
        self.changed.emit()


def _number(line: QLineEdit, otherwise: int) -> int:
    value = read(line.text(), {"type": "integer"})
    return value if isinstance(value, int) else otherwise
