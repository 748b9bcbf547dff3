"""Before a file is open, script mode says what an experiment is and hands out files to begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtWidgets import QFileDialog, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.ui.context import AppContext
from gym_gui.ui.operators.recent_files import MOST, RecentFiles
from gym_gui.ui.operators.script_start import SAMPLE, ScriptStart
from gym_gui.ui.widgets import LinkButton
from gym_gui.ui.widgets.card import Card
from tests.support.named import named


@pytest.fixture
def recent(context: AppContext) -> RecentFiles:
    return RecentFiles(context.layout)


@pytest.fixture
def start(recent: RecentFiles, qtbot: QtBot) -> Iterator[ScriptStart]:
    result = ScriptStart(recent, lambda: None)
    qtbot.addWidget(result)
    result.resize(1100, 700)
    result.show()
    yield result


def test_the_sample_is_an_experiment_and_is_written_where_somebody_wants_it(
    start: ScriptStart, tmp_path: Path, qtbot: QtBot
) -> None:
    from gym_gui.services.experiment_file import load_experiment

    assert named(start, QPlainTextEdit, "script-sample").toPlainText() == SAMPLE.rstrip()
    named(start, QPushButton, "script-save-sample").click()
    dialog = start.findChild(QFileDialog, "script-save-dialog")
    assert dialog is not None
    dialog.setDirectory(str(tmp_path))
    dialog.selectFile("mine.yaml")
    with qtbot.waitSignal(start.chosen) as told:
        dialog.accept()
    assert told.args == [tmp_path / "mine.yaml"]
    experiment = load_experiment(tmp_path / "mine.yaml", allow_code=False)
    assert [o.display_name for o in experiment.operators] == ["Random", "Does nothing"]
    assert experiment.execution.num_episodes == 20
    with qtbot.waitSignal(start.failed) as said:
        start.write(str(tmp_path / "nowhere" / "mine.yaml"))
    assert said.args is not None and "Choose another folder" in said.args[0]


def test_what_was_opened_before_is_offered_while_it_is_there(
    start: ScriptStart, recent: RecentFiles, tmp_path: Path, qtbot: QtBot
) -> None:
    assert not named(start, Card, "script-recent").isVisible()
    paths = [tmp_path / f"{number}.yaml" for number in range(MOST + 2)]
    for path in paths:
        path.write_text(SAMPLE)
        recent.add(path)
    recent.add(paths[-2])
    paths[-1].unlink()
    start.refresh()
    links: list[Any] = [link for link in start.findChildren(LinkButton) if link.isVisible()]
    assert [link.text() for link in links] == ["5.yaml", "4.yaml", "3.yaml", "2.yaml"]
    with qtbot.waitSignal(start.chosen) as told:
        links[1].click()
    assert told.args == [paths[4]]
