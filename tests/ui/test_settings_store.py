"""Settings are kept, checked, and come back to their defaults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.core.errors import UsageError
from gym_gui.ui import window_settings
from gym_gui.ui.window_settings import Settings, SettingsStore


def test_a_change_is_saved_at_once_and_read_again(tmp_path: Path, qtbot: QtBot) -> None:
    store = SettingsStore(tmp_path)
    with qtbot.waitSignal(store.changed) as told:
        store.set("frame_rate", 24)
    assert told.args == ["frame_rate"]
    assert SettingsStore(tmp_path).values == Settings(frame_rate=24)
    assert json.loads(store.path.read_text()) == {"frame_rate": 24}


def test_a_reset_leaves_nothing_in_the_file(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path)
    store.set("theme", "dark")
    store.reset("theme")
    assert store.values == Settings()
    assert json.loads(store.path.read_text()) == {}


def test_the_same_value_again_says_nothing(tmp_path: Path, qtbot: QtBot) -> None:
    store = SettingsStore(tmp_path)
    with qtbot.assertNotEmitted(store.changed):
        store.set("theme", "system")
    assert not store.path.exists()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("theme", "pink", "system, light, dark"),
        ("frame_rate", 1000, "from 1 to 60"),
        ("frame_rate", "fast", "int"),
        ("frame_rate", True, "int"),
        ("menu_bar", "yes", "bool"),
        ("unknown", 1, "theme"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_way_out(
    tmp_path: Path, name: str, value: object, words: str
) -> None:
    store = SettingsStore(tmp_path)
    with pytest.raises(UsageError, match=words):
        store.set(name, value)
    assert store.values == Settings()


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"frame_rate": "x", "theme": "dark", "gone": 1}'])
def test_a_damaged_file_loses_only_what_is_damaged(tmp_path: Path, text: str) -> None:
    (tmp_path / window_settings.FILE).write_text(text)
    expected = Settings(theme="dark") if "dark" in text else Settings()
    assert SettingsStore(tmp_path).values == expected


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = SettingsStore(tmp_path / "file")
    with pytest.raises(UsageError, match="MOSAIC_DATA_DIR"):
        store.set("theme", "dark")
    assert store.values.theme == "dark"


@pytest.mark.parametrize("name", window_settings.names())
def test_every_setting_is_declared_whole(name: str) -> None:
    says = window_settings.about(name)
    assert says.section
    assert says.title
    assert says.text.endswith(".")
    assert window_settings.checked(name, window_settings.default(name)) == window_settings.default(name)
