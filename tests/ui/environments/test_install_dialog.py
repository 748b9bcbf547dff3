"""A family of environments that is missing is installed from the list where it stands."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QLineEdit, QListView, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.controllers.setup.installing import Installable
from gym_gui.envs.families.gymnasium import Box2DFamily, MuJoCoFamily
from gym_gui.envs.families.minigrid import AtariFamily
from gym_gui.envs.families.procgen import ProcgenFamily
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.environment_picker import EnvironmentPicker, catalog
from gym_gui.ui.environments.install_dialog import InstallDialog, open_install_dialog
from gym_gui.ui.widgets import PickerItem
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

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


def test_what_is_there_is_found_and_told(
    picker: EnvironmentPicker, context: AppContext, qtbot: QtBot, no_index: None
) -> None:
    dialog = open_dialog(picker, qtbot, PickerItem("family:minigrid", "MiniGrid", "", "", "missing"))
    assert "mosaic envs install minigrid" in named(dialog, QLabel, "install-state").text()
    with qtbot.waitSignals([dialog.installed, context.installed], timeout=PATIENCE_MS):
        qtbot.mouseClick(named(dialog, QPushButton, "install-start"), Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()


@pytest.mark.usefixtures("no_index")
def test_what_cannot_be_had_is_said_and_may_be_tried_again(picker: EnvironmentPicker, qtbot: QtBot) -> None:
    dialog = open_dialog(picker, qtbot, PickerItem("family:nothing", "Nothing", "", "", "missing"))
    start = named(dialog, QPushButton, "install-start")
    assert not dialog.isModal(), "a download takes minutes"
    assert dialog.windowTitle() == "Install Nothing"
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    assert dialog.windowTitle() == "Installing Nothing…" == named(dialog, QLabel, "install-heading").text()
    qtbot.waitUntil(lambda: start.text() == "Try again")
    assert dialog.windowTitle() == "Nothing could not be installed"
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


def test_asked_for_twice_it_is_one(context: AppContext, picker: EnvironmentPicker, qtbot: QtBot) -> None:
    picker.show()
    missing = Installable("envs", "box2d")
    first = open_install_dialog(context, missing, picker, picker.renew)
    assert open_install_dialog(context, missing, picker, picker.renew) is first
    first.reject()


@pytest.mark.parametrize(
    ("typed", "found", "family"),
    [
        ("lunar", "LunarLander-v3", "box2d"),
        ("halfcheetah", "HalfCheetah-v5", "mujoco"),
        ("cheetah", "HalfCheetah-v5", "mujoco"),
        ("pong", "ALE/Pong-v5", "atari"),
        ("coinrun", "procgen/coinrun", "procgen"),
    ],
)
def test_environments_of_families_that_are_not_installed_are_found(
    picker: EnvironmentPicker,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    found: str,
    family: str,
) -> None:
    for each in (MuJoCoFamily, Box2DFamily, AtariFamily):
        monkeypatch.setattr(each, "installed", False)
    monkeypatch.setattr(ProcgenFamily, "installed", False)
    picker.set_items(catalog())
    picker.show()
    picker.open()
    assert picker.popup is not None
    values = [row.value for row in shown(picker)]
    assert f"family:{family}/{found}" not in values and f"family:{family}" in values
    qtbot.keyClicks(named(picker, QLineEdit, "picker-search"), typed)
    hits = {row.value: row for row in shown(picker)}
    assert hits[f"family:{family}/{found}"].detail.endswith("Install…")
    row = picker.popup.model.row_of(f"family:{family}/{found}")
    index = picker.popup.model.index(row)
    view = named(picker.popup, QListView, "picker-list")
    view.scrollTo(index)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center())
    dialog = picker.findChild(InstallDialog)
    assert (
        dialog is not None
        and f"mosaic envs install {family}" in named(dialog, QLabel, "install-state").text()
    )
    dialog.reject()


def shown(picker: EnvironmentPicker) -> list[PickerItem]:
    assert picker.popup is not None
    rows = (picker.popup.model.row(n) for n in range(picker.popup.model.rowCount()))
    return [row for row in rows if isinstance(row, PickerItem)]


def test_no_two_environments_are_called_alike() -> None:
    labels = Counter(item.label for item in catalog() if not item.searched_only)
    assert [label for label, times in labels.items() if times > 1] == []
    assert {"Connect Four (PettingZoo)", "Connect Four (OpenSpiel)"} <= labels.keys()
