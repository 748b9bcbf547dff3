"""Names that others gave are text in the window, whatever they look like."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gym_gui.ui.app import PlainStyle

NAME = "<img src='file:///etc/hostname'><b>ppo</b>"


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (Qt.TextFormat.AutoText, Qt.TextFormat.PlainText),
        (Qt.TextFormat.RichText, Qt.TextFormat.RichText),
    ],
)
def test_a_label_is_plain_unless_it_says_otherwise(
    asked: Qt.TextFormat, shown: Qt.TextFormat, qtbot: QtBot
) -> None:
    label, style = QLabel(NAME), PlainStyle()
    qtbot.addWidget(label)
    label.setTextFormat(asked)
    label.setStyle(style)
    label.show()
    assert label.textFormat() == shown


TOOLTIP = f"""
from PyQt6.QtCore import QPoint
from PyQt6.QtWidgets import QApplication, QLabel, QToolTip
from gym_gui.ui.app import create_window
app, window = create_window([])
window.show()
QToolTip.showText(QPoint(5, 5), {NAME!r}, window)
app.processEvents()
tips = [t for t in app.topLevelWidgets() if t.metaObject().className() == "QTipLabel"]
labels = [w for w in app.allWidgets() if isinstance(w, QLabel) and w.isVisible()]
automatic = [label for label in labels if label.textFormat().name == "AutoText"]
print([tip.textFormat().name for tip in tips], len(automatic), flush=True)
import os; os._exit(0)
"""


def test_tooltips_and_all_labels_of_the_window_are_plain(tmp_path: object) -> None:
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "MOSAIC_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", TOOLTIP], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "['PlainText'] 0", done.stderr
