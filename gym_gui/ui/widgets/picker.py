"""Button that opens a searchable list, for more choices than a combo box can show."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import (
    QEvent,
    QSize,
    Qt,
    pyqtSignal,
)
from PyQt6.QtGui import QHelpEvent, QKeyEvent, QPaintEvent
from PyQt6.QtWidgets import (
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolTip,
    QWidget,
)

from gym_gui.ui.icons import icon
from gym_gui.ui.widgets.buttons import BUTTON_ICON, paint_caret
from gym_gui.ui.widgets.picker_list import PickerItem, PickerPopup, Pictures


class PickerButton(QPushButton):
    """Button that shows the chosen item; a click, Space, Enter or the down key opens the list of items.

    Args:
        items: Items to choose from; :meth:`set_items` replaces them.
        placeholder: Text of the button while nothing is chosen.
        search_hint: Placeholder of the search field.
        name: ``objectName``.
        searchable: Whether the button shows a magnifying glass.
        elide: Where long text is shortened: at the end for names, in the middle for ids.
        pictures: Function that returns small pictures of the items.
        awaited: Text of the list until :meth:`set_items` has added items.
        parent: Qt owner.
    """

    chosen = pyqtSignal(object)

    def __init__(
        self,
        items: Sequence[PickerItem] = (),
        *,
        placeholder: str = "Choose…",
        search_hint: str = "Search",
        name: str = "picker",
        searchable: bool = False,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        pictures: Pictures | None = None,
        awaited: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(placeholder, parent)
        self._elide, self._pictures, self._awaited = elide, pictures, awaited
        self.setObjectName(name)
        self.setProperty("role", "picker")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._placeholder = placeholder
        self._search_hint = search_hint
        self._items: tuple[PickerItem, ...] = ()
        self._value: object = None
        self._called = ""
        self._popup: PickerPopup | None = None
        if searchable:
            self.setIcon(icon("search"))
            self.setIconSize(BUTTON_ICON)
        self.set_items(items)
        self.clicked.connect(self.open)

    @property
    def items(self) -> tuple[PickerItem, ...]:
        """Items to choose from."""
        return self._items

    @property
    def value(self) -> object:
        """Value of the chosen item; ``None`` if nothing is chosen."""
        return self._value

    def set_items(self, items: Sequence[PickerItem]) -> None:
        """Replace the items; the chosen value stays, even if no item has it."""
        self._items = tuple(items)
        self._show_chosen()
        if self._popup is not None and self._popup.isVisible():
            self._popup.set_items(self._items)

    def set_value(self, value: object, called: str = "") -> None:
        """Choose a value without emitting a signal.

        Args:
            value: Value of an item.
            called: Name that the button shows if no item has the value, for example while items are loading.
        """
        self._value, self._called = value, called
        self._show_chosen()

    def open(self) -> None:
        """Open the list below the button."""
        if self._popup is None:
            self._popup = PickerPopup(self._search_hint, self, self._pictures, self._elide, self._awaited)
            self._popup.picked.connect(self._on_picked)
        self._popup.set_items(self._items)
        self._popup.open_below(self, self._value)

    @property
    def popup(self) -> PickerPopup | None:
        """Popup with the list of items; ``None`` before its first use."""
        return self._popup

    def sizeHint(self) -> QSize:
        """Return a size with space for the caret, at most 320 px wide."""
        hint = super().sizeHint()
        return QSize(min(hint.width() + 16, 320), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Return a small width, because the text can be shortened."""
        return QSize(80, super().minimumSizeHint().height())

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Open the list on the down key and on Enter."""
        if a0 is not None and a0.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open()
            return
        super().keyPressEvent(a0)

    @property
    def shown_text(self) -> str:
        """Text of the button, shortened if it does not fit."""
        option = self._option()
        mark = 0 if self.icon().isNull() else self.iconSize().width() + 4
        room = option.rect.width() - mark
        return self.fontMetrics().elidedText(self.text(), self._elide, room)

    def event(self, e: QEvent | None) -> bool:
        """Show a tooltip that begins with the whole text if the text is shortened."""
        if isinstance(e, QHelpEvent) and e.type() == QEvent.Type.ToolTip and self.shown_text != self.text():
            QToolTip.showText(e.globalPos(), "\n".join(filter(None, (self.text(), self.toolTip()))), self)
            return True
        return super().event(e)

    def _option(self) -> QStyleOptionButton:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        style = self.style()
        if style is not None:
            option.rect = style.subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        return option

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the button with its shortened text and the caret."""
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        option = self._option()
        option.text = self.shown_text
        painter.drawControl(QStyle.ControlElement.CE_PushButtonLabel, option)
        paint_caret(self)

    def _show_chosen(self) -> None:
        item = next((i for i in self._items if i.value == self._value), None)
        text = item.label if item is not None else self._called or str(self._value or self._placeholder)
        self.setText(text)
        self.setAccessibleDescription(text)
        if not self.property("fixed-tip"):
            self.setToolTip(item.detail if item is not None else "")

    def _on_picked(self, value: object) -> None:
        self.set_value(value)
        self.chosen.emit(value)
