"""Popup list of completions below the cursor, while the text keeps the focus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PyQt6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, Qt
from PyQt6.QtGui import QKeyEvent, QTextCursor
from PyQt6.QtWidgets import QFrame, QWidget

from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.editor.file_request import Offer, Offers
from gym_gui.ui.widgets.labels import muted_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.picker_list import ItemDelegate, ItemsModel, ItemsView, PickerItem

LONGEST: Final = 60_000
"""Longest text, in characters, for which completions open while typing; longer texts need Ctrl+Space."""
_WIDTH, _ROWS, _ABOUT = 640, 8, 44
_ACCEPT: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
_COMMANDS: Final = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


class CompletionList(QFrame):
    """Popup list of completions, which opens while typing or on Ctrl+Space.

    Arrow keys choose, Enter or Tab inserts, Esc closes.

    Args:
        edit: The text field.
        offers: Returns completions for a text and an offset.
        parent: Widget that contains the list.
    """

    def __init__(self, edit: CodeEdit, offers: Callable[[str, int], Offers | None], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("completion")
        self.setProperty("role", "popup")
        self._edit, self._find = edit, offers
        self._offers: Offers | None = None
        self._model = ItemsModel(self)
        self._list = ItemsView(self._model, "completion-list", "Completions", self)
        self._list.setItemDelegate(ItemDelegate(self._list))
        # Qt tells a screen reader of the current item of the view that has the focus.
        self._list.setFocusProxy(edit)
        self._list.clicked.connect(self._on_clicked)
        self._about = muted_label(wrap=True, name="completion-about")
        self._about.setAlignment(Qt.AlignmentFlag.AlignTop)
        selection = self._list.selectionModel()
        if selection is not None:
            selection.currentChanged.connect(self._on_current_changed)
        column = column_layout(self, margin=8, spacing=6)
        column.addWidget(self._list, 1)
        column.addWidget(self._about)
        edit.installEventFilter(self)
        edit.cursorPositionChanged.connect(self.hide)
        self.hide()

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Handle the keys of the text field: choose in the open list, or open the list while the user
        types.
        """
        if isinstance(a1, QKeyEvent) and a1.type() == QEvent.Type.KeyPress:
            return self._on_key(a1)
        if a1 is not None and a1.type() in (QEvent.Type.FocusOut, QEvent.Type.Wheel):
            self.hide()
        return super().eventFilter(a0, a1)

    def open(self) -> None:
        """Show the completions at the cursor."""
        self._renew(begun=False)

    def _on_key(self, event: QKeyEvent) -> bool:
        key, is_command = event.key(), bool(event.modifiers() & _COMMANDS)
        if key == Qt.Key.Key_Space and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.open()
            return True
        if self.isVisible() and not is_command:
            if self._list.move_by_key(key, _ROWS):
                return True
            if key == Qt.Key.Key_Escape:
                self.hide()
                return True
            if key in _ACCEPT:
                self._take(self._list.currentIndex())
                return True
        is_typed = event.text().isprintable() and bool(event.text()) and not is_command
        if not is_typed and not (key == Qt.Key.Key_Backspace and self.isVisible()):
            return False
        self._edit.keyPressEvent(event)
        if self.isVisible() or len(self._edit.text) <= LONGEST:
            self._renew(begun=True)
        return True

    def _renew(self, *, begun: bool) -> None:
        """Show the current completions; with ``begun``, only if the user has typed a part of the word."""
        offers = self._find(self._edit.text, self._place())
        self._offers = offers
        if offers is None or (begun and not offers.begun):
            self.hide()
            return
        items = [PickerItem(each, each.name, each.about) for each in offers.fitting]
        self._model.show(items, grouped=False)
        self._list.select(0)
        self._lie_beside(len(items))
        self.show()
        self.raise_()

    def _place(self) -> int:
        """Return the cursor's offset in Python characters; Qt counts a character beyond U+FFFF as two."""
        cursor = self._edit.textCursor()
        before = QTextCursor(cursor)
        before.setPosition(0)
        before.setPosition(cursor.position(), QTextCursor.MoveMode.KeepAnchor)
        return len(before.selectedText())

    def _lie_beside(self, rows: int) -> None:
        """Place the list below the cursor's line, or above if there is more space."""
        parent, view = self.parentWidget(), self._edit.viewport()
        assert parent is not None and view is not None
        line = self._edit.cursorRect()
        said = any(isinstance(r, PickerItem) and r.detail for r in map(self._model.row, range(rows)))
        self._about.setVisible(said)
        height = min(rows, _ROWS) * ItemDelegate.HEIGHT + (_ABOUT + 6 if said else 0) + 20
        self._about.setFixedHeight(_ABOUT)
        below = view.mapTo(parent, line.bottomLeft() + QPoint(0, 4))
        above = view.mapTo(parent, line.topLeft()) - QPoint(0, 4)
        is_below = below.y() + height <= parent.height() or parent.height() - below.y() >= above.y()
        width = min(_WIDTH, parent.width() - 16)
        height = min(height, parent.height() - below.y() - 8 if is_below else above.y() - 8)
        left = max(8, min(below.x(), parent.width() - width - 8))
        self.setGeometry(QRect(left, below.y() if is_below else above.y() - height, width, height))

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        row = self._model.row(current.row())
        offer = row.value if isinstance(row, PickerItem) else None
        if isinstance(offer, Offer):
            usual = f" Default: {offer.usual}." if offer.usual and offer.usual != "required" else ""
            needed = " Required." if offer.usual == "required" else ""
            about = offer.about[:1].upper() + offer.about[1:]
            self._about.setText(f"{about.rstrip('.')}.{usual}{needed}")

    def _on_clicked(self, index: QModelIndex) -> None:
        self._take(index)

    def _take(self, index: QModelIndex) -> None:
        """Insert a completion; after a key, show the completions for its value."""
        row, offers = self._model.row(index.row()), self._offers
        self.hide()
        if not isinstance(row, PickerItem) or not isinstance(row.value, Offer) or offers is None:
            return
        cursor, place = self._edit.textCursor(), self._place()
        at = cursor.position()
        cursor.setPosition(at - (place - offers.start))
        cursor.setPosition(at + (offers.end - place), QTextCursor.MoveMode.KeepAnchor)
        cursor.beginEditBlock()  # a step of its own for Undo
        cursor.insertText(row.value.written)
        cursor.endEditBlock()
        self._edit.setTextCursor(cursor)
        self.open()
