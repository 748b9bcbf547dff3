"""Names of keys: from Qt's events to key schemes, and from key schemes to displayed text."""

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
"""Names of modifier keys, which Qt's key sequences cannot name alone."""
NOT_FOR_PLAY: Final = frozenset({"Esc", "Tab", "Backtab", "Meta", "AltGr", "Alt", "Ctrl", "F1"})
"""Keys that are reserved for the window and cannot be bound to actions."""
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
    """Return the name of an event's key in key schemes, such as ``Up``, ``W`` or ``Shift``, or ``""``."""
    key = event.key()
    if key in _MODIFIERS:
        return _MODIFIERS[Qt.Key(key)]
    if key in (0, Qt.Key.Key_unknown):
        return ""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)


def key_sign(name: str) -> str:
    """Return the displayed text of a key: arrows as symbols, combinations with a plus sign."""
    if name == "+":
        return name
    return " + ".join(_SIGNS.get(part, part) for part in name.split("+") if part) or name
