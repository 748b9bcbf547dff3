"""Key names: from Qt's events to key schemes, and from key schemes to people."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QKeyEvent, QKeySequence

_MODIFIERS: Final = {
    Qt.Key.Key_Shift: "Shift",
    Qt.Key.Key_Control: "Ctrl",
    Qt.Key.Key_Alt: "Alt",
    Qt.Key.Key_Meta: "Meta",
    Qt.Key.Key_AltGr: "AltGr",
}
"""Keys that Qt's key sequences cannot name alone."""
NOT_FOR_PLAY: Final = frozenset({"Esc", "Tab", "Backtab", "Meta", "AltGr", "Alt", "Ctrl", "F1"})
"""Keys that belong to the window and cannot be bound."""
_SIGNS: Final = {
    "Up": "↑",
    "Down": "↓",
    "Left": "←",
    "Right": "→",
    "Return": "Enter",
    "PgUp": "Page up",
    "PgDown": "Page down",
    "Del": "Delete",
    "Ins": "Insert",
}


def key_name(event: QKeyEvent) -> str:
    """Return a key's name in key schemes (``Up``, ``W``, ``Shift``); empty if it has none."""
    key = event.key()
    if key in _MODIFIERS:
        return _MODIFIERS[Qt.Key(key)]
    if key in (0, Qt.Key.Key_unknown):
        return ""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)


def key_sign(name: str) -> str:
    """Return the text of a keycap: arrows as symbols, chords with a plus."""
    if name == "+":
        return name
    return " + ".join(_SIGNS.get(part, part) for part in name.split("+") if part) or name
