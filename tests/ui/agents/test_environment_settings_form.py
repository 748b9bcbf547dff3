"""What an environment is made with: a form of what it takes, text for the rest, tried before it is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QAbstractSpinBox, QLabel, QLineEdit, QPlainTextEdit, QPushButton

from gym_gui.ui.agents.advanced_config import AdvancedConfigTab
from gym_gui.ui.agents.environment_settings_dialog import EnvironmentSettingsDialog
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

DOORKEY = "MiniGrid-DoorKey-8x8-v0"


def test_settings_of_an_environment_are_set_tried_and_undone(
    tab: AdvancedConfigTab, qtbot: Any, choose: Callable[[str], None], checked: Callable[[], None]
) -> None:
    choose(DOORKEY)
    link = named(tab.window(), QPushButton, "agents-environment-settings")
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    dialog = tab.window().findChild(EnvironmentSettingsDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.settled, timeout=PATIENCE_MS)

    size = named(dialog, QAbstractSpinBox, "setting_size")
    line = size.findChild(QLineEdit)
    assert line is not None and "8" in (line.text(), line.placeholderText())  # as it is registered
    line.clear()
    qtbot.keyClicks(line, "6")
    further, problem = (
        named(dialog, QPlainTextEdit, "environment-further"),
        named(dialog, QLabel, "environment-problem"),
    )
    further.setPlainText("size: 5")
    assert "form above" in problem.text()
    further.setPlainText("color: [")
    assert "not valid YAML" in problem.text()
    further.setPlainText("color: red")
    assert not problem.text()
    use = named(dialog, QPushButton, "environment-use")
    qtbot.mouseClick(use, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "color" in problem.text(), timeout=PATIENCE_MS)  # the environment takes no such
    further.setPlainText("")
    qtbot.mouseClick(use, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(tab.model.draft.env_kwargs), timeout=PATIENCE_MS)

    assert dict(tab.model.draft.env_kwargs) == {"size": 6}
    assert link.text() == "Environment settings (1 set)…" and "size 6" in link.toolTip()
    checked()
    assert tab.model.config is not None and tab.model.config.to_record()["env_kwargs"] == {"size": 6}
    tab.model.undo_stack.undo()
    checked()
    assert dict(tab.model.draft.env_kwargs) == {} and link.text() == "Environment settings…"
