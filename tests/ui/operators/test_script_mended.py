"""From a message to the line that it is about, mended there, and on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtWidgets import QApplication, QListWidget, QPushButton

from gym_gui.ui.editor.code_edit import CodeEdit
from gym_gui.ui.editor.file_editor import FileEditor
from gym_gui.ui.operators.script import ScriptExperimentWidget
from gym_gui.ui.widgets.message_panels import InlineMessage
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

pytestmark = pytest.mark.usefixtures("looks_here")

EXPERIMENT = """\
operators:
  - id: a
    task: CartPole-v1
    workers:
      agent: {type: random}
    max_setps: 9
execution:
  num_episodes: 1
"""


def test_a_mistake_is_mended_at_its_line_and_the_file_is_read_again(
    window: MainWindow, tmp_path: Path, qtbot: Any
) -> None:
    file = tmp_path / "duel.yaml"
    file.write_text(EXPERIMENT)
    window.context.go("operators", script=str(file))
    script = named(window, ScriptExperimentWidget, "script-experiment")
    qtbot.waitUntil(lambda: script.findChild(InlineMessage, "message-error") is not None, timeout=PATIENCE_MS)
    link = named(named(script, InlineMessage, "message-error"), QPushButton, "message-place")
    assert link.text() == "Open duel.yaml, line 6"
    link.click()
    editor = named(window, FileEditor, "file-editor")
    text = named(editor, CodeEdit, "file-text")
    assert text.textCursor().blockNumber() == 5
    problems = named(editor, QListWidget, "file-problems")
    assert problems.count() == 1 and "max_setps" in problems.item(0).text()  # type: ignore[union-attr]
    text.setPlainText(EXPERIMENT.replace("max_setps", "max_steps"))
    named(editor, QPushButton, "file-again").click()
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=PATIENCE_MS)
    assert "max_steps" in file.read_text() and script.file.plan.operators[0].config.max_steps == 9
    qtbot.waitUntil(lambda: problems.count() == 0, timeout=PATIENCE_MS)
    file.write_text(file.read_text().replace("max_steps: 9", "max_steps: 12"))
    qtbot.waitUntil(lambda: "max_steps: 12" in text.toPlainText(), timeout=PATIENCE_MS)
    assert not editor.dirty
    text.insertPlainText("# mine\n")
    file.write_text(EXPERIMENT)
    changed = named(editor, InlineMessage, "file-changed")
    qtbot.waitUntil(changed.isVisible, timeout=PATIENCE_MS)
    assert "# mine" in text.toPlainText(), "nothing typed is lost"
    named(changed, QPushButton, "file-take-other").click()
    assert text.toPlainText() == EXPERIMENT and not editor.dirty
    editor.close()
    QApplication.processEvents()
