"""A family of environments that is missing is installed from the list where it stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.ui.context import AppContext
from gym_gui.ui.play.environment_picker import EnvironmentPicker
from gym_gui.ui.play.install_dialog import InstallDialog
from gym_gui.ui.widgets import PickerItem
from tests.support.named import named

LONG = 60_000
ABSENT = PickerItem("family:box2d", "Box2D", "", "Not installed", "mosaic envs install box2d")


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No index has anything, whatever this machine has set for pip and uv."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))


@pytest.fixture
def picker(context: AppContext, qtbot: QtBot) -> EnvironmentPicker:
    result = EnvironmentPicker(context)
    qtbot.addWidget(result)
    return result


def open_dialog(picker: EnvironmentPicker, qtbot: QtBot, item: PickerItem) -> InstallDialog:
    picker.show()
    picker.set_items([PickerItem("CartPole-v1", "CartPole-v1"), item])
    picker.open()
    qtbot.keyClicks(named(picker, QLineEdit, "picker-search"), item.label)
    qtbot.keyClick(named(picker, QLineEdit, "picker-search"), Qt.Key.Key_Return)
    dialog = picker.findChild(InstallDialog)
    assert dialog is not None and dialog.isVisible()
    assert picker.value is None, "it is not an environment"
    return dialog


def test_what_is_there_is_found_and_told(picker: EnvironmentPicker, qtbot: QtBot, no_index: None) -> None:
    dialog = open_dialog(picker, qtbot, PickerItem("family:minigrid", "MiniGrid", "", "", "missing"))
    assert "mosaic envs install minigrid" in named(dialog, QLabel, "install-state").text()
    with qtbot.waitSignal(dialog.installed, timeout=LONG):
        qtbot.mouseClick(named(dialog, QPushButton, "install-start"), Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()


@pytest.mark.usefixtures("no_index")
def test_what_cannot_be_had_is_said_and_may_be_tried_again(picker: EnvironmentPicker, qtbot: QtBot) -> None:
    dialog = open_dialog(picker, qtbot, PickerItem("family:nothing", "Nothing", "", "", "missing"))
    start = named(dialog, QPushButton, "install-start")
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: start.text() == "Try again", timeout=LONG)
    said = named(dialog, QLabel, "install-state").text()
    assert said.startswith("Unknown environment family 'nothing'. Known:") and "{" not in said
    dialog.reject()


@pytest.mark.usefixtures("no_index")
def test_closing_stops_it(picker: EnvironmentPicker, qtbot: QtBot) -> None:
    dialog = open_dialog(picker, qtbot, ABSENT)
    start = named(dialog, QPushButton, "install-start")
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    assert not start.isEnabled()
    qtbot.mouseClick(named(dialog, QPushButton, "install-cancel"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not dialog.isVisible())
