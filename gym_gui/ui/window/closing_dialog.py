"""A dialog that asks before the window closes if paid work would be lost."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets import PrimaryButton, QuietButton, label, title_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, right_row


class ClosingDialog(Dialog):
    """Shows what would be lost, and closes the window only if the user agrees.

    Args:
        costs: Sentences that name the work that would be lost, one per page.
        parent: The window.
    """

    agreed = pyqtSignal()
    """Emitted when the user agrees to close the window."""

    def __init__(self, costs: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__("closing-dialog", "Close the window?", parent, width=480)
        column = column_layout(self, margin=theme.PAGE)
        column.addWidget(title_label("Language models are still working"))
        for number, cost in enumerate(costs):
            words = label(cost, wrap=True, name=f"closing-cost-{number}")
            column.addWidget(words)
        column.addStretch(1)
        column.addSpacing(theme.STEP)
        close = QuietButton("Close", name="closing-close", on_click=self._on_close)
        stay = PrimaryButton("Stay", name="closing-stay", on_click=self.reject)
        column.addLayout(right_row(close, stay))
        stay.setFocus()  # otherwise the first button has the focus, and Space would press it

    def _on_close(self) -> None:
        self.accept()
        self.agreed.emit()
