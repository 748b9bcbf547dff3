"""The key list, its editor, and whose keys are shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.core.live import HumanQuestion
from gym_gui.envs.keymaps import Axis, KeyScheme
from gym_gui.ui.input.action_form import ActionForm
from gym_gui.ui.input.key_editor import KeyEditor, rows_of
from gym_gui.ui.input.key_list import KeyList, KeyRowButton
from gym_gui.ui.input.keys_panel import KeysPanel, PersonKeys
from gym_gui.ui.widgets.message_panels import InlineMessage
from tests.support.named import named

WORDS = {0: "left", 1: "right", 2: "pick up"}
KEYS = KeyScheme({"Left": 0, "Right": 1, "Space": 2})
SPACE = {"kind": "Discrete", "n": 3, "start": 0}
PUSH = KeyScheme(axes=(Axis("Left", 0, -1.0, "steer left"), Axis("Right", 0, 1.0, "steer right")))


def mine(scheme: KeyScheme = KEYS, **more: Any) -> PersonKeys:
    return PersonKeys(scheme, WORDS, more.pop("action", SPACE), **more)


@pytest.fixture
def panel(qtbot: QtBot, context: object) -> Iterator[KeysPanel]:
    result = KeysPanel()
    result.resize(268, 500)
    result.show()
    qtbot.waitExposed(result)
    result.activateWindow()
    qtbot.waitUntil(result.isActiveWindow)
    yield result
    result.close()
    result.deleteLater()


def rows(panel: KeysPanel, name: str = "keys-now") -> dict[Any, KeyRowButton]:
    """What is offered, by what it plays."""
    shown = named(panel, KeyList, name).findChildren(KeyRowButton)
    return {each.row.target: each for each in shown if not each.isHidden()}


def test_rows_have_all_keys_and_all_actions() -> None:
    rows = rows_of(KeyScheme({"Left": 0, "A": 0, "Right": 1}), WORDS)
    assert [(row.word, row.keys) for row in rows] == [
        ("left", ("Left", "A")),
        ("right", ("Right",)),
        ("pick up", ()),
    ]


def test_a_click_on_a_row_plays_it(panel: KeysPanel, qtbot: QtBot) -> None:
    panel.set_people({"a": mine()})
    with qtbot.waitSignal(panel.acted) as acted:
        qtbot.mouseClick(rows(panel)[2], Qt.MouseButton.LeftButton)
    assert acted.args == ["a", 2]


def test_only_what_is_legal_is_offered(panel: KeysPanel) -> None:
    panel.set_people({"a": mine()})
    panel.set_question(HumanQuestion(1, 0, 0, "a", "a", legal=(0,), space=SPACE))
    assert [target for target, row in rows(panel).items() if row.isEnabled()] == [0]
    panel.set_question(None)
    assert all(row.isEnabled() for row in rows(panel).values())


def test_a_row_of_a_continuous_action_is_held(panel: KeysPanel, qtbot: QtBot) -> None:
    box = {"kind": "Box", "shape": [1], "low": -1.0, "high": 1.0}
    panel.set_people({"a": mine(PUSH, action=box)})
    heard: list[tuple[Any, ...]] = []
    panel.pushed.connect(lambda *args: heard.append(args))
    row = rows(panel)[(0, 1.0)]
    qtbot.mousePress(row, Qt.MouseButton.LeftButton)
    qtbot.mouseRelease(row, Qt.MouseButton.LeftButton)
    assert heard == [("a", "Right", True), ("a", "Right", False)]


def test_held_keys_are_marked(panel: KeysPanel) -> None:
    panel.set_people({"a": mine()})
    named(panel, KeyList, "keys-now").set_held(frozenset({"Left"}))
    assert rows(panel)[0].isDown() and not rows(panel)[1].isDown()
    named(panel, KeyList, "keys-now").set_held(frozenset())
    assert not rows(panel)[0].isDown()


def press_for(panel: KeysPanel, qtbot: QtBot, target: Any, key: Qt.Key) -> None:
    editor = named(panel, KeyEditor, "key-editor")
    row = rows(panel, "key-list")[target]
    if isinstance(target, tuple):
        qtbot.mousePress(row, Qt.MouseButton.LeftButton)
    else:
        qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    assert editor.waiting == target
    qtbot.keyClick(row, key)


def test_a_new_key(panel: KeysPanel, qtbot: QtBot) -> None:
    panel.set_people({"a": mine()})
    qtbot.mouseClick(named(panel, QPushButton, "edit-keys"), Qt.MouseButton.LeftButton)
    assert panel.editing
    with qtbot.waitSignal(panel.scheme_changed) as changed:
        press_for(panel, qtbot, 2, Qt.Key.Key_P)
    assert changed.args is not None
    assert changed.args[0] == "a" and changed.args[1].bindings == {"Left": 0, "Right": 1, "P": 2}
    assert named(panel, QPushButton, "keys-reset").isEnabled()
    qtbot.keyClick(rows(panel, "key-list")[2], Qt.Key.Key_Escape)
    assert not panel.editing


def test_a_key_that_was_taken_says_whose_it_was(panel: KeysPanel, qtbot: QtBot) -> None:
    panel.set_people({"a": mine()})
    panel.start_editing()
    press_for(panel, qtbot, 2, Qt.Key.Key_Left)
    assert "← was “left”, which has no key now." in named(panel, InlineMessage, "key-conflict").text
    assert rows(panel, "key-list")[0].row.keys == ()


def test_what_it_says_of_a_change_outlives_the_change(panel: KeysPanel, qtbot: QtBot) -> None:
    """The page answers a change with the keys as they are now."""
    panel.set_people({"a": mine()})
    panel.scheme_changed.connect(lambda slot, scheme: panel.set_people({slot: mine(scheme, own=True)}))
    panel.start_editing()
    press_for(panel, qtbot, 2, Qt.Key.Key_Left)
    message = named(panel, InlineMessage, "key-conflict")
    assert message.isVisible() and "has no key now" in message.text
    assert [row.row.word for row in rows(panel, "key-list").values()] == list(WORDS.values())


def test_keys_of_the_window_cannot_be_taken(panel: KeysPanel, qtbot: QtBot) -> None:
    panel.set_people({"a": mine()})
    panel.start_editing()
    press_for(panel, qtbot, 2, Qt.Key.Key_F1)
    assert "is reserved for the window" in named(panel, InlineMessage, "key-conflict").text
    editor = named(panel, KeyEditor, "key-editor")
    assert editor.waiting == 2
    qtbot.keyClick(rows(panel, "key-list")[2], Qt.Key.Key_Escape)
    assert editor.waiting is None and panel.editing


def test_leaving_the_row_ends_waiting(panel: KeysPanel, qtbot: QtBot) -> None:
    panel.set_people({"a": mine()})
    panel.start_editing()
    editor = named(panel, KeyEditor, "key-editor")
    qtbot.mouseClick(rows(panel, "key-list")[1], Qt.MouseButton.LeftButton)
    reset = named(panel, QPushButton, "keys-reset")
    reset.setEnabled(True)
    reset.setFocus()
    assert QApplication.focusWidget() is reset
    assert editor.waiting is None


def test_continuous_keys_can_be_changed(panel: KeysPanel, qtbot: QtBot) -> None:
    panel.set_people({"a": mine(PUSH)})
    panel.start_editing()
    with qtbot.waitSignal(panel.scheme_changed) as changed:
        press_for(panel, qtbot, (0, -1.0), Qt.Key.Key_J)
    assert changed.args is not None
    assert [axis.key for axis in changed.args[1].axes] == ["J", "Right"]


def test_reset_asks_for_it(panel: KeysPanel, qtbot: QtBot) -> None:
    panel.set_people({"a": mine(own=True)})
    panel.start_editing()
    with qtbot.waitSignal(panel.reset_wanted) as wanted:
        qtbot.mouseClick(named(panel, QPushButton, "keys-reset"), Qt.MouseButton.LeftButton)
    assert wanted.args == ["a"]


def test_two_people_share_the_panel(panel: KeysPanel, qtbot: QtBot) -> None:
    other = KeyScheme({"A": 0, "D": 1, "Space": 2})
    panel.set_people({"a": mine(), "b": mine(other)})
    assert panel.slot == "a"
    panel.show_slot("b")
    assert [row.row.keys for row in rows(panel).values()] == [("A",), ("D",), ("Space",)]
    panel.start_editing()
    assert "Space also plays a" in named(panel, InlineMessage, "key-conflict").text


def test_nobody_plays(panel: KeysPanel) -> None:
    panel.set_people({})
    assert "Choose You" in named(panel, QLabel, "keys-note").text()
    assert not named(panel, QPushButton, "edit-keys").isVisible() and not rows(panel)


@pytest.mark.parametrize(
    ("scheme", "action", "said"),
    [
        (KeyScheme({"1": 0}, mouse=True), SPACE, "Click or drag"),
        (KeyScheme(mouse=True), {"kind": "Discrete", "n": 4672, "start": 0}, "Enter plays"),
        (KeyScheme(typed=True), {"kind": "Discrete", "n": 82, "start": 0}, "from 0 to 81"),
        (KeyScheme(), {"kind": "MultiDiscrete", "nvec": [2, 3], "start": [0, 0]}, "several parts"),
    ],
)
def test_ways_to_play(panel: KeysPanel, scheme: KeyScheme, action: dict[str, Any], said: str) -> None:
    panel.set_people({"a": PersonKeys(scheme, {}, action)})
    assert said in named(panel, QLabel, "keys-note").text()
    assert named(panel, ActionForm, "action-form").isVisible() == (not scheme.mouse)
