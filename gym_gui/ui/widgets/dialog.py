"""What lies over the window until it is answered."""

from __future__ import annotations

from PyQt6.QtWidgets import QDialog, QPushButton

from gym_gui.ui.widgets.buttons import PrimaryButton
from gym_gui.ui.widgets.tab_order import tab_on


class Dialog(QDialog):
    """Tab goes as one reads, Enter in a field does what the filled button says, Esc leaves.

    Qt alone has Enter press the first button that was made, be it Cancel, and Tab go in the order of making.
    """

    def setVisible(self, visible: bool) -> None:
        """Before Qt chooses a button for Enter."""
        if visible and not any(button.isDefault() for button in self.findChildren(QPushButton)):
            main = self.findChild(PrimaryButton)
            if main is not None:
                main.setDefault(True)
        super().setVisible(visible)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab goes through the dialog as it stands."""
        return tab_on(self, forward=next) or super().focusNextPrevChild(next)
