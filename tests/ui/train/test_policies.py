"""The library in the window: listed, searched, exported, imported, used, thrown away."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import QMimeData, QPointF, Qt, QUrl
from PyQt6.QtGui import QDropEvent
from PyQt6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.services.policies.policy_library import PolicyEntry
from gym_gui.services.store import Store
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.pages.train import TrainPage
from gym_gui.ui.policies.import_panel import ImportPanel
from gym_gui.ui.policies.policies_view import PoliciesView
from gym_gui.ui.policies.policy_panel import PolicyPanel
from gym_gui.ui.train.new_run import NewRunForm
from gym_gui.ui.widgets import EmptyHint
from gym_gui.ui.widgets.message_panels import InlineMessage
from gym_gui.ui.widgets.picker import PickerButton
from gym_gui.ui.widgets.tables import RowsTable
from gym_gui.ui.window.main_window import MainWindow
from gym_gui.ui.window.notices import NoticeArea
from tests.support.named import named
from tests.ui.train.conftest import PATIENCE_MS

BUNDLED = "ppo_cartpole"


@pytest.fixture
def library(trainer: Store, window: MainWindow, qtbot: QtBot) -> PoliciesView:
    window.context.go("train", policies=True)
    page = named(window, TrainPage, "page-train")
    policies = named(page, PoliciesView, "train-policies-view")
    qtbot.waitUntil(lambda: policies.model.total > 0, timeout=PATIENCE_MS)
    return policies


def facts(library: PoliciesView) -> PolicyPanel:
    return named(library.window(), PolicyPanel, "train-policy-panel")


def fact(library: PoliciesView, name: str) -> QLabel:
    return named(facts(library), QLabel, f"train-policy-{name.lower()}")


def select(library: PoliciesView, name: str) -> PolicyEntry:
    named(library, RowsTable, "train-policies").select(
        next(row.path for row in library.model.rows if row.entry.name == name)
    )
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
    texts = facts(library).facts.texts
    assert (texts["Algorithm"], texts["Environment"], texts["Worker"]) == (
        "PPO",
        "CartPole-v1",
        "cleanrl_worker",
    )
    assert (texts["Observes"], texts["Acts in"], texts["Steps"]) == ("Box(4)", "Discrete(2)", "499,712")
    assert (
        not named(facts(library), QPushButton, "train-policy-remove").isVisible()
        and "comes with MOSAIC" in named(facts(library), QLabel, "train-policy-fixed").text()
    )
    search = named(library, QLineEdit, "train-policy-search")
    qtbot.keyClicks(search, "acrobot")
    assert library.model.rowCount() == 0 and named(library, EmptyHint, "train-policies-nothing").isVisible()
    search.clear()
    assert named(library, QLabel, "train-policies-count").text() == "1 policy"
    it_goes_to_a_slot(library, window, qtbot)


def it_goes_to_a_slot(library: PoliciesView, window: MainWindow, qtbot: QtBot) -> None:
    policy = select(library, BUNDLED)
    with qtbot.waitSignal(window.context.requested, timeout=PATIENCE_MS) as told:
        named(facts(library), QMenu, "train-use-menu").actions()[2].trigger()
    assert told.args is not None
    page, request = told.args
    operator = request["operator"]
    assert page == "agents" and operator.task == "CartPole-v1"
    (player,) = operator.workers.values()
    assert (player.worker_id, player.settings["checkpoint"]) == ("cleanrl_worker", str(policy.file.path))


@pytest.mark.full
def test_its_score_is_measured(library: PoliciesView, qtbot: QtBot) -> None:
    select(library, BUNDLED)
    score, measure = fact(library, "Score"), named(facts(library), QPushButton, "train-policy-measure")
    assert score.text() == "not measured"
    measure.click()
    qtbot.waitUntil(lambda: "20 standard seeds" in score.text(), timeout=PATIENCE_MS)
    assert score.text().startswith("500 ±") and measure.isEnabled()


def test_it_is_trained_again(library: PoliciesView, window: MainWindow, qtbot: QtBot) -> None:
    page = named(window, TrainPage, "page-train")
    select(library, BUNDLED)
    named(facts(library), QPushButton, "train-policy-train").click()
    # The form looks for workers when it is first wanted, and is filled then.
    form = named(page, NewRunForm, "train-new-run")
    qtbot.waitUntil(
        lambda: page.findChild(SettingsForm, "settings_form") is not None and form.ready, timeout=PATIENCE_MS
    )
    assert form.isVisible()
    assert named(page, QLineEdit, "train-seed").text() == "1"
    assert (
        named(page, PickerButton, "train-algorithm").value == "ppo"
        and named(page, EnvironmentPicker, "train-environment").value == "CartPole-v1"
    )
    assert named(page, SettingsForm, "settings_form").effective("total_steps") == 500_000


def test_an_export_is_imported_used_and_thrown_away(
    library: PoliciesView, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    drop(library, exported(library, qtbot, tmp_path / "mine.zip"))
    panel = named(library.window(), ImportPanel, "train-import-panel")
    assert panel.isVisible() and not facts(library).isVisible()
    go = named(panel, QPushButton, "train-import-go")
    qtbot.waitUntil(lambda: go.isEnabled(), timeout=PATIENCE_MS)
    assert (
        named(panel, QLineEdit, "train-import-name").text() == "mine"
        and not named(panel, PickerButton, "train-import-environment").isVisible()
    )
    go.click()
    qtbot.waitUntil(lambda: "mine" in names(library), timeout=PATIENCE_MS)
    qtbot.waitUntil(
        lambda: library.current is not None and library.current.name == "mine", timeout=PATIENCE_MS
    )
    assert not panel.isVisible() and named(facts(library), QPushButton, "train-policy-remove").isVisible()

    folder = select(library, "mine").file.path
    qtbot.keyClick(named(library, RowsTable, "train-policies"), Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: "mine" not in names(library), timeout=PATIENCE_MS)
    assert not folder.exists()

    def undo() -> list[QAbstractButton]:
        found = named(window, NoticeArea, "notices").findChildren(QAbstractButton, "message-action")
        return [button for button in found if button.text() == "Undo"]

    qtbot.waitUntil(lambda: bool(undo()), timeout=PATIENCE_MS)
    undo()[0].click()
    qtbot.waitUntil(lambda: "mine" in names(library), timeout=PATIENCE_MS)
    what_is_no_policy_is_refused_beside_the_form(library, qtbot, tmp_path)


def what_is_no_policy_is_refused_beside_the_form(library: PoliciesView, qtbot: QtBot, tmp_path: Path) -> None:
    strange = tmp_path / "notes.txt"
    strange.write_text("nothing of the kind")
    drop(library, strange)
    panel = named(library.window(), ImportPanel, "train-import-panel")
    qtbot.waitUntil(
        lambda: named(panel, QLineEdit, "train-import-name").text() == "notes", timeout=PATIENCE_MS
    )
    go = named(panel, QPushButton, "train-import-go")
    assert not go.isEnabled() and "environment" in go.toolTip()
    environment = named(panel, PickerButton, "train-import-environment")
    qtbot.waitUntil(lambda: bool(environment.items), timeout=PATIENCE_MS)
    environment.set_value("CartPole-v1")
    environment.chosen.emit("CartPole-v1")
    go.click()
    problem = named(panel, InlineMessage, "train-import-problem")
    qtbot.waitUntil(lambda: problem.isVisible() and go.isEnabled(), timeout=PATIENCE_MS)
    assert "notes.txt" in problem.text
