"""A window that is closed upon a run that asks a language model says what is lost, and closes if it shall."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.analysis import open_run
from gym_gui.ui.operators.script import ScriptExperimentWidget
from gym_gui.ui.pages.operators import OperatorsPage
from gym_gui.ui.window.closing_dialog import ClosingDialog
from gym_gui.ui.window.main_window import MainWindow
from tests.support.fake_model_server import FakeModelServer, Reply
from tests.support.named import named
from tests.support.no_processes import looks_here
from tests.ui.conftest import PATIENCE_MS

__all__ = ["looks_here"]


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    def say(_request: object) -> Reply:
        return Reply("<action>right</action>", tokens=(200, 10), after_s=0.2)

    with FakeModelServer(say, models=("tiny-1",)) as running:
        yield running


def experiment(folder: Path, worker: dict[str, object]) -> Path:
    path = folder / "experiment.json"
    operator = {"id": "a", "task": "FrozenLake-v1", "workers": {"agent": worker}, "max_steps": 50}
    execution = {"num_episodes": 20, "seeds": 7, "concurrency": 1, "processes": 1}
    path.write_text(json.dumps({"operators": [operator], "execution": execution}))
    return path


def script_of(window: MainWindow, file: Path, qtbot: QtBot) -> ScriptExperimentWidget:
    """The file, open and running."""
    window.open_file(file)
    page = named(window, OperatorsPage, "page-operators")
    run = named(page, QPushButton, "script-run")
    qtbot.waitUntil(run.isEnabled, timeout=PATIENCE_MS)
    run.click()
    play = page.script.play
    qtbot.waitUntil(lambda: play.job is not None and play.job.folder is not None, timeout=PATIENCE_MS)
    return page.script


@pytest.mark.usefixtures("looks_here")
def test_a_run_that_is_paid_for_is_not_closed_unasked(
    window: MainWindow, qtbot: QtBot, server: FakeModelServer, tmp_path: Path
) -> None:
    settings = {"client_name": "custom", "base_url": server.url, "model_id": "tiny-1"}
    player = {"type": "llm", "worker_id": "mosaic_llm_worker", "settings": settings}
    script = script_of(window, experiment(tmp_path, player), qtbot)
    qtbot.waitUntil(lambda: len(server.requests) > 1, timeout=PATIENCE_MS)
    window.close()
    dialog = window.findChild(ClosingDialog)
    assert dialog is not None and dialog.isVisible() and window.isVisible()
    assert QApplication.focusWidget() in (None, named(dialog, QPushButton, "closing-stay"))
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert not dialog.isVisible() and script.play.asks_models
    asked = len(server.requests)
    qtbot.waitUntil(lambda: len(server.requests) > asked, timeout=PATIENCE_MS)
    window.close()
    folder = script.play.job.folder if script.play.job is not None else None
    assert folder is not None
    named(window, QPushButton, "closing-close").click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=PATIENCE_MS)
    recorded = open_run(folder)
    assert recorded.record.status == "stopped"
    assert len(list(recorded.operators["a"].calls())) >= asked - 1


@pytest.mark.usefixtures("looks_here")
def test_a_run_that_costs_nothing_is_closed_at_once(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    script_of(window, experiment(tmp_path, {"type": "random"}), qtbot)
    window.close()
    assert window.findChild(ClosingDialog) is None
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=PATIENCE_MS)
