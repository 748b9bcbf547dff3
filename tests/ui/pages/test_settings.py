"""The settings page: every declared setting, saved at once, put back; keys kept and never shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest
from PyQt6.QtCore import Qt, QUrl
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import (
    QCheckBox,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gym_gui.ui import window_settings
from gym_gui.ui.context import AppContext, Notice
from gym_gui.ui.pages.settings import SettingRow, SettingsPage
from gym_gui.ui.widgets import IconButton, SegmentedControl
from gym_gui.ui.widgets.badges import StatusDot
from tests.support.named import named
from tests.ui.conftest import messages

LEFT = Qt.MouseButton.LeftButton
KEY = "sk-0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.delenv("OPENAI_API_KEY")
    yield
    keyring.set_keyring(before)


@pytest.fixture
def page(context: AppContext, qtbot: QtBot) -> SettingsPage:
    result = SettingsPage(context)
    qtbot.addWidget(result)
    result.resize(1208, 730)
    result.show()
    return result


def test_every_setting_has_a_row_that_can_be_reached(page: SettingsPage) -> None:
    for name in window_settings.names():
        control = named(named(page, SettingRow, f"setting-{name}"), QWidget, f"setting-{name}-control")
        assert control.accessibleName() == window_settings.about(name).title
        assert control.toolTip()


def test_a_choice_is_saved_at_once(page: SettingsPage, context: AppContext, qtbot: QtBot) -> None:
    control = named(page, SegmentedControl, "setting-theme-control")
    assert isinstance(control, SegmentedControl)
    qtbot.mouseClick(control.findChild(QPushButton, "setting-theme-control-dark"), LEFT)
    assert context.settings.values.theme == "dark"
    assert context.theme.dark
    assert '"dark"' in context.settings.path.read_text()


def test_a_number_is_typed_and_put_back(page: SettingsPage, context: AppContext, qtbot: QtBot) -> None:
    control = named(page, QSpinBox, "setting-frame_rate-control")
    assert isinstance(control, QSpinBox)
    back = named(page, QToolButton, "reset-frame_rate")
    assert not back.isVisible()
    control.selectAll()
    qtbot.keyClicks(control, "25")
    qtbot.keyClick(control, Qt.Key.Key_Return)
    assert context.settings.values.frame_rate == 25
    qtbot.mouseClick(back, LEFT)
    assert context.settings.values.frame_rate == window_settings.default("frame_rate")
    assert control.value() == window_settings.default("frame_rate")
    assert not back.isVisible()


def test_a_change_from_elsewhere_is_shown(page: SettingsPage, context: AppContext) -> None:
    control = named(page, QCheckBox, "setting-key_repeat-control")
    assert isinstance(control, QCheckBox)
    context.settings.set("key_repeat", False)
    assert not control.isChecked()


def test_reset_all_can_be_undone(page: SettingsPage, context: AppContext, qtbot: QtBot) -> None:
    context.settings.set("frame_rate", 15)
    context.settings.set("key_repeat", False)
    told: list[Notice] = []
    context.noticed.connect(told.append)
    qtbot.mouseClick(page.findChild(QPushButton, "button-reset-all"), LEFT)
    assert context.settings.values == window_settings.Settings()
    assert told[-1].text == "Reset 2 settings to the default"
    assert told[-1].action is not None
    told[-1].action[1]()
    assert (context.settings.values.frame_rate, context.settings.values.key_repeat) == (15, False)


def test_folders_are_shown_and_opened(
    page: SettingsPage, context: AppContext, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    # The desktop's file manager is not ours to start in a test.
    monkeypatch.setattr(
        QDesktopServices, "openUrl", lambda url: opened.append(Path(QUrl(url).toLocalFile())) or True
    )
    for name in ("runs", "data", "cache"):
        qtbot.mouseClick(page.findChild(QPushButton, f"open-folder-{name}"), LEFT)
    assert opened == [context.store.runs, context.store.data, context.store.cache]
    assert all(path.is_dir() for path in opened)


def test_a_key_is_kept_in_memory_where_there_is_no_keyring(
    page: SettingsPage, qtbot: QtBot, caplog: pytest.LogCaptureFixture, context: AppContext
) -> None:
    page.opened()
    state = named(page, StatusDot, "key-state-openai")
    named(page, QScrollArea, "settings-scroll").ensureWidgetVisible(state)
    qtbot.waitUntil(lambda: state.text == "None")
    assert any("stored in memory only" in said for said in messages(page))
    field = named(page, QLineEdit, "key-openai")
    assert field.echoMode() == QLineEdit.EchoMode.Password
    field.setText(KEY)
    qtbot.mouseClick(named(page, QPushButton, "save-key-openai"), LEFT)
    assert field.text() == ""
    qtbot.waitUntil(lambda: state.text.startswith("In memory"))
    qtbot.mouseClick(named(page, QPushButton, "forget-key-openai"), LEFT)
    qtbot.waitUntil(lambda: state.text == "None")
    assert KEY not in caplog.text
    assert not context.settings.path.exists()


def test_what_is_no_key_is_told(page: SettingsPage, qtbot: QtBot, context: AppContext) -> None:
    named(page, QLineEdit, "key-openai").setText("two words")
    with qtbot.waitSignal(context.noticed) as told:
        qtbot.mouseClick(named(page, QPushButton, "save-key-openai"), LEFT)
    assert told.args is not None
    assert told.args[0].text.startswith("The key is empty or has spaces")


def test_buttons_with_a_picture_alone_say_what_they_do(page: SettingsPage) -> None:
    for button in page.findChildren(IconButton):
        assert button.accessibleName()
        assert button.toolTip()
