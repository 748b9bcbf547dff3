"""What of a dialog a person without a mouse could not use: Tab, Enter and Esc, pressed in it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

_MOST_STOPS = 120


def wrong_by_keyboard(dialog: Any) -> list[str]:
    """Presses Tab until it comes around; a sentence for each control that it misses, or takes out of order.

    Args:
        dialog: Open, with the keyboard in it.
    """
    from PyQt6.QtCore import Qt
    from PyQt6.QtTest import QTest
    from PyQt6.QtWidgets import QApplication, QPushButton, QWidget

    keys: Any = QTest  # whose first argument PyQt's types have wrong
    found: list[str] = []
    stops: list[Any] = []
    while len(stops) < _MOST_STOPS:
        held = QApplication.focusWidget()
        if held is None or held in stops:
            break
        stops.append(held)
        key = Qt.KeyboardModifier.ControlModifier if _writes_tabs(held) else Qt.KeyboardModifier.NoModifier
        keys.keyClick(held, Qt.Key.Key_Tab, key)
        if QApplication.focusWidget() is held:
            found.append(f"Tab does not leave {_name(held)}")
            break
    wanted = [w for w in dialog.findChildren(QWidget) if _is_stop(w)]
    found += [f"Tab does not reach {_name(each)}" for each in wanted if each not in stops]
    first = min(stops, key=_place, default=None)
    while earlier := [each for each in stops if _before(each, first)]:
        first = earlier[0]  # the filled button may be taller, and so begin higher, than those before it
    begin = stops.index(first) if stops else 0
    stops = stops[begin:] + stops[:begin]  # the keyboard may have begun anywhere
    for one, two in pairwise(stops):
        if _before(two, one):
            found.append(f"Tab goes to {_name(one)} before {_name(two)}")
    buttons = [each for each in dialog.findChildren(QPushButton) if each.isVisible()]
    main = [each for each in buttons if each.property("role") == "primary"]
    on_a_button = isinstance(QApplication.focusWidget(), QPushButton)
    if main and not on_a_button and not any(each.isDefault() for each in main):
        found.append(f"Enter does not press {_name(main[0])}")
    return found


def closes_on_escape(dialog: Any) -> bool:
    """Presses Esc where the keyboard is; whether that has closed it."""
    from PyQt6.QtCore import Qt
    from PyQt6.QtTest import QTest

    keys: Any = QTest
    for _ in range(2):  # what is open in it goes first
        if dialog.isVisible():
            keys.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Escape)
    return not dialog.isVisible()


def _is_stop(widget: Any) -> bool:
    from PyQt6.QtCore import Qt

    tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    return bool(tab) and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None


def _writes_tabs(widget: Any) -> bool:
    return getattr(widget, "tabChangesFocus", lambda: True)() is False and not widget.isReadOnly()


def _place(widget: Any) -> tuple[int, int]:
    at = widget.mapToGlobal(widget.rect().topLeft())
    return at.y(), at.x()


def _before(one: Any, two: Any) -> bool:
    """Whether one reads the first before the second; only of what stands in one widget it is known."""
    a, b = one.geometry(), two.geometry()
    above = a.bottom() < b.top()
    beside = a.top() <= b.bottom() and b.top() <= a.bottom() and a.right() < b.left()
    return one.parentWidget() is two.parentWidget() and (above or beside)


def _name(widget: Any) -> str:
    return widget.objectName() or widget.accessibleName() or type(widget).__name__
