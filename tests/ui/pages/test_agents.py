"""The Agents page in the window: a team is put together, saved, reloaded, applied, exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QInputDialog, QLabel, QLineEdit, QMenu, QPushButton

from gym_gui.controllers.engine.operator_state import ALIVE
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.presets import CONFIGURATIONS
from gym_gui.ui.agents.configuration_presets import ConfigurationPresetMenu
from gym_gui.ui.agents.table import AgentConfigTable
from gym_gui.ui.context import AppContext, Notice
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.pages.agents import AgentsPage
from gym_gui.ui.widgets import PickerButton
from gym_gui.ui.widgets.message_panels import EmptyHint, InlineMessage
from gym_gui.ui.widgets.picker import PickerPopup
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

if TYPE_CHECKING:
    from gym_gui.ui.window.main_window import MainWindow

SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
FOUR = "classic/connect_four_v3"
Finish = Callable[[object], Any]

pytestmark = pytest.mark.usefixtures("looks_here", "plays_here")


def behaves(behavior: str) -> WorkerAssignment:
    return WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})


def pick(qtbot: Any, parent: Any, name: str, typed: str) -> None:
    button = parent.findChild(PickerButton, name)
    assert button is not None, name
    qtbot.keyClick(button, Qt.Key.Key_Down)
    qtbot.keyClicks(named(button, QLineEdit, "picker-search"), typed)
    qtbot.keyClick(named(button, QLineEdit, "picker-search"), Qt.Key.Key_Return)
    assert not named(button, PickerPopup, "picker-popup").isVisible(), f"nothing fits {typed!r}"


@pytest.fixture
def told(context: AppContext) -> list[Notice]:
    notices: list[Notice] = []
    context.noticed.connect(notices.append)
    return notices


@pytest.fixture
def own_trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The desktop's trash, in a folder of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    return tmp_path / "xdg" / "Trash"


@pytest.fixture
def asked(context: AppContext) -> list[tuple[str, dict[str, Any]]]:
    requests: list[tuple[str, dict[str, Any]]] = []
    context.requested.connect(lambda page, request: requests.append((page, request)))
    return requests


@pytest.fixture
def page(context: AppContext, qtbot: Any, finish: Finish) -> Any:
    result = AgentsPage(context)
    result.resize(1208, 728)
    result.show()
    result.opened()
    yield result
    finish(result.closed())
    result.close()
    result.deleteLater()


def ready(page: AgentsPage, qtbot: Any) -> None:
    """Waits until the configuration has been found right, by the engine too."""
    qtbot.waitUntil(
        lambda: page.model.config is not None and page.model.verdict is not None, timeout=PATIENCE_MS
    )


def test_a_mixed_team_is_built_saved_reloaded_and_applied(
    page: AgentsPage, asked: list[tuple[str, dict[str, Any]]], qtbot: Any
) -> None:
    assert page.isVisible() and named(page, EmptyHint, "empty-hint").isVisible()
    qtbot.waitUntil(lambda: named(page, EnvironmentPicker, "environment-picker").loaded, timeout=PATIENCE_MS)
    pick(qtbot, page, "environment-picker", "S-2v2-IndAgObs")
    qtbot.waitUntil(lambda: named(page, AgentConfigTable, "agent_config_table").rowCount() == 4)
    ready(page, qtbot)
    assert named(page, QLabel, "page-note").text() == "simultaneous · 4 agents · Discrete(8)"
    for agent, typed in (("green_0", "chaser"), ("green_1", "chaser"), ("blue_0", "does nothing")):
        pick(qtbot, page, f"policy_{agent}", typed)
    qtbot.keyClicks(named(page, QLineEdit, "operator_name"), "Mixed teams")
    ready(page, qtbot)
    built = page.model.config
    assert built is not None
    assert {a: w.settings["behavior"] for a, w in built.workers.items()} == {
        "green_0": "soccer_chaser",
        "green_1": "soccer_chaser",
        "blue_0": "noop",
        "blue_1": "random",
    }

    presets = named(page, ConfigurationPresetMenu, "presets_menu")
    presets.ask_name()
    dialog = page.findChild(QInputDialog)
    assert dialog is not None
    line = dialog.findChild(QLineEdit)
    assert line is not None and line.text() == "Mixed teams"
    qtbot.keyClick(line, Qt.Key.Key_Return)
    qtbot.mouseClick(named(page, QPushButton, "reset"), Qt.MouseButton.LeftButton)
    ready(page, qtbot)
    assert page.model.config != built
    presets.fill()
    next(a for a in presets.actions() if a.text() == "Mixed teams").trigger()
    ready(page, qtbot)
    assert page.model.config == built

    qtbot.mouseClick(named(page, QPushButton, "apply"), Qt.MouseButton.LeftButton)
    assert asked == [("operators", {"operators": [built], "seed": 42})]


def test_apply_hands_on_what_is_seen_though_it_is_not_checked_yet(
    page: AgentsPage, asked: list[tuple[str, dict[str, Any]]], qtbot: Any
) -> None:
    page.opened(task=FOUR)
    ready(page, qtbot)
    before = page.model.config

    pick(qtbot, page, "policy_player_0", "does nothing")
    assert page.model.config == before and not page.model.settled
    apply = named(page, QPushButton, "apply")
    qtbot.mouseClick(apply, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(asked), timeout=PATIENCE_MS)
    (config,) = asked[0][1]["operators"]
    assert config.workers["player_0"].settings == {"behavior": "noop"}

    broken = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": "/no/such/policy"})
    page.model.set_row("player_0", broken, "choose a policy")
    page.play()
    qtbot.waitUntil(lambda: page.model.settled, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not apply.isEnabled(), timeout=PATIENCE_MS)
    assert len(asked) == 1


def test_undo_and_redo_are_keys(window: MainWindow, context: AppContext, qtbot: Any) -> None:
    context.go("agents", task=FOUR)
    page = window.findChild(AgentsPage)
    assert page is not None
    ready(page, qtbot)
    pick(qtbot, page, "policy_player_0", "does nothing")
    assert page.model.policy_id("player_0") == "noop"
    assert context.commands.run("agents.undo")
    assert page.model.policy_id("player_0") == "random"
    assert context.commands.run("agents.redo")
    assert page.model.policy_id("player_0") == "noop"
    undo = context.commands.get("agents.undo")
    assert undo is not None and undo.shortcut == "Ctrl+Z"


def test_what_is_wrong_keeps_apply_from_being_pressed(page: AgentsPage, qtbot: Any) -> None:
    player = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": "/no/such/policy"})
    page.opened(operator=OperatorConfig("x", task="CartPole-v1", workers={"agent_0": player}))
    qtbot.waitUntil(lambda: page.model.report is not None, timeout=PATIENCE_MS)
    apply = named(page, QPushButton, "apply")
    export = named(page, QPushButton, "export")
    assert not apply.isEnabled() and not export.isEnabled()
    assert "there is no /no/such/policy" in apply.toolTip()
    pick(qtbot, page, "actor", "random")
    ready(page, qtbot)
    assert apply.isEnabled() and export.isEnabled()


class TestPresets:
    def test_a_name_that_is_taken_is_asked_about(
        self, page: AgentsPage, qtbot: Any, told: list[Notice]
    ) -> None:
        page.opened(task=FOUR)
        ready(page, qtbot)
        presets = named(page, ConfigurationPresetMenu, "presets_menu")
        presets.save("mine")
        pick(qtbot, page, "policy_player_0", "does nothing")
        presets.save("mine")
        assert "already" in told[-1].text and told[-1].action is not None
        assert presets.store.load("mine").workers["player_0"].settings["behavior"] == "random"
        told[-1].action[1]()
        assert presets.store.load("mine").workers["player_0"].settings["behavior"] == "noop"

    def test_deleting_is_undone_from_its_message(
        self,
        page: AgentsPage,
        qtbot: Any,
        told: list[Notice],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
        page.opened(task=FOUR)
        ready(page, qtbot)
        presets = named(page, ConfigurationPresetMenu, "presets_menu")
        presets.save("mine")
        presets.fill()
        delete = presets.findChild(QMenu, "presets_delete")
        assert delete is not None
        delete.actions()[0].trigger()
        qtbot.waitUntil(lambda: told[-1].text == "mine is in the trash", timeout=PATIENCE_MS)
        assert not presets.store.presets()
        assert told[-1].action is not None
        told[-1].action[1]()
        assert [preset.name for preset in presets.store.presets()] == ["mine"]

    def test_shared_and_taken_over(
        self, page: AgentsPage, qtbot: Any, tmp_path: Path, told: list[Notice]
    ) -> None:
        page.opened(task=FOUR)
        ready(page, qtbot)
        pick(qtbot, page, "policy_player_1", "does nothing")
        presets = named(page, ConfigurationPresetMenu, "presets_menu")
        presets.share(str(tmp_path / "duel"))
        file = tmp_path / "duel.preset.json"
        assert CONFIGURATIONS.read(file)[1].workers["player_1"].settings["behavior"] == "noop"
        page.model.reset()
        presets.import_file(str(file))
        assert told[-1].kind == "ok" and page.model.policy_id("player_1") == "noop"
        (tmp_path / "bad.preset.json").write_text("{}")
        presets.import_file(str(tmp_path / "bad.preset.json"))
        assert told[-1].kind == "error" and "bad.preset.json is not a preset" in told[-1].text

    def test_one_that_cannot_be_read_stands_there_disabled(self, page: AgentsPage) -> None:
        presets = named(page, ConfigurationPresetMenu, "presets_menu")
        presets.store.folder.mkdir(parents=True)
        presets.store.path_of("broken").write_text("{")
        presets.fill()
        entry = next(a for a in presets.actions() if a.text().startswith("broken"))
        assert not entry.isEnabled() and "is not a preset" in entry.toolTip()


def test_an_exported_experiment_is_the_configuration_and_opens_as_a_script(
    page: AgentsPage, qtbot: Any, tmp_path: Path, told: list[Notice], asked: list[Any]
) -> None:
    page.opened(task=FOUR)
    ready(page, qtbot)
    for name in ("duel.yaml", "duel.py", "duel"):
        folder = tmp_path / name.replace(".", "_")
        folder.mkdir()
        named(page, ConfigurationPresetMenu, "presets_menu").export(str(folder / name), seed=7)
        (file,) = folder.iterdir()
        assert file.stem == "duel" and file.suffix, name
        experiment = load_experiment(file, allow_code=False)
        assert experiment.operators == (page.model.config,), name
        assert experiment.execution.seeds == tuple(range(7, 17)), name
        action = told[-1].action
        assert action is not None, name
        action[1]()
        assert asked.pop() == ("operators", {"script": file}), name


class TestRunning:
    """A session that plays this configuration."""

    @pytest.fixture
    def live(self, context: AppContext, finish: Finish) -> Any:
        config = OperatorConfig(
            "duel", "Duel", "", FOUR, dict.fromkeys(("player_0", "player_1"), behaves("random"))
        )
        operator = LiveOperator(context, config)
        yield operator
        finish(operator.player.close())
        operator.deleteLater()

    def test_a_change_of_policy_reaches_it(
        self, page: AgentsPage, live: LiveOperator, qtbot: Any, told: list[Notice]
    ) -> None:
        live.player.configure(replace(live.player.config, named=False))  # as if the program had given it
        live.player.start(3, render="none", paused=True)
        page.opened(operator=live.player.config, live=live)
        message = named(page, InlineMessage, "live_message")
        assert message.isVisible() and "Duel is playing" in message.text
        qtbot.waitUntil(lambda: live.player.state in ALIVE, timeout=PATIENCE_MS)
        ready(page, qtbot)
        pick(qtbot, page, "policy_player_1", "one move ahead")
        qtbot.waitUntil(
            lambda: live.player.config.workers["player_1"].settings["behavior"] == "connect_four_one_ply",
            timeout=PATIENCE_MS,
        )
        qtbot.waitUntil(lambda: told and told[-1].kind == "ok", timeout=PATIENCE_MS)
        assert told[-1].text == f"player_1 is now played by {page.model.player_title('player_1')}"
        assert live.player.config.display_name == "Random and Connect four, one move ahead"
        with qtbot.waitSignal(live.episode_over, timeout=PATIENCE_MS) as over:
            live.player.resume()
        (change,) = over.args[0]["rebound"]
        assert (change["agent_id"], change["policy"]) == ("player_1", "connect_four_one_ply")

    def test_what_cannot_be_played_stays_out_of_it(
        self, page: AgentsPage, live: LiveOperator, qtbot: Any, told: list[Notice]
    ) -> None:
        page.opened(operator=live.player.config, live=live)
        ready(page, qtbot)
        pick(qtbot, page, "worker_player_0", "cleanrl")
        qtbot.waitUntil(
            lambda: "Checkpoint is missing" in named(page, QPushButton, "apply").toolTip(),
            timeout=PATIENCE_MS,
        )
        assert live.player.config.workers["player_0"] == behaves("random")

    def test_detached_it_plays_on_as_it_is(self, page: AgentsPage, live: LiveOperator, qtbot: Any) -> None:
        page.opened(operator=live.player.config, live=live)
        ready(page, qtbot)
        qtbot.mouseClick(named(page, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
        assert not named(page, InlineMessage, "live_message").isVisible()
        pick(qtbot, page, "policy_player_0", "does nothing")
        ready(page, qtbot)
        assert live.player.config.workers["player_0"] == behaves("random")

    def test_one_that_is_closed_lets_go(self, page: AgentsPage, live: LiveOperator, finish: Finish) -> None:
        page.opened(operator=live.player.config, live=live)
        finish(live.player.close())
        assert not named(page, InlineMessage, "live_message").isVisible()


def shown(page: Any, name: str) -> bool:
    field = page.findChild(QLineEdit, name)
    return field is not None and field.isVisible()


def test_tab_goes_through_the_window_as_it_stands(
    window: MainWindow, context: AppContext, qtbot: Any
) -> None:
    file = Path(__file__).parents[3] / "docs/examples/bdi/doorkey_manager.asl"
    config = OperatorConfig.multi_agent(
        operator_id="two",
        display_name="Two",
        task="MiniGrid-DoorKey-5x5-v0",
        player_workers={"agent_0": behaves("minigrid_skills")},
        manager={"agent_0": WorkerAssignment("spade_bdi_worker", "bdi", {"program": str(file)})},
    )
    window.show()
    context.go("agents", operator=config)
    page = named(window, AgentsPage, "page-agents")
    qtbot.waitUntil(named(page, QPushButton, "apply").isEnabled, timeout=PATIENCE_MS)
    named(page, AgentConfigTable, "agent_config_table").select("agent_0/goal")
    qtbot.waitUntil(lambda: shown(page, "setting_program"), timeout=PATIENCE_MS)

    def tab(key: Qt.Key) -> str:
        qtbot.keyClick(window.focusWidget(), key)
        return window.focusWidget().objectName()

    named(page, EnvironmentPicker, "environment-picker").setFocus()
    names = ["environment-picker"]
    while (name := tab(Qt.Key.Key_Tab)) != names[0]:
        names.append(name)
        assert len(names) < 60, " ".join(names)
    wanted = ["environment-picker", "apply", "agent_config_table", "policy_agent_0", "policy_agent_0/goal"]
    wanted += ["setting_program", "settings_more", "on_invalid", "operator_name", "managers"]
    wanted += ["toggle-log", "main-menu", "go-home", "go-settings"]
    assert [name for name in names if name in wanted] == wanted, " ".join(names)
    assert [tab(Qt.Key.Key_Backtab) for _ in names] == list(reversed(names))
