"""A run that was stopped is resumed from the list of runs, and offered after a restart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMenu, QPushButton

from gym_gui.services.runs.run_library import RunLibrary
from gym_gui.services.store import Store
from gym_gui.ui.operators.script import ScriptExperimentWidget
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.pages.results import ResultsPage
from gym_gui.ui.results.library_view import LibraryView
from gym_gui.ui.widgets.message_panels import InlineMessage
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.support.restart import restarted
from tests.ui.conftest import PATIENCE_MS

pytestmark = pytest.mark.usefixtures("looks_here", "plays_here", "analyzes_here")

EPISODES = 30


def script_of(window: MainWindow) -> ScriptExperimentWidget:
    return named(named(window, OperatorsTab, "page-operators"), ScriptExperimentWidget, "script-experiment")


@pytest.fixture
def stopped(window: MainWindow, tmp_path: Path, qtbot: Any) -> Path:
    """A run that was stopped after its first episodes."""
    file = tmp_path / "slow.json"
    operator = {"id": "a", "task": "MiniGrid-Empty-8x8-v0", "workers": {"agent": {"type": "random"}}}
    execution = {"num_episodes": EPISODES, "max_steps": 40}
    file.write_text(json.dumps({"operators": [operator], "execution": execution}))
    window.context.go("operators", script=file)
    script = script_of(window)
    qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=PATIENCE_MS)
    script.play.toggle()
    job = script.play.job
    assert job is not None
    job.began.connect(script.play.stop)
    qtbot.waitUntil(lambda: job.result is not None and not script.work.busy, timeout=PATIENCE_MS)
    assert job.folder is not None and job.result is not None and job.result.status == "stopped"
    return job.folder


def finished(script: ScriptExperimentWidget) -> bool:
    return script.play.job is not None and script.play.job.result is not None and not script.work.busy


def test_from_the_list_of_runs(window: MainWindow, stopped: Path, qtbot: Any) -> None:
    window.go("results")
    page = named(window, ResultsPage, "page-results")
    library = named(page, LibraryView, "run-library")
    qtbot.waitUntil(lambda: library.model.rowCount() == 1, timeout=PATIENCE_MS)
    library.table.selectRow(0)
    button = named(page, QPushButton, "results-resume")
    qtbot.waitUntil(button.isVisible, timeout=PATIENCE_MS)
    library.table.customContextMenuRequested.emit(
        library.table.visualRect(library.model.index(0, 1)).center()
    )
    menu = named(library.table, QMenu, "run-menu")
    assert "run-menu-resume" in [action.objectName() for action in menu.actions()]
    menu.close()

    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    script = script_of(window)
    assert script.isVisible()
    qtbot.waitUntil(lambda: finished(script), timeout=PATIENCE_MS)
    assert script.play.job is not None and script.play.job.folder == stopped
    assert script.play.job.result is not None and script.play.job.result.episodes == EPISODES

    window.go("results")
    page.reader.refresh()
    qtbot.waitUntil(lambda: not button.isVisible(), timeout=PATIENCE_MS)
    assert not window.context.commands.run("results.resume")


def test_after_a_restart(
    window: MainWindow, stopped: Path, store: Store, qtbot: Any, finish: Callable[[object], object]
) -> None:
    with restarted(window, store, finish) as again:
        again.go("operators")
        script = script_of(again)
        qtbot.waitUntil(lambda: script.file.plan is not None and not script.work.busy, timeout=PATIENCE_MS)
        offer = named(script, InlineMessage, "message-info")
        qtbot.mouseClick(named(offer, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: finished(script), timeout=PATIENCE_MS)
        over = RunLibrary(stopped.parent).one(stopped)
        assert over is not None and over.status == "completed" and over.done == EPISODES
