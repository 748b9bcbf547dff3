"""The library in the window: listed, searched, exported, imported, used, thrown away."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import QMimeData, QPointF, Qt, QUrl
from PyQt6.QtGui import QDropEvent
from PyQt6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from gym_gui.services.policy_library import PolicyEntry
from gym_gui.services.store import Store
from gym_gui.ui.main_window import MainWindow
from gym_gui.ui.pages.train import TrainPage
from gym_gui.ui.train.policies_view import PoliciesView
from tests.ui.train.conftest import PATIENCE_MS

BUNDLED = "ppo_cartpole"


@pytest.fixture
def library(trainer: Store, window: MainWindow, qtbot: QtBot) -> PoliciesView:
    window.context.go("train", policies=True)
    page = window.page
    assert isinstance(page, TrainPage)
    qtbot.waitUntil(lambda: page.policies.model.total > 0, timeout=PATIENCE_MS)
    return page.policies


def select(library: PoliciesView, name: str) -> PolicyEntry:
    library.table.select(next(row.path for row in library.model.rows if row.entry.name == name))
    assert library.current is not None
    return library.current


def exported(library: PoliciesView, qtbot: QtBot, path: Path) -> Path:
    library.export(select(library, BUNDLED), str(path))
    qtbot.waitUntil(path.exists, timeout=PATIENCE_MS)
    return path


def names(library: PoliciesView) -> set[str]:
    return {row.entry.name for row in library.model.rows}


def drop(library: PoliciesView, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    event = QDropEvent(QPointF(9, 9), action, data, button, Qt.KeyboardModifier.NoModifier)
    library.dropEvent(event)


def test_what_comes_with_mosaic_is_there(library: PoliciesView, window: MainWindow, qtbot: QtBot) -> None:
    """It is described, found, seated."""
    select(library, BUNDLED)
    texts = {name: value.text() for name, value in library.facts.values.items()}
    assert (texts["Algorithm"], texts["Environment"], texts["Worker"]) == (
        "PPO",
        "CartPole-v1",
        "cleanrl_worker",
    )
    assert (texts["Sees"], texts["Does"], texts["Steps"]) == ("Box(4)", "Discrete(2)", "499,712")
    assert not library.facts.remove.isVisible() and "comes with MOSAIC" in library.facts.fixed.text()
    qtbot.keyClicks(library.search, "acrobot")
    assert library.model.rowCount() == 0 and library.nothing.isVisible()
    library.search.clear()
    assert library.count.text() == "1 policy"
    it_goes_to_a_slot(library, window, qtbot)


def it_goes_to_a_slot(library: PoliciesView, window: MainWindow, qtbot: QtBot) -> None:
    policy = select(library, BUNDLED)
    with qtbot.waitSignal(window.context.requested, timeout=PATIENCE_MS) as told:
        library.facts.use_menu.actions()[2].trigger()
    assert told.args is not None
    page, request = told.args
    operator = request["operator"]
    assert page == "agents" and operator.task == "CartPole-v1"
    (player,) = operator.workers.values()
    assert (player.worker_id, player.settings["checkpoint"]) == ("cleanrl_worker", str(policy.file.path))


@pytest.mark.full
def test_its_score_is_measured(library: PoliciesView, qtbot: QtBot) -> None:
    select(library, BUNDLED)
    assert library.facts.values["Score"].text() == "not measured"
    library.facts.measure.click()
    score = library.facts.values["Score"]
    qtbot.waitUntil(lambda: "20 standard seeds" in score.text(), timeout=PATIENCE_MS)
    assert score.text().startswith("500 ±") and library.facts.measure.isEnabled()


def test_it_is_trained_again(library: PoliciesView, window: MainWindow, qtbot: QtBot) -> None:
    page = window.page
    assert isinstance(page, TrainPage)
    select(library, BUNDLED)
    library.facts.again.click()
    # The form looks for workers when it is first wanted, and is filled then.
    qtbot.waitUntil(lambda: page.form.settings is not None and page.form.ready, timeout=PATIENCE_MS)
    assert page.form.isVisible() and page.form.settings is not None
    assert page.form.numbers.seed.text() == "1"
    assert page.form.algorithm.value == "ppo" and page.form.environment.value == "CartPole-v1"
    assert page.form.settings.effective("total_steps") == 500_000


def test_an_export_is_imported_used_and_thrown_away(
    library: PoliciesView, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    drop(library, exported(library, qtbot, tmp_path / "mine.zip"))
    panel = library.importing
    assert panel.isVisible() and not library.facts.isVisible()
    qtbot.waitUntil(lambda: panel.go.isEnabled(), timeout=PATIENCE_MS)
    assert panel.name.text() == "mine" and not panel.environment.isVisible()
    panel.go.click()
    qtbot.waitUntil(lambda: "mine" in names(library), timeout=PATIENCE_MS)
    qtbot.waitUntil(
        lambda: library.current is not None and library.current.name == "mine", timeout=PATIENCE_MS
    )
    assert not panel.isVisible() and library.facts.remove.isVisible()

    folder = select(library, "mine").file.path
    qtbot.keyClick(library.table, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: "mine" not in names(library), timeout=PATIENCE_MS)
    assert not folder.exists()

    def undo() -> list[QAbstractButton]:
        found = window.notices.findChildren(QAbstractButton, "message-action")
        return [button for button in found if button.text() == "Undo"]

    qtbot.waitUntil(lambda: bool(undo()), timeout=PATIENCE_MS)
    undo()[0].click()
    qtbot.waitUntil(lambda: "mine" in names(library), timeout=PATIENCE_MS)
    what_is_no_policy_is_refused_beside_the_form(library, qtbot, tmp_path)


def what_is_no_policy_is_refused_beside_the_form(library: PoliciesView, qtbot: QtBot, tmp_path: Path) -> None:
    strange = tmp_path / "notes.txt"
    strange.write_text("nothing of the kind")
    drop(library, strange)
    panel = library.importing
    qtbot.waitUntil(lambda: panel.name.text() == "notes", timeout=PATIENCE_MS)
    assert not panel.go.isEnabled() and "environment" in panel.go.toolTip()
    qtbot.waitUntil(lambda: bool(panel.environment.items), timeout=PATIENCE_MS)
    panel.environment.set_value("CartPole-v1")
    panel.environment.chosen.emit("CartPole-v1")
    panel.go.click()
    qtbot.waitUntil(lambda: panel.problem.isVisible(), timeout=PATIENCE_MS)
    assert "notes.txt" in panel.problem.text and panel.go.isEnabled()
