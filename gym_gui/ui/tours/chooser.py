"""Dialog in which the user chooses one of the six tours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.tours.guide import Progress
from gym_gui.ui.tours.tour import TOURS, Tour
from gym_gui.ui.widgets import IconLabel, QuietButton, label, muted_label, title_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, row_layout

_WIDTH = 560


class TourChooser(Dialog):
    """Dialog that lists the tours with the user's progress; a click starts one.

    Args:
        progress: Progress in the tours.
        start: Called with the name of the chosen tour.
        parent: The main window.
    """

    def __init__(self, progress: Progress, start: Callable[[str], object], parent: QWidget) -> None:
        super().__init__("tours", "Tours", parent)
        self._start = start
        head = QHBoxLayout()
        head.addWidget(title_label("Tours"))
        head.addStretch(1)
        head.addWidget(QuietButton("Close", name="tours-close", on_click=self.reject))
        layout = column_layout(self, margin=theme.PAGE, spacing=theme.STEP)
        layout.addLayout(head)
        about = "A few minutes each, on real data. A step ends when you have done what it says."
        layout.addWidget(muted_label(about, wrap=True))
        layout.addSpacing(theme.ROW)
        first: QWidget | None = None
        for each in TOURS:
            row = _Row(each, _state(progress, each), done=progress.done(each))
            row.clicked.connect(partial(self._on_chosen, each.name))
            layout.addWidget(row)
            if first is None and not progress.done(each):
                first = row
        self.setFixedWidth(_WIDTH)
        if first is not None:
            first.setFocus()

    def _on_chosen(self, name: str, _checked: bool = False) -> None:
        self.accept()
        self._start(name)


class _Row(QPushButton):
    """Row of one tour; a click starts or continues the tour."""

    def __init__(self, tour: Tour, state: str, *, done: bool) -> None:
        super().__init__()
        self.setObjectName(f"tour-{tour.name}")
        self.setProperty("role", "row")
        self.setAccessibleName(f"{tour.title}: {tour.text}, {state}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        words = column_layout(spacing=0)
        words.addWidget(label(tour.title, "strong"))
        words.addWidget(muted_label(tour.text))
        row = row_layout(self, margin=(8, 4, 8, 4))
        row.addLayout(words, 1)
        if done:
            row.addWidget(IconLabel("ok", "ok", 16))
        row.addWidget(muted_label(state))
        for child in self.findChildren(QWidget):
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        """Return a height of two text lines, because the style sheet expects buttons with one line."""
        layout = self.layout()
        assert layout is not None
        return layout.sizeHint()


def _state(progress: Progress, tour: Tour) -> str:
    if progress.begun(tour):
        return f"continue at step {progress.step(tour) + 1} of {len(tour.steps)}"
    return "done" if progress.done(tour) else f"about {tour.minutes} minutes"
