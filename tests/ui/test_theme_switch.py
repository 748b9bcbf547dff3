"""After a switch nothing keeps the colors of the theme before."""

from __future__ import annotations

from typing import Any

from PyQt6.QtCore import QEvent, QObject
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QProxyStyle,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets import Card, EmptyHint, PickerButton, PrimaryButton, QuietButton, title_label
from gym_gui.ui.widgets.scrolling import scroll_over
from tests.support.named import named


def test_text_can_be_read_after_every_switch(context: AppContext, qtbot: QtBot) -> None:
    panel = QWidget()
    qtbot.addWidget(panel)
    layout = QVBoxLayout(panel)
    widgets: list[QWidget] = [
        QLabel("plain"),
        title_label("Title"),
        QPushButton("Button"),
        QuietButton("Quiet"),
        PickerButton(),
        QLineEdit("text"),
        QSpinBox(),
        QComboBox(),
        QCheckBox("check"),
        QPlainTextEdit("text"),
        QListWidget(),
    ]
    for widget in (*widgets, Card("Card"), EmptyHint("Nothing", "Yet."), PrimaryButton("Main")):
        layout.addWidget(widget)
    panel.show()
    qtbot.waitExposed(panel)
    for mode in ("dark", "light", "dark", "light"):
        context.theme.set_mode(mode)
        qtbot.wait(1)
        wanted = QColor(context.theme.tokens.text)
        for widget in widgets:
            palette = widget.palette()
            color = palette.color(widget.foregroundRole())
            assert color == wanted, f"{type(widget).__name__} in {mode}: {color.name()}"
        hint = panel.findChild(EmptyHint)
        assert hint is not None
        shown = named(hint, QLabel, "empty-title").palette().windowText().color()
        assert theme.contrast(shown, context.theme.tokens.window) >= 4.5


def test_what_scrolls_shows_what_is_behind_it_after_every_switch(context: AppContext, qtbot: QtBot) -> None:
    context.theme.set_mode("dark")
    panel, content = QWidget(), QWidget()
    qtbot.addWidget(panel)
    content.setMinimumSize(40, 40)
    scroll = scroll_over(content)
    layout = QVBoxLayout(panel)
    layout.setContentsMargins(10, 10, 10, 10)
    layout.addWidget(scroll)
    panel.resize(100, 100)
    panel.show()
    qtbot.waitExposed(panel)
    for mode in ("light", "dark", "light"):
        context.theme.set_mode(mode)
        qtbot.wait(1)
        picture = panel.grab().toImage()
        assert picture.pixelColor(50, 50) == picture.pixelColor(2, 2), mode


class _Restyled(QObject):
    """How often a widget is told that it looks different."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times = 0
        widget.installEventFilter(self)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        self.times += a1 is not None and a1.type() == QEvent.Type.StyleChange
        return False


def test_a_switch_takes_no_longer_for_a_widget_that_lies_deep(context: AppContext, qtbot: QtBot) -> None:
    outermost = inner = QWidget()
    qtbot.addWidget(outermost)
    for _ in range(25):
        layout = QVBoxLayout(inner)
        inner = QWidget()
        layout.addWidget(inner)
    label = QLabel("deep", inner)
    outermost.show()
    qtbot.waitExposed(outermost)
    context.theme.set_mode("dark")
    seen = _Restyled(label)
    context.theme.set_mode("light")
    assert 0 < seen.times <= 4


def test_a_switch_polishes_each_widget_once(context: AppContext, qtbot: QtBot) -> None:
    label, unseen = QLabel("seen"), QLabel("never shown")
    for each in (label, unseen):
        qtbot.addWidget(each)
    label.show()
    qtbot.waitExposed(label)
    polished = list[object]()

    class Counted(QProxyStyle):
        def polish(self, widget: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
            if widget in (label, unseen):
                polished.append(widget)
            return super().polish(widget)

    QApplication.setStyle(Counted("Fusion"))
    try:
        context.theme.set_mode("light")
        for mode in ("dark", "light"):
            polished.clear()
            context.theme.set_mode(mode)
            assert polished == [label]
            assert label.palette().color(label.foregroundRole()) == QColor(context.theme.tokens.text)
    finally:
        QApplication.setStyle("Fusion")
