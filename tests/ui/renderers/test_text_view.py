"""Text: its colors, its size, its selection."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontMetricsF, QTextCursor
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from gym_gui.envs import make
from gym_gui.ui import theme as themes
from gym_gui.ui.renderers import TextView
from gym_gui.ui.theme import Theme

Show = Callable[..., None]


def screen_of(view: TextView) -> QPlainTextEdit:
    found = view.findChild(QPlainTextEdit)
    assert found is not None
    return found


def frozen_lake() -> str:
    environment = make("FrozenLake-v1", render_mode="ansi")
    environment.adapter.reset(seed=1)
    text = environment.ansi()
    environment.close()
    return text


def test_frozen_lake_marks_where_one_stands(theme: Theme, shown: Show) -> None:
    view = TextView(theme)
    shown(view)
    view.show_text(frozen_lake())
    assert view.text().split() == ["SFFF", "FHFH", "FFFH", "HFFG"]
    cursor = QTextCursor(screen_of(view).document())
    cursor.setPosition(view.text().index("S") + 1)
    look = cursor.charFormat()
    assert look.background().style() == Qt.BrushStyle.SolidPattern
    assert themes.contrast(look.background().color(), look.foreground().color()) >= 4.5
    cursor.setPosition(view.text().index("S") + 2)
    assert cursor.charFormat().background().style() == Qt.BrushStyle.NoBrush


def test_letters_grow_with_the_room_and_all_are_seen(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    view = TextView(theme)
    shown(view, 200, 160)
    view.show_text("\n".join(["+---------+"] * 7))
    screen = screen_of(view)

    def pixels() -> int:
        QApplication.processEvents()
        return screen.font().pixelSize()

    small = pixels()
    view.resize(600, 500)
    assert pixels() > small
    for bar in (screen.verticalScrollBar(), screen.horizontalScrollBar()):
        assert bar is not None and bar.maximum() == 0
    needed = QFontMetricsF(screen.font()).horizontalAdvance("+---------+")
    assert screen.viewport().width() >= needed  # type: ignore[union-attr]


def test_long_text_wraps_and_scrolls_and_stays_readable(theme: Theme, shown: Show) -> None:
    view = TextView(theme)
    shown(view, 240, 200)
    view.show_text("You are in a kitchen. " * 200)
    QApplication.processEvents()
    screen = screen_of(view)
    assert screen.font().pixelSize() >= 11
    assert screen.verticalScrollBar().maximum() > 0  # type: ignore[union-attr]
    # A blank at the end of a line may stand outside, a letter may not.
    blank = QFontMetricsF(screen.font()).horizontalAdvance(" ")
    assert screen.horizontalScrollBar().maximum() <= blank + 1  # type: ignore[union-attr]


def test_text_can_be_copied_by_keyboard_and_the_same_text_keeps_the_selection(
    theme: Theme, shown: Show
) -> None:
    view = TextView(theme)
    shown(view)
    view.show_text("\x1b[31mone\x1b[0m two")
    QTest.keyClick(screen_of(view), Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    view.show_text("\x1b[31mone\x1b[0m two")
    QTest.keyClick(screen_of(view), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    clipboard = QApplication.clipboard()
    assert clipboard is not None and clipboard.text() == "one two"
    assert screen_of(view).isReadOnly()


def test_a_new_theme_keeps_the_text(theme: Theme, shown: Show) -> None:
    view = TextView(theme)
    shown(view)
    view.show_text("stays")
    theme.set_mode("dark")
    assert view.text() == "stays"
    view.clear()
    assert not screen_of(view).isVisible()
