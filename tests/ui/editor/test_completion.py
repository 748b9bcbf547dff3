"""Keys of experiment files are offered while they are typed, and taken by the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QFrame, QLabel, QListView, QPushButton

from gym_gui.core.declared_keys import keys_of
from gym_gui.core.errors import FilePosition
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.checks import at_place
from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.editor.file_editor import FileEditor
from gym_gui.ui.widgets.message_panels import InlineMessage
from tests.support.named import named

Opened = Callable[[str, str], FileEditor]


@pytest.fixture
def opened(context: AppContext, tmp_path: Path, qtbot: Any, finish: Any) -> Iterator[Opened]:
    """``opened(name, text)``: the editor of an experiment, its cursor at the end."""
    editors: list[FileEditor] = []

    def open_file(name: str, text: str) -> FileEditor:
        file = tmp_path / name
        file.write_text(text, "utf-8")
        editor = FileEditor(context, at_place(FilePosition(str(file), 1), experiment=True))
        editor.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        editors.append(editor)
        editor.show()
        qtbot.waitExposed(editor)
        editor.activateWindow()
        text_of(editor).setFocus()
        QTest.keyClick(text_of(editor), Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
        return editor

    yield open_file
    for editor in editors:
        if editor.dirty:
            editor.done(0)
            named(named(editor, InlineMessage, "message-warning"), QPushButton, "message-action").click()
        editor.done(0)
        editor.deleteLater()


def text_of(editor: FileEditor) -> CodeEdit:
    return named(editor, CodeEdit, "file-text")


def is_open(editor: FileEditor) -> bool:
    return named(editor, QFrame, "completion").isVisible()


def names(editor: FileEditor) -> list[str]:
    """What is offered, in its order."""
    model = named(editor, QListView, "completion-list").model()
    return [model.index(row, 0).data() for row in range(model.rowCount())] if is_open(editor) else []


def press(editor: FileEditor, *keys: Qt.Key | str) -> None:
    for key in keys:
        if isinstance(key, str):
            QTest.keyClicks(text_of(editor), key)
        else:
            QTest.keyClick(text_of(editor), key)


def test_a_key_is_offered_while_it_is_typed_and_enter_takes_it(opened: Opened) -> None:
    editor = opened("mine.yaml", "operators: []\nexecution:\n  seeds: 0\n  ")
    assert not is_open(editor)
    press(editor, "nu")
    assert names(editor) == ["num_episodes"]
    press(editor, Qt.Key.Key_Return)
    assert text_of(editor).text == "operators: []\nexecution:\n  seeds: 0\n  num_episodes: "
    assert not is_open(editor), "a number is no word of a few"
    press(editor, "3", Qt.Key.Key_Return)
    assert text_of(editor).text.endswith("  num_episodes: 3\n  ")


def test_its_sentence_and_default_stand_beside_it(opened: Opened) -> None:
    editor = opened("mine.py", 'execution = {"seeds": 0, ')
    press(editor, '"conc')
    current = named(editor, QListView, "completion-list").currentIndex()
    about = keys_of(ExecutionConfig)["concurrency"]
    assert current.data() == "concurrency"
    assert current.data(Qt.ItemDataRole.AccessibleDescriptionRole) == about.meaning
    said = named(editor, QLabel, "completion-about").text()
    assert said == f"{about.meaning[:1].upper() + about.meaning[1:]}. Default: {about.usual}."


def test_arrows_choose_and_tab_takes_what_they_chose(opened: Opened) -> None:
    editor = opened("mine.py", 'execution = {"seeds": 0, ')
    QTest.keyClick(text_of(editor), Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    offered = names(editor)
    assert offered[0] == "num_episodes" and "seeds" not in offered
    press(editor, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Tab)
    assert text_of(editor).text == 'execution = {"seeds": 0, "environment_mode": '
    assert names(editor) == ["procedural", "fixed"], "behind a key the list has the values that it takes"
    press(editor, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert text_of(editor).text == 'execution = {"seeds": 0, "environment_mode": "fixed"'
    text_of(editor).undo()
    assert text_of(editor).text == 'execution = {"seeds": 0, "environment_mode": '


def test_escape_closes_the_list_and_not_the_editor(opened: Opened) -> None:
    editor = opened("mine.yaml", "execution:\n  ")
    press(editor, "un")
    assert names(editor)[0] == "until"
    press(editor, Qt.Key.Key_Escape)
    assert not is_open(editor) and editor.isVisible()
    press(editor, Qt.Key.Key_Return)
    assert text_of(editor).text == "execution:\n  un\n  "


def test_the_list_closes_where_nothing_fits_or_one_goes_elsewhere(opened: Opened) -> None:
    editor = opened("mine.yaml", "execution:\n  ")
    press(editor, "se")
    assert names(editor)[0] == "seeds"
    press(editor, "q")
    assert not is_open(editor)
    press(editor, Qt.Key.Key_Backspace, "e")
    press(editor, Qt.Key.Key_Backspace, "e")
    assert is_open(editor) == bool(names(editor))
    press(editor, Qt.Key.Key_Backspace, Qt.Key.Key_Backspace, Qt.Key.Key_Backspace, "s")
    assert "seeds" in names(editor)
    press(editor, Qt.Key.Key_Left)
    assert not is_open(editor)


def test_the_mouse_takes_one_and_leaves_the_cursor_in_the_text(opened: Opened) -> None:
    editor = opened("mine.yaml", "operators: []\nexecution:\n  ")
    press(editor, "tok")
    view = named(editor, QListView, "completion-list")
    place = view.visualRect(view.model().index(0, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    press(editor, "5")
    assert text_of(editor).text.endswith("execution:\n  token_budget: 5")


def test_wide_characters_before_it_do_not_move_what_is_written(opened: Opened) -> None:
    editor = opened("mine.yaml", "operators:\n  - name: \U0001f9ed שלום 対局\n    ")
    press(editor, "ta", Qt.Key.Key_Return)
    assert text_of(editor).text == "operators:\n  - name: \U0001f9ed שלום 対局\n    task: "


@pytest.mark.parametrize(
    ("written", "typed", "offered"),
    [
        ("  ", "ro", ["rows", "roles"]),
        ("  rows:\n    - ", "si", ["sides"]),
        ("  tasks:\n    short:\n      ", "max", ["max_steps"]),
        ("  settings:\n    cold:\n      policies:\n        llm:\n          ", "on_", ["on_invalid"]),
        ("  roles:\n    ", "co", ["co_trained"]),
        ("  rows: ", "adv", ["adversarial"]),
    ],
)
def test_keys_of_a_matrix_are_offered_where_they_belong(
    opened: Opened, written: str, typed: str, offered: list[str]
) -> None:
    editor = opened("mine.yaml", f"matrix:\n{written}")
    press(editor, typed)
    assert names(editor) == offered


def test_a_file_with_a_pool_and_a_run_of_one_are_told_apart(opened: Opened) -> None:
    editor = opened("pool.yaml", "task: connect_four_v3\npolicies: {}\n")
    press(editor, "sch")
    assert names(editor) == ["schedule"]
    matrix = opened("matrix.yaml", "policies: {}\nmatrix: {}\n")
    press(matrix, "sch")
    assert names(matrix) == []


def test_a_worker_manifest_has_keys_and_other_files_have_none(opened: Opened) -> None:
    editor = opened("worker.toml", 'id = "mine_worker"\n')
    press(editor, "ki", Qt.Key.Key_Return)
    assert text_of(editor).text.endswith("kind = ")
    assert "planner" in names(editor)
    other = opened("server.toml", "")
    press(other, "ki")
    assert not is_open(other)


def test_it_lies_within_the_editor_and_reads_well_in_both_themes(opened: Opened, context: AppContext) -> None:
    lines = "".join(f"  - {{id: a{i}, task: CartPole-v1, type: random}}\n" for i in range(40))
    editor = opened("mine.yaml", f"operators:\n{lines}execution:\n  ")
    QTest.keyClick(text_of(editor), Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    box = named(editor, QFrame, "completion")
    view = named(editor, QListView, "completion-list")
    assert len(names(editor)) == len(keys_of(ExecutionConfig))
    assert editor.rect().contains(box.geometry())
    line = text_of(editor).cursorRect()
    top = text_of(editor).viewport().mapTo(editor, line.topLeft()).y()
    assert not box.geometry().contains(box.geometry().left() + 1, top + line.height() // 2)
    for mode in ("dark", "light"):
        context.theme.set_mode(mode)
        QApplication.processEvents()
        picture = view.grab().toImage()
        seen = {picture.pixelColor(x, y).name() for x in range(0, 200, 1) for y in range(15, 75, 1)}
        ground = theme.current().color("panel")
        assert max(theme.contrast(each, ground) for each in seen) >= 4.5
    assert view.hasFocus() and text_of(editor).hasFocus(), "Qt tells a reader of the item that is current"
