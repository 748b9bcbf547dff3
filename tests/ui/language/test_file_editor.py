"""A program is written in the window: its mistakes are told by line, and nothing that was typed is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QTextCharFormat

pytest.importorskip("agentspeak")

from gym_gui.ui import theme
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.code_edit import CodeEdit, Problem
from gym_gui.ui.language.desk import SettingsDesk
from gym_gui.ui.language.file_editor import FileEditor
from gym_gui.ui.language.file_request import FileRequest
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.manifest import read_manifest
from tests.support.commands import ROOT

from .conftest import WAIT

MANIFEST = ROOT / "3rd_party/spade_bdi_worker/worker.toml"
ACTIONS = ("turn left", "right", "forward")


@pytest.fixture(scope="module")
def bdi() -> WorkerTypeDefinition:
    return read_manifest(MANIFEST)


@pytest.fixture
def chosen() -> list[str]:
    return []


@pytest.fixture
def editor(
    context: AppContext, bdi: WorkerTypeDefinition, chosen: list[str], tmp_path: Path, qtbot: Any, finish: Any
) -> Iterator[FileEditor]:
    setting = next(s for s in bdi.settings_schema if s.name == "program")
    file = tmp_path / "mind.asl"
    file.write_text("!go.\n+!go <- forward; !go.\n")
    result = FileEditor(context, FileRequest(bdi, setting, str(file), ACTIONS, chosen.append))
    result.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    result.show()
    qtbot.waitExposed(result)
    yield result
    if result.dirty:
        result.unsaved.button.click()
    result.done(0)
    result.deleteLater()


def test_mistakes_are_told_by_line_and_gone_when_they_are_mended(editor: FileEditor, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: editor.state.text() == "No mistake is known", timeout=WAIT)
    editor.editor.setPlainText("!go.\n+!go <- forward\n+!stay <- right.\n")
    qtbot.waitUntil(lambda: 3 in editor.editor.problems, timeout=WAIT)
    assert "expected" in editor.editor.problems[3].text
    assert editor.wrong.isVisible() and editor.wrong.item(0).text().startswith("Line 3: ")
    editor.wrong.itemClicked.emit(editor.wrong.item(0))
    assert editor.editor.textCursor().blockNumber() == 2
    editor.editor.setPlainText("!go.\n+!go <- turn_left; forwrd; .fly; !go.\n")
    qtbot.waitUntil(lambda: set(editor.editor.problems) == {2}, timeout=WAIT)
    told = [editor.wrong.item(i).text() for i in range(editor.wrong.count())]
    assert any("no action 'forwrd' here (did you mean forward?)" in each for each in told)
    assert any(".fly" in each for each in told)
    words = {mark.cursor.selectedText() for mark in editor.editor.extraSelections()}
    assert "forwrd" in words
    editor.editor.setPlainText("!go.\n+!go <- turn_left; !go.\n")
    qtbot.waitUntil(lambda: not editor.wrong.isVisible(), timeout=WAIT)
    assert editor.editor.extraSelections() == []


def test_what_is_not_saved_is_asked_about_and_save_as_is_what_the_setting_names(
    editor: FileEditor, chosen: list[str], tmp_path: Path, qtbot: Any
) -> None:
    qtbot.waitUntil(lambda: editor.new.isVisible(), timeout=WAIT)
    assert not editor.save.isEnabled()
    names = [action.text() for action in editor.menu.actions()]
    assert {"doorkey.asl", "empty.asl", "doors.asl"} <= set(names)
    editor.menu.actions()[names.index("empty.asl")].trigger()
    assert editor.editor.toPlainText() == (ROOT / "docs/examples/bdi/empty.asl").read_text()
    assert editor.save.isEnabled()
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert editor.isVisible() and editor.unsaved.isVisible()
    editor.editor.undo()
    assert editor.editor.toPlainText().startswith("!go.") and not editor.unsaved.isVisible()
    editor.editor.redo()
    editor.save_to(str(tmp_path / "deeper" / "mine"))
    written = tmp_path / "deeper" / "mine.asl"
    assert written.read_text() == editor.editor.toPlainText() and chosen == [str(written)]
    assert (tmp_path / "mind.asl").read_text().startswith("!go.")  # the one before is as it was
    editor.editor.setPlainText("!other.")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    editor.unsaved.button.click()
    assert not editor.isVisible() and written.read_text() != "!other."


def test_a_file_that_cannot_be_written_loses_nothing(
    editor: FileEditor, tmp_path: Path, chosen: list[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    editor.editor.setPlainText("!mine.")
    editor.save_to(str(tmp_path / "file" / "mine.asl"))
    assert editor.trouble.isVisible() and "cannot be written" in editor.trouble.text
    assert editor.dirty and editor.editor.toPlainText() == "!mine." and chosen == []


def test_a_form_offers_to_edit_a_file_whose_worker_can_check_it(
    context: AppContext, bdi: WorkerTypeDefinition, tmp_path: Path, qtbot: Any
) -> None:
    asked: list[FileRequest] = []
    desk = SettingsDesk(context)
    desk.edit_file = lambda request, _parent: asked.append(request)  # type: ignore[method-assign]
    form = SettingsForm(bdi.settings_schema, {"program": "old.asl"}, worker=bdi, desk=desk)
    told: list[dict[str, Any]] = []
    form.values_changed.connect(told.append)
    form.show()
    try:
        control = form.control("program")
        assert control.edit.isVisible()
        form.action_words = ACTIONS
        control.edit.click()
        assert (asked[0].path, asked[0].actions) == ("old.asl", ACTIONS)
        asked[0].choose(str(tmp_path / "new.asl"))
        assert told[-1]["program"] == str(tmp_path / "new.asl")
    finally:
        form.close()
        form.deleteLater()


def test_words_are_coloured_readably_in_both_themes(context: AppContext, qtbot: Any) -> None:
    edit = CodeEdit()
    edit.setPlainText("// why\n+!go : key(C) <- forward.\n")
    edit.colouring.set_rules(
        [(r"//.*$", "comment"), (r"\\b[A-Z]\\w*", "variable"), ("(", "text"), ("go", "strange")]
    )
    edit.show_problems([Problem(2, "no", "forward"), Problem(9, "beyond"), Problem(0, "all of it")])
    try:
        for mode in ("dark", "light"):
            context.theme.set_mode(mode)
            ground = theme.current().tokens.raised
            block = edit.document().firstBlock()
            colours = [each.format.foreground().color() for each in block.layout().formats()]
            assert colours and all(theme.contrast(colour, ground) >= 4.5 for colour in colours)
        (mark,) = (each for each in edit.extraSelections() if each.cursor.selectedText() == "forward")
        assert mark.format.underlineStyle() == QTextCharFormat.UnderlineStyle.WaveUnderline
    finally:
        edit.close()
        edit.deleteLater()


def test_the_window_reads_no_program_itself() -> None:
    code = (
        "import sys, gym_gui.ui.language.file_editor\n"
        "print([name for name in sys.modules if 'agentspeak' in name or 'bdi_worker' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
