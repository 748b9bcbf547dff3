"""Names of keys: from Qt's events to those of key schemes, and to what people read."""

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
"""Keys that Qt's key sequences cannot name on their own."""
NOT_FOR_PLAY: Final = frozenset({"Esc", "Tab", "Backtab", "Meta", "AltGr", "Alt", "Ctrl", "F1"})
"""Keys that belong to the window: they cannot be bound."""
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
    """The key's name as schemes write it (``Up``, ``W``, ``Shift``); empty for none that has one."""
    key = event.key()
    if key in _MODIFIERS:
        return _MODIFIERS[Qt.Key(key)]
    if key in (0, Qt.Key.Key_unknown):
        return ""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)


def key_sign(name: str) -> str:
    """What a keycap shows: arrows as arrows, a chord with a plus."""
    if name == "+":
        return name
    return " + ".join(_SIGNS.get(part, part) for part in name.split("+") if part) or name
