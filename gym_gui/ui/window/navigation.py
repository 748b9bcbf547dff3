"""The navigation rail at the left edge of the window."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFont, QIcon, QKeyEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.icons import icon
from gym_gui.ui.pages import PageEntry
from gym_gui.ui.widgets.layouts import column_layout

_MARK = 21
"""Size of an icon in pixels: a glyph of 18 pixels with an empty border."""


class RailButton(QAbstractButton):
    """Button that shows a page: an icon above the page's name."""

    def __init__(self, place: PageEntry, shortcut: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.place = place
        self.setObjectName(f"go-{place.name}")
        self.setText(place.title)
        self.setAccessibleName(place.title)
        self.setToolTip(f"{place.title} ({shortcut})" if shortcut else place.title)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._icon = icon(place.icon)

    def sizeHint(self) -> QSize:
        """Return the fixed size of a button."""
        return QSize(60, 50)

    def paintEvent(self, e: QPaintEvent | None) -> None:
        """Draw the icon and the name, with a background if the page is shown or the button hovered."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current = theme.current()
        box = QRectF(self.rect())
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(current.color("wash" if self.isChecked() else "raised"))
            painter.drawRoundedRect(box, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        if self.hasFocus():
            painter.setPen(current.color("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        mark = QRect((self.width() - _MARK) // 2, 7, _MARK, _MARK)
        state = QIcon.State.On if self.isChecked() else QIcon.State.Off
        self._icon.paint(painter, mark, Qt.AlignmentFlag.AlignCenter, QIcon.Mode.Normal, state)
        weight = QFont.Weight.Medium if self.isChecked() else QFont.Weight.Normal
        painter.setFont(theme.font(theme.SMALL_PX, weight=weight))
        painter.setPen(current.color("accent_text" if self.isChecked() else "muted"))
        words = self.rect().adjusted(0, 29, 0, -3)
        painter.drawText(words, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, self.text())

    def keyPressEvent(self, e: QKeyEvent | None) -> None:
        """Show the page on Enter, as on Space."""
        if e is not None and e.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
            return
        super().keyPressEvent(e)


class Logo(QAbstractButton):
    """Logo of four squares in the colors of four agent kinds; a click opens the menus."""

    _COLORS = ("rl", "llm", "human", "bdi")

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("main-menu")
        self.setAccessibleName("Main menu")
        self.setToolTip("Menu (Alt)")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFixedSize(44, 44)

    def paintEvent(self, e: QPaintEvent | None) -> None:
        """Draw the four squares."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.current().color("raised"))
            painter.drawRoundedRect(QRectF(self.rect()), 10, 10)
        painter.setPen(Qt.PenStyle.NoPen)
        for i, kind in enumerate(self._COLORS):
            painter.setBrush(theme.kind_color(kind))
            painter.drawRoundedRect(QRectF(5 + 18 * (i % 2), 5 + 18 * (i // 2), 16, 16), 4, 4)


class NavigationRail(QWidget):
    """Column of buttons that show pages; some buttons are placed at the bottom."""

    chosen = pyqtSignal(str)

    def __init__(self, places: Sequence[PageEntry], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        self.setAccessibleName("Pages")
        self.setProperty("role", "rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedWidth(theme.RAIL_WIDTH)
        self.logo = Logo(self)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, RailButton] = {}
        layout = column_layout(self, margin=(6, 5, 6, 8), spacing=theme.STEP)
        layout.addWidget(self.logo, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addSpacing(6)
        foot = [place for place in places if place.foot]
        for number, place in enumerate(p for p in places if not p.foot):
            layout.addWidget(self._add(place, f"Ctrl+{number + 1}"))
        layout.addStretch(1)
        for place in foot:
            layout.addWidget(self._add(place, "Ctrl+,"))
        self._group.buttonClicked.connect(self._on_button_clicked)

    def set_current(self, name: str) -> None:
        """Mark the button of a page as current, without emitting a signal."""
        button = self._buttons.get(name)
        if button is not None:
            button.setChecked(True)

    def _add(self, place: PageEntry, shortcut: str) -> RailButton:
        button = RailButton(place, shortcut, self)
        self._group.addButton(button)
        self._buttons[place.name] = button
        return button

    def _on_button_clicked(self, button: QAbstractButton) -> None:
        if isinstance(button, RailButton):
            self.chosen.emit(button.place.name)
