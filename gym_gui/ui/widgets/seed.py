"""Field for a random seed, with a button that draws a new seed."""

from __future__ import annotations

import random

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QAbstractSpinBox, QFrame, QSizePolicy, QWidget

from gym_gui.ui.widgets.buttons import IconButton
from gym_gui.ui.widgets.labels import muted_label
from gym_gui.ui.widgets.layouts import row_layout
from gym_gui.ui.widgets.number_fields import IntegerField

HIGHEST = 2**31 - 1


class SeedBox(QFrame):
    """Field to type a random seed, with a button that draws one.

    The field emits the seed when the user has finished typing, not at every digit.
    """

    seed_changed = pyqtSignal(int)

    def __init__(self, seed: int = 0, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("seed-box")
        self.setProperty("role", "box")
        self.setFixedHeight(30)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._spin = IntegerField(self)
        self._spin.setObjectName("seed")
        self._spin.setProperty("role", "bare")
        self._spin.setRange(0, HIGHEST)
        self._spin.setValue(seed)
        self._spin.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
        self._spin.setAccessibleName("Seed")
        self._spin.setToolTip("Seed of the first episode; the same seed reproduces the same episode")
        self._spin.setKeyboardTracking(False)
        self._spin.valueChanged.connect(self._on_value_changed)
        line = self._spin.lineEdit()
        if line is not None:
            line.textChanged.connect(self._fit)
        again = IconButton("seed", "Draw another seed", name="seed-again", on_click=self.draw)
        again.setFixedSize(24, 24)
        again.setParent(self)
        layout = row_layout(self, margin=(10, 0, 3, 0), spacing=6)
        self._word = muted_label("Seed")
        layout.addWidget(self._word)
        layout.addWidget(self._spin, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(again)
        self._fit()

    @property
    def words_width(self) -> int:
        """Width in pixels that the box saves without its label "Seed"."""
        layout = self.layout()
        return self._word.sizeHint().width() + (layout.spacing() if layout is not None else 0)

    @property
    def compact(self) -> bool:
        """Whether the label "Seed" is hidden; the field's tooltip explains the number."""
        return self._word.isHidden()

    def set_compact(self, compact: bool) -> None:
        """Hide or show the label "Seed"."""
        self._word.setHidden(compact)

    @property
    def seed(self) -> int:
        """Seed in the field."""
        return self._spin.value()

    def set_seed(self, seed: int) -> None:
        """Set the seed without emitting a signal."""
        blocked = self._spin.blockSignals(True)
        self._spin.setValue(seed)
        self._spin.blockSignals(blocked)
        self._fit()

    def draw(self) -> None:
        """Draw a random seed of at most four digits, which is easy to communicate."""
        self._spin.setValue(random.randrange(10_000))

    def _fit(self) -> None:
        """Set the width of the field to the width of its seed."""
        text = max(self._spin.text(), "0000", key=len)
        self._spin.setFixedWidth(self._spin.fontMetrics().horizontalAdvance(text) + 10)

    def _on_value_changed(self, seed: int) -> None:
        self._fit()
        self.seed_changed.emit(seed)
