"""Keys in what lies over the window."""

from __future__ import annotations

import re
from pathlib import Path

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QInputDialog, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets import PrimaryButton, QuietButton
from gym_gui.ui.widgets.dialog import Dialog

UI = Path(__file__).resolve().parents[3] / "gym_gui/ui"


def test_enter_does_what_the_dialog_is_for_and_tab_goes_as_one_reads(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    dialog = Dialog("asked", "Asked", window)
    ended: list[int] = []
    dialog.finished.connect(ended.append)
    cancel = QuietButton("Cancel", on_click=dialog.reject)  # made first, stands last
    done = PrimaryButton("Save", on_click=dialog.accept)
    field = QLineEdit(dialog)
    column = QVBoxLayout(dialog)
    for widget in (field, done, cancel):
        column.addWidget(widget)
    dialog.open()
    qtbot.waitExposed(dialog)
    qtbot.waitUntil(lambda: dialog.focusWidget() is field)
    for expected in (done, cancel, field):
        held = dialog.focusWidget()
        assert held is not None
        qtbot.keyClick(held, Qt.Key.Key_Tab)
        assert dialog.focusWidget() is expected
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert ended == [Dialog.DialogCode.Accepted.value]


def test_all_dialogs_are_such() -> None:
    others = [
        str(path)
        for path in UI.rglob("*.py")
        if path.name != "dialog.py" or path.parent.name == "hosts"
        if re.search(r"\(QDialog\)|= QDialog\(", path.read_text())
    ]
    assert others == []


def test_the_toolkits_own_dialogs_have_their_buttons_in_the_same_order(
    context: AppContext, qtbot: QtBot
) -> None:
    dialog = QInputDialog()
    qtbot.addWidget(dialog)
    dialog.setOkButtonText("Save")
    dialog.show()
    qtbot.waitExposed(dialog)
    places = {button.text().replace("&", ""): button.x() for button in dialog.findChildren(QPushButton)}
    assert places["Cancel"] < places["Save"]
