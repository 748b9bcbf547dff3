"""Dialog that asks the user to confirm a submission that was created elsewhere or changed afterwards."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QPlainTextEdit, QWidget

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.own_submissions import UnconfirmedSubmission, confirm
from gym_gui.ui import theme
from gym_gui.ui.widgets import PrimaryButton, QuietButton, label, muted_label, title_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, right_row

_WHY = (
    "It was created by another person or on another machine, or was changed since. Its commands run here and "
    "on its hosts under your account. Confirm it only if you know its origin; MOSAIC asks only once."
)


class ConfirmDialog(Dialog):
    """Dialog that lists everything that a submission would run, send and write, and asks for confirmation.

    Args:
        seen: The unconfirmed submission.
        parent: Parent widget, the window.
    """

    confirmed = pyqtSignal()
    """Emitted when the user has confirmed the submission and the confirmation was saved."""

    def __init__(self, seen: UnconfirmedSubmission, parent: QWidget | None = None) -> None:
        super().__init__("confirm-submission", "Use this submission?", parent)
        self._seen = seen
        self.setMinimumSize(640, 480)
        column = column_layout(self, margin=theme.PAGE)
        column.addWidget(title_label("This submission may come from another machine or person"))
        column.addWidget(muted_label(_WHY, wrap=True))
        whole = QPlainTextEdit("\n".join(_lines(seen)))
        whole.setObjectName("confirm-what")
        whole.setReadOnly(True)
        whole.setAccessibleName("Everything that this submission will do")
        column.addWidget(whole, 1)
        self._trouble = label("", wrap=True, name="confirm-trouble")
        self._trouble.hide()
        column.addWidget(self._trouble)
        self._refuse = PrimaryButton("Reject", name="confirm-refuse", on_click=self.reject)
        confirm_button = QuietButton("Confirm", name="confirm-yes", on_click=self._on_confirm)
        column.addLayout(right_row(confirm_button, self._refuse))
        # Without this call the text field has the focus. Enter presses the button that has the focus.
        self._refuse.setFocus()

    def _on_confirm(self) -> None:
        try:
            confirm(self._seen)
        except UsageError as error:
            self._trouble.setText(error.sentence)
            self._trouble.show()
            return
        self.accept()
        self.confirmed.emit()


def ask_to_confirm(
    seen: UnconfirmedSubmission, then: Callable[[], object], parent: QWidget | None = None
) -> ConfirmDialog:
    """Open the dialog and return it; ``then`` is called if the user confirms the submission."""
    dialog = ConfirmDialog(seen, parent)
    dialog.confirmed.connect(then)
    dialog.open()
    return dialog


def _lines(seen: UnconfirmedSubmission) -> list[str]:
    found = [str(seen.submission.folder)]
    for heading, lines in seen.rows:
        found += ["", f"{heading}:", *(f"    {line}" for line in lines)]
    return found
