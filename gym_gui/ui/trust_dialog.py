"""A dialog that asks whether code or programs that a file names may be used."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QLabel, QWidget

from gym_gui.core.errors import UsageError
from gym_gui.core.trusted import trust
from gym_gui.core.trusted.trust import NotAllowedError
from gym_gui.core.trusted.trust_file import TrustFile
from gym_gui.ui import theme
from gym_gui.ui.widgets import PrimaryButton, QuietButton, muted_label, title_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, right_row

_WHY = (
    "Imported code and started programs can do everything that you can do: read your files, "
    "use the network, delete data. Allow them only if you know where they come from."
)
_ALWAYS = "“Allow always” is valid until the content changes; mosaic trust list shows what is allowed."


class TrustDialog(Dialog):
    """Shows which code or programs a file would use, and lets the user allow them.

    Args:
        error: The error that names the file and the code or programs.
        parent: The window.
    """

    allowed = pyqtSignal()
    """Emitted when the user allows the code or programs."""

    def __init__(self, error: NotAllowedError, parent: QWidget | None = None) -> None:
        super().__init__("trust-dialog", "Allow code or programs of a file?", parent, width=560)
        self._error = error
        column = column_layout(self, margin=theme.PAGE)
        column.addWidget(title_label("This file names code or programs that are not allowed yet"))
        column.addWidget(_plain(error.file, "trust-file"))
        column.addSpacing(theme.STEP)
        for number, need in enumerate(error.needs):
            column.addWidget(_plain(f"The file {need.words}", f"trust-need-{number}"))
        column.addSpacing(theme.STEP)
        column.addWidget(muted_label(_WHY, wrap=True))
        column.addWidget(muted_label(_ALWAYS, wrap=True))
        self._trouble = _plain("", "trust-trouble")
        self._trouble.hide()
        column.addWidget(self._trouble)
        column.addStretch(1)  # extra height from wrapped lines goes here, not between the lines
        column.addSpacing(theme.STEP)
        self._refuse = PrimaryButton("Don't allow", name="trust-refuse", on_click=self.reject)
        once = QuietButton("Allow once", name="trust-once", on_click=self._on_once)
        always = QuietButton("Allow always", name="trust-always", on_click=self._on_always)
        column.addLayout(right_row(once, always, self._refuse))
        # Otherwise the first button has the focus, and Space would press it.
        self._refuse.setFocus()

    def _on_once(self) -> None:
        trust.allow(need.subject for need in self._error.needs)
        self._done()

    def _on_always(self) -> None:
        try:
            TrustFile().add(need.subject for need in self._error.needs)
        except UsageError as error:
            self._trouble.setText(error.sentence)
            self._trouble.show()
            return
        self._done()

    def _done(self) -> None:
        self.accept()
        self.allowed.emit()


def ask(error: NotAllowedError, then: Callable[[], object], parent: QWidget | None) -> TrustDialog:
    """Open the dialog that asks whether to allow code or programs.

    Args:
      error: The error that names the file and the code or programs.
      then: Called if the user allows them.
      parent: The window.

    Returns:
      The dialog.
    """
    dialog = TrustDialog(error, parent)
    dialog.allowed.connect(then)
    dialog.open()
    return dialog


def _plain(text: str, name: str) -> QLabel:
    """Return a label with text from a file, never interpreted as markup."""
    label = QLabel(text)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
