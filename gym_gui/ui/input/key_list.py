"""A list with a button for each action of a slot, which also shows the action's keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QLabel, QPushButton, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.input.key_names import key_sign
from gym_gui.ui.widgets import Divider, KeyCap, restyle
from gym_gui.ui.widgets.layouts import column_layout, empty, row_layout

CAPS_WIDTH = 104


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One action and its keys.

    Attributes:
        target: The action's number, or (component, value) in a continuous action.
        word: Name of the action.
        keys: Keys of the action.
    """

    target: int | tuple[int, float]
    word: str
    keys: tuple[str, ...]


class KeyRowButton(QPushButton):
    """Row of the list of keys; a click does the same as the action's keys."""

    def __init__(self, row: KeyRow, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.row = row
        self.setProperty("role", "row")
        self.setObjectName(f"action-{_slug(row.word)}")
        self.setFixedHeight(theme.CONTROL_HEIGHT + 4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        layout = row_layout(self, margin=(theme.ROW, 0, theme.ROW, 0), spacing=theme.STEP)
        caps = QWidget(self)
        caps.setFixedWidth(CAPS_WIDTH)
        caps.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._caps = row_layout(caps, spacing=theme.STEP)
        layout.addWidget(caps)
        word = QLabel(row.word.replace("_", " "), self)
        word.setTextFormat(Qt.TextFormat.PlainText)
        word.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout.addWidget(word, 1)
        self._fill()

    def _fill(self) -> None:
        for key in self.row.keys[:3]:
            self._caps.addWidget(KeyCap(key_sign(key)))
        if not self.row.keys:
            none = QLabel("no key")
            none.setProperty("role", "small")
            self._caps.addWidget(none)
        self._caps.addStretch(1)
        keys = " or ".join(map(key_sign, self.row.keys)) or "no key"
        self.setAccessibleName(f"{self.row.word}: {keys}")

    def show_text(self, text: str) -> None:
        """Show a text in place of the keys, such as ``press a key…``; an empty text shows the keys."""
        empty(self._caps)
        if text:
            note = QLabel(text)
            note.setProperty("role", "small")
            self._caps.addWidget(note)
        else:
            self._fill()

    def set_held(self, held: bool) -> None:
        """Mark the row while one of its keys is held."""
        if bool(self.property("held")) != held:
            self.setProperty("held", held)
            self.setDown(held)
            restyle(self)


class KeyList(QWidget):
    """List with a row for each action of a slot.

    Args:
        rows: Rows to show.
        most: Largest number of rows; further ones are left out.
        parent: Qt parent.
    """

    triggered = pyqtSignal(object)
    """Emits the action of a clicked row."""
    pushed = pyqtSignal(object, bool)
    """Emits the action of a continuous action's row, and whether the row is pressed or released."""

    def __init__(self, rows: Sequence[KeyRow] = (), *, most: int = 20, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("key-list")
        self._most = most
        self._layout = column_layout(self, spacing=0)
        self._buttons: dict[int | tuple[int, float], KeyRowButton] = {}
        self.set_rows(rows)

    @property
    def buttons(self) -> Mapping[int | tuple[int, float], KeyRowButton]:
        """Buttons of the rows, by action."""
        return self._buttons

    def set_rows(self, rows: Sequence[KeyRow]) -> None:
        """Replace all rows of the list."""
        empty(self._layout)
        self._buttons = {}
        for place, row in enumerate(rows[: self._most]):
            if place:
                self._layout.addWidget(Divider(self))
            button = KeyRowButton(row, self)
            if isinstance(row.target, tuple):
                button.pressed.connect(self._on_pressed)
                button.released.connect(self._on_released)
                button.setToolTip(f"Hold for {row.word}; the same as holding its key")
            else:
                button.clicked.connect(self._on_clicked)
                button.setToolTip(f"Play “{row.word}”; the same as pressing its key")
            self._layout.addWidget(button)
            button.show()  # at once, because the button may get the keyboard focus before the next event
            self._buttons[row.target] = button

    def set_legal(self, legal: Sequence[int] | None) -> None:
        """Enable only the rows of legal actions; ``None`` enables all."""
        for target, button in self._buttons.items():
            button.setEnabled(legal is None or not isinstance(target, int) or target in legal)

    def set_held(self, keys: frozenset[str]) -> None:
        """Mark the rows whose keys are held."""
        for button in self._buttons.values():
            button.set_held(any(key in keys for key in button.row.keys))

    def _row(self) -> KeyRow | None:
        sender = self.sender()
        return sender.row if isinstance(sender, KeyRowButton) else None

    def _on_clicked(self) -> None:
        row = self._row()
        if row is not None:
            self.triggered.emit(row.target)

    def _on_pressed(self) -> None:
        row = self._row()
        if row is not None:
            self.pushed.emit(row.target, True)

    def _on_released(self) -> None:
        row = self._row()
        if row is not None:
            self.pushed.emit(row.target, False)


def _slug(word: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in word.lower()).strip("-") or "action"
