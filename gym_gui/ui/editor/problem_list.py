"""List below the editor's text with one row for each problem."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from gym_gui.ui.editor.file_request import Problem

_LINE, _LINES = 24, 5
"""Height of a row in pixels, and the number of rows visible without scrolling."""
_BESIDE: Final = 140
"""Width in pixels of the window that a row's text cannot use."""


class ProblemList(QListWidget):
    """List of problems: first those from reading, running or playing the file, then others from the check.

    Args:
        parent: Qt owner.

    Attributes:
        file: Name of the file, which is removed from the start of each problem's sentence.
        told: Problems of the saved file, found by code that read, ran or played the file.
        found: Problems that the check finds in the editor's text.
    """

    chosen = pyqtSignal(int, int)
    """Emits line and column of a problem that the user clicks or activates."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("file-problems")
        self.setAccessibleName("Problems")
        self.setProperty("role", "field")
        self.setWordWrap(True)
        self.file = ""
        self.told: tuple[Problem, ...] = ()
        self.found: tuple[Problem, ...] = ()
        self.itemActivated.connect(self._on_item)
        self.itemClicked.connect(self._on_item)
        self.hide()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems: those that readers of the saved file reported, then others from the check."""
        told, found = (tuple(map(self._here, some)) for some in (self.told, self.found))
        known = {(problem.line, problem.text) for problem in told}
        return (*told, *(each for each in found if (each.line, each.text) not in known))

    def _here(self, problem: Problem) -> Problem:
        if not self.file:
            return problem
        mistake = re.sub(rf"^(?:[^:]*/)?{re.escape(self.file)}(?::\d+)*:\s+", "", problem.text)
        return replace(problem, text=mistake)

    def renew(self) -> Sequence[Problem]:
        """Show the current problems and return them."""
        problems = self.problems
        self.clear()
        for problem in problems:
            where = f"Line {problem.line}: " if problem.line else ""
            item = QListWidgetItem(f"{where}{problem.text}")
            item.setData(Qt.ItemDataRole.UserRole, problem)
            self.addItem(item)
        self.setVisible(bool(problems))
        widest = max((self.fontMetrics().horizontalAdvance(p.text) for p in problems), default=0)
        room = self.window().width() - _BESIDE  # type: ignore[union-attr]
        lines = len(problems) * (1 if widest < room else 2)
        self.setFixedHeight(min(lines, _LINES) * _LINE + _LINE // 2)
        return problems

    def beyond(self, line: int, way: int) -> int | None:
        """Return the next line with a problem, below (1) or above (-1) a line, cyclically; ``None`` if
        there is none.
        """
        lines = sorted({problem.line for problem in self.problems if problem.line}, reverse=way < 0)
        return next((each for each in lines if (each - line) * way > 0), lines[0] if lines else None)

    def _on_item(self, item: QListWidgetItem) -> None:
        problem: Problem = item.data(Qt.ItemDataRole.UserRole)
        self.chosen.emit(problem.line or 1, problem.column)
