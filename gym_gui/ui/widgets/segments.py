"""Control that chooses one of a few options shown side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gym_gui.ui.widgets.layouts import row_layout


class SegmentedControl(QWidget):
    """Row of a few options, one of them chosen; the left and right arrow keys choose the neighboring option.

    Args:
        options: Pairs of value and text, or texts that are also the values.
        value: Initial value, which is chosen without a signal; by default the first.
        name: ``objectName``.
        parent: Qt owner.
    """

    chosen = pyqtSignal(str)

    def __init__(
        self,
        options: Sequence[tuple[str, str] | str],
        value: str = "",
        *,
        name: str = "segments",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("role", "segments")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QPushButton] = {}
        layout = row_layout(self, margin=1, spacing=0)
        layout.setSizeConstraint(QHBoxLayout.SizeConstraint.SetMinimumSize)  # Words are not cut.
        for option in options:
            key, text = (option, option) if isinstance(option, str) else option
            button = QPushButton(text, self)
            button.setProperty("role", "segment")
            button.setCheckable(True)
            button.setObjectName(f"{name}-{key}")
            button.setProperty("value", key)
            self._group.addButton(button)
            self._buttons[key] = button
            layout.addWidget(button)
        self.set_value(value or next(iter(self._buttons)))
        self._group.buttonClicked.connect(self._on_button_clicked)

    def set_text(self, value: str, text: str) -> None:
        """Change the text of an option."""
        self._buttons[value].setText(text)

    @property
    def value(self) -> str:
        """Value of the chosen option; ``""`` if none is chosen."""
        checked = self._group.checkedButton()
        return str(checked.property("value")) if checked is not None else ""

    def set_value(self, value: str) -> None:
        """Choose an option without emitting a signal."""
        button = self._buttons.get(value)
        if button is not None:
            button.setChecked(True)

    def set_offered(self, value: str, offered: bool) -> None:
        """Show or hide an option; hiding the chosen option chooses the first one."""
        button = self._buttons[value]
        if not offered and button.isChecked():
            next(iter(self._buttons.values())).setChecked(True)
        button.setVisible(offered)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Choose the neighboring option on the left or right arrow key."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if a0 is None or a0.key() not in steps:
            super().keyPressEvent(a0)
            return
        values = [key for key, button in self._buttons.items() if button.isEnabled() and button.isVisible()]
        if self.value in values:
            place = values.index(self.value) + steps[Qt.Key(a0.key())]
            if 0 <= place < len(values):
                self._buttons[values[place]].setFocus()
                self._buttons[values[place]].click()

    def _on_button_clicked(self, button: QAbstractButton) -> None:
        self.chosen.emit(str(button.property("value")))
