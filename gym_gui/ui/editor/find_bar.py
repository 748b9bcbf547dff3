"""Search bar of the text editor, which finds words and goes to a line."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PyQt6.QtWidgets import QWidget

from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.widgets import IconButton, QuietButton, muted_label
from gym_gui.ui.widgets.layouts import row_layout
from gym_gui.ui.widgets.search_field import search_field


class FindBar(QWidget):
    """Search bar that finds words while the user types them; a colon and digits go to a line.

    Args:
        edit: The text field.
        parent: Qt owner.
    """

    closed = pyqtSignal()

    def __init__(self, edit: CodeEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("find-bar")
        self._edit = edit
        self.field = search_field(
            "find-words",
            "Find text, or :12 for line 12",
            self._on_text_changed,
            called="Find words, or type a colon and a line number",
            parent=self,
        )
        self.count = muted_label("", name="find-count")
        before = QuietButton(
            "Previous",
            name="find-previous",
            tooltip="Select the previous match (Shift+F3)",
            on_click=self.previous,
        )
        after = QuietButton(
            "Next", name="find-next", tooltip="Select the next match (F3 or Enter)", on_click=self.next
        )
        close = IconButton("close", "Close (Esc)", name="find-close", on_click=self.shut)
        row = row_layout(self)
        row.addWidget(self.field, 1)
        row.addWidget(self.count)
        for button in (before, after, close):
            row.addWidget(button)
        self.hide()

    def open(self, words: str = "") -> None:
        """Show the bar with the given words, else the selected words, else those of the last search."""
        selected = self._edit.textCursor().selectedText()
        self.show()
        self.field.setText(words or (selected if "\u2029" not in selected else "") or self.field.text())
        self.field.setFocus()
        if words:
            self.field.end(False)
        else:
            self.field.selectAll()

    def shut(self) -> None:
        """Hide the bar and return the focus to the text."""
        self.hide()
        self._edit.setFocus()
        self.closed.emit()

    def next(self) -> None:
        """Select the next match; after the last match, the first."""
        self._find(forward=True)

    def previous(self) -> None:
        """Select the previous match; before the first match, the last."""
        self._find(forward=False)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Find the next match with Enter and the previous one with Shift+Enter; close the bar with Esc."""
        key = a0.key() if a0 is not None else None
        if a0 is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.field.text().startswith(":"):
                self.shut()
            elif a0.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.previous()
            else:
                self.next()
        elif key == Qt.Key.Key_Escape:
            self.shut()
        else:
            super().keyPressEvent(a0)

    def _on_text_changed(self, words: str) -> None:
        if words.startswith(":"):
            self.count.setText("")
            if words[1:].isdecimal():
                self._edit.go_to(int(words[1:]))
                self.field.setFocus()
            return
        cursor = self._edit.textCursor()
        cursor.setPosition(cursor.selectionStart())  # a longer word may begin at this match
        self._edit.setTextCursor(cursor)
        self._find(forward=True)

    def _find(self, *, forward: bool) -> None:
        words, document = self.field.text(), self._edit.document()
        if not words or words.startswith(":") or document is None:
            self.count.setText("")
            return
        flags = QTextDocument.FindFlag(0) if forward else QTextDocument.FindFlag.FindBackward
        found = document.find(words, self._edit.textCursor(), flags)
        if found.isNull():
            end = QTextCursor(document)
            if not forward:
                end.movePosition(QTextCursor.MoveOperation.End)
            found = document.find(words, end, flags)
        if found.isNull():
            self.count.setText("Not found")
            return
        self._edit.setTextCursor(found)
        self._edit.centerCursor()
        text, lower = self._edit.text.casefold(), words.casefold()
        self.count.setText(f"{text[: found.selectionStart()].count(lower) + 1} of {text.count(lower)}")
