"""Bar above a page with its title, its controls and its main actions."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, Qt
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.buttons import PrimaryButton, QuietButton
from gym_gui.ui.widgets.labels import ElidedLabel, title_label
from gym_gui.ui.widgets.layouts import row_layout
from gym_gui.ui.widgets.seed import SeedBox

_ALL = 255


class PageBar(QWidget):
    """Bar, 44 px high, with title, controls of :meth:`add`, free space and actions, the main action last.

    In a narrow window, or with a wide font, buttons with an icon hide their text, secondary buttons first.
    Then the seed box hides its label, and last the page title is hidden. No text is cut.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setObjectName("page-bar")
        self.setFixedHeight(theme.BAR_HEIGHT)
        self._title = title_label(title, self)
        self._note = ElidedLabel("", "muted", parent=self, name="page-note")
        self._note.hide()
        self._buttons: list[PrimaryButton | QuietButton | SeedBox] = []
        self._left = row_layout()
        self._right = row_layout()
        layout = row_layout(self, margin=(theme.PAGE, 0, theme.PAGE, 0), spacing=10)
        layout.addWidget(self._title)
        layout.addLayout(self._left)
        # The note beside the controls gets the space that they leave.
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        layout.addWidget(self._note, _ALL)
        layout.addStretch(1)
        layout.addLayout(self._right)

    def add(self, widget: QWidget) -> QWidget:
        """Add a control beside the title and return the control."""
        self._left.addWidget(widget)
        return self._registered(widget)

    def add_action(self, widget: QWidget) -> QWidget:
        """Add a button at the right end and return the button."""
        self._right.addWidget(widget)
        return self._registered(widget)

    def _registered(self, widget: QWidget) -> QWidget:
        if isinstance(widget, PrimaryButton | QuietButton | SeedBox):
            self._buttons.append(widget)
        return widget

    def event(self, a0: QEvent | None) -> bool:
        """After a resize or layout request, decide which buttons have space for their text."""
        if a0 is not None and a0.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._share_width()
        return super().event(a0)

    def _share_width(self) -> None:
        layout = self.layout()
        if layout is None:
            return
        shown = [button for button in self._buttons if not button.isHidden()]
        short = layout.minimumSize().width() - self.width()
        short += sum(button.words_width for button in shown if button.compact)
        short += self._title.sizeHint().width() + layout.spacing() if self._title.isHidden() else 0
        for button in sorted(shown, key=_rank):
            compact = short > 0 and button.words_width > 0
            short -= button.words_width if compact else 0
            button.set_compact(compact)
        self._title.setHidden(short > 0)

    def set_note(self, text: str) -> None:
        """Show a short note beside the controls, such as ``simultaneous · 4 agents``."""
        self._note.setText(text)
        self._note.setVisible(bool(text))


def _rank(widget: QWidget) -> int:
    """Return the rank of a widget; texts of widgets with lower ranks are hidden first."""
    return isinstance(widget, PrimaryButton) + 2 * isinstance(widget, SeedBox)
