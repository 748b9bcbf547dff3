"""The inspector edits one operator and hands out configurations that are whole and right."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QDoubleSpinBox, QLabel, QLineEdit, QPushButton, QSpinBox, QWidget

from gym_gui.controllers.live_play.episode_totals import EpisodeTotals
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Report
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import OnInvalid, WorkerAssignment
from gym_gui.core.live import AgentView, LiveView
from gym_gui.services.submissions.hosts_file import HostsFile
from gym_gui.services.submissions.ssh.ssh_profile import Host
from gym_gui.ui.agents.rule_box import RuleBox
from gym_gui.ui.config_panels.multi_agent_panel import MultiAgentPanel
from gym_gui.ui.config_panels.player_panel import PlayerForm, PlayerPicker
from gym_gui.ui.config_panels.single_agent_panel import SingleAgentPanel
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.environments.install_dialog import InstallDialog
from gym_gui.ui.hosts.runs_on import RunsOn
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.config_widget import OperatorConfigWidget
from gym_gui.ui.operators.examples import bundled_policies, random_operator
from gym_gui.ui.operators.record_line import record_words
from gym_gui.ui.widgets.picker_list import PickerPopup
from tests.support.missing import missing_environment
from tests.support.named import named
from tests.ui.conftest import messages

from .conftest import WAIT, baseline, person

pytestmark = pytest.mark.usefixtures("looks_here")


@pytest.fixture
def config(context: AppContext, finish: Any, qtbot: Any) -> Iterator[OperatorConfigWidget]:
    catalog = CatalogCache(context.store)
    result = OperatorConfigWidget(context, catalog)
    result.resize(268, 700)
    result.show()
    qtbot.waitExposed(result)
    yield result
    result.forget()
    finish(catalog.close())
    result.close()
    result.deleteLater()


@pytest.fixture
def slow_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at an environment takes longer than an edit waits before it is handed out."""
    env_info = CatalogCache.env_info

    async def slow(catalog: CatalogCache, request: EnvironmentRequest) -> EnvironmentInfo:
        await asyncio.sleep(0.8)
        return await env_info(catalog, request)

    monkeypatch.setattr(CatalogCache, "env_info", slow)


def shown(config: OperatorConfigWidget, deck: OperatorDeck, what: OperatorConfig, qtbot: Any) -> Any:
    operator = deck.add(what, start=False)
    config.show_operator(operator, 1, 1)
    name = "multi-agent-panel" if len(what.workers) > 1 else "single-agent-panel"
    qtbot.waitUntil(lambda: config.findChild(QWidget, name) is not None, timeout=WAIT)
    return named(config, QWidget, name)


def test_one_agent_has_a_choice_of_who_decides(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    panel = shown(config, deck, baseline(), qtbot)
    assert isinstance(panel, SingleAgentPanel)
    assert (
        named(config, QLineEdit, "operator-name").text() == "random"
        and named(config, EnvironmentPicker, "operator-environment").text() == "CartPole-v1"
    )
    picker = named(panel, PlayerPicker, "player-agent_0")
    by_value = {str(item.value): item for item in picker.items}
    assert picker.value == "random" and not by_value["noop"].reason
    assert by_value["soccer_chaser"].reason  # shown, not to be chosen, and why
    assert any(item.group == "People" for item in picker.items)
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        picker.chosen.emit("noop")
    assert changed.args[0].workers["agent_0"].settings["behavior"] == "noop"
    assert changed.args[0].operator_id == "random"


def test_drafts_are_checked_beside_the_window(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any, monkeypatch: pytest.MonkeyPatch
):
    """A check reads policies' files and the keyring."""
    threads: list[threading.Thread] = []
    check = ConfigurationChecks.check

    def watched(checks: ConfigurationChecks, draft: Draft, env_info: EnvironmentInfo) -> Report:
        threads.append(threading.current_thread())
        return check(checks, draft, env_info)

    monkeypatch.setattr(ConfigurationChecks, "check", watched)
    panel = shown(config, deck, baseline(), qtbot)
    with qtbot.waitSignal(config.changed, timeout=WAIT):
        named(panel, PlayerPicker, "player-agent_0").chosen.emit("noop")
    assert threads and threading.main_thread() not in threads


def test_what_was_edited_last_is_handed_out_where_another_operator_is_shown_at_once(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    panel = shown(config, deck, baseline(), qtbot)
    other = deck.add(replace(baseline(), operator_id="other"), start=False)
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        named(panel, PlayerPicker, "player-agent_0").chosen.emit("noop")
        config.show_operator(other, 2, 2)
    assert changed.args[0].operator_id == "random"
    assert changed.args[0].workers["agent_0"].settings["behavior"] == "noop"


def test_edits_that_follow_each_other_are_handed_out_together(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    panel = shown(config, deck, baseline(), qtbot)
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        named(panel, PlayerPicker, "player-agent_0").chosen.emit("noop")
        named(config, QSpinBox, "operator-max-steps").setValue(7)
    assert changed.args[0].workers["agent_0"].settings["behavior"] == "noop"
    assert changed.args[0].max_steps == 7
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        named(config, QSpinBox, "operator-max-steps").setValue(9)
        named(config, EnvironmentPicker, "operator-environment").chosen.emit("FrozenLake-v1")
    assert (changed.args[0].task, changed.args[0].max_steps) == ("FrozenLake-v1", 9)


@pytest.mark.usefixtures("slow_look")
def test_an_environment_that_is_chosen_while_an_edit_is_about_to_be_handed_out_stays(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    shown(config, deck, baseline(), qtbot)
    handed: list[OperatorConfig] = []
    config.changed.connect(handed.append)
    limit = named(config, QSpinBox, "operator-max-steps")
    limit.setValue(7)
    qtbot.wait(150)  # it is checked, and not yet handed out
    with qtbot.waitSignal(config.changed, timeout=WAIT):
        config.environment.chosen.emit("classic/tictactoe_v3")
    assert [(each.task, each.max_steps) for each in handed] == [("classic/tictactoe_v3", 7)]


@pytest.mark.usefixtures("slow_look")
def test_an_edit_while_another_environment_is_looked_at_is_handed_out_with_it(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    shown(config, deck, baseline(), qtbot)
    handed: list[OperatorConfig] = []
    config.changed.connect(handed.append)
    with qtbot.waitSignal(config.changed, timeout=WAIT):
        config.environment.chosen.emit("classic/tictactoe_v3")
        named(config, QSpinBox, "operator-max-steps").setValue(7)
    assert [(each.task, each.max_steps) for each in handed] == [("classic/tictactoe_v3", 7)]
    assert set(handed[0].workers) == {"player_1", "player_2"}


def test_a_chosen_environment_is_not_lost_where_another_operator_is_shown_at_once(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    shown(config, deck, baseline(), qtbot)
    other = deck.add(replace(baseline(), operator_id="other"), start=False)
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        config.environment.chosen.emit("FrozenLake-v1")
        config.show_operator(other, 2, 2)
    assert (changed.args[0].operator_id, changed.args[0].task) == ("random", "FrozenLake-v1")
    assert config.operator is other and config.draft is not None and config.draft.task == "CartPole-v1"


def test_what_is_not_whole_is_said_and_not_handed_out(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    panel = shown(config, deck, baseline(), qtbot)
    picker = named(panel, PlayerPicker, "player-agent_0")
    asking = next(item for item in picker.items if "from a file" in item.label)
    with qtbot.assertNotEmitted(config.changed, wait=600):
        picker.chosen.emit(asking.value)
    sentences = " ".join(messages(config))
    assert "missing" in sentences or "choose" in sentences.lower()


def test_a_human_has_a_time_limit_and_a_rule(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    panel = shown(config, deck, person(), qtbot)
    form = named(panel, PlayerForm, "player-form-agent_0")
    limit = named(form, QDoubleSpinBox, "deadline-agent_0")
    assert limit.text() == "none"
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        limit.setValue(0.5)
        rule = named(form, RuleBox, "on-invalid-agent_0")
        rule.show_rule(OnInvalid(then="noop"))
        rule.activated.emit(rule.currentIndex())
    player = changed.args[0].workers["agent_0"]
    assert player.deadline_s == 0.5 and player.on_invalid.then == "noop"


def test_several_agents_have_a_row_each(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    players = dict.fromkeys(("player_1", "player_2"), baseline().workers["agent_0"])
    panel = shown(config, deck, OperatorConfig("ttt", "", "", "classic/tictactoe_v3", players), qtbot)
    assert isinstance(panel, MultiAgentPanel)
    pickers = [each.objectName() for each in panel.findChildren(PlayerPicker)]
    assert pickers == ["player-player_1", "player-player_2"]
    seats = [named(panel, QLabel, f"seat-player_{number}").text() for number in (1, 2)]
    assert seats == ["X", "O"]  # as on the board and its chips
    assert "O (player_2)" in named(panel, PlayerPicker, "player-player_2").toolTip()
    panel.open_settings("player_2")
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        named(panel, PlayerPicker, "player-player_2").chosen.emit("tictactoe_one_ply")
    assert changed.args[0].workers["player_1"].settings["behavior"] == "random"
    assert changed.args[0].workers["player_2"].settings["behavior"] == "tictactoe_one_ply"


def test_another_environment_keeps_who_can_stay(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    shown(config, deck, baseline(), qtbot)
    environment = named(config, EnvironmentPicker, "operator-environment")
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        environment.chosen.emit("FrozenLake-v1")
    assert changed.args[0].task == "FrozenLake-v1"
    assert changed.args[0].workers["agent_0"].settings["behavior"] == "random"
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        environment.chosen.emit("classic/tictactoe_v3")
    assert set(changed.args[0].workers) == {"player_1", "player_2"}
    assert isinstance(named(config, MultiAgentPanel, "multi-agent-panel"), MultiAgentPanel)


def test_an_environment_that_is_not_there_is_said(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    operator = deck.add(baseline(task="CartPoll-v1"), start=False)
    config.show_operator(operator, 1, 1)
    qtbot.waitUntil(lambda: any("CartPole" in said for said in messages(config)), timeout=WAIT)
    assert config.findChild(SingleAgentPanel) is None


def test_an_environment_that_is_not_installed_can_be_and_another_one_chosen(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    task, family = missing_environment()
    operator = deck.add(baseline(task=task), start=False)
    config.show_operator(operator, 1, 1)
    qtbot.waitUntil(lambda: any("not installed" in said for said in messages(config)), timeout=WAIT)
    qtbot.mouseClick(named(config, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
    dialog = config.findChild(InstallDialog)
    assert dialog is not None and dialog.isVisible()
    assert f"mosaic envs install {family}" in named(dialog, QLabel, "install-state").text()
    with qtbot.waitSignal(config.installed, timeout=WAIT) as told:
        dialog.installed.emit(family)  # in a terminal meanwhile, say; it is looked at again
    assert told.args == [operator]
    dialog.reject()
    qtbot.waitUntil(lambda: any("not installed" in said for said in messages(config)), timeout=WAIT)
    config.environment.chosen.emit("FrozenLake-v1")
    qtbot.waitUntil(lambda: config.findChild(SingleAgentPanel) is not None, timeout=WAIT)
    assert messages(config) == [] and config.draft is not None and config.draft.task == "FrozenLake-v1"


def test_name_and_limit_are_edited(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    shown(config, deck, baseline(), qtbot)
    name = named(config, QLineEdit, "operator-name")
    name.selectAll()
    qtbot.keyClicks(name, "Chance")
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        qtbot.keyClick(name, Qt.Key.Key_Return)
        named(config, QSpinBox, "operator-max-steps").setValue(25)
    assert changed.args[0].display_name == "Chance" and changed.args[0].max_steps == 25


def test_where_it_runs_is_chosen_and_stays(
    config: OperatorConfigWidget,
    deck: OperatorDeck,
    qtbot: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
):
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path))
    HostsFile().put(Host("one"))
    shown(config, deck, baseline(), qtbot)
    box = named(config, RunsOn, "operator-host")
    qtbot.waitUntil(lambda: box.findText("one") > 0, timeout=WAIT)
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        box.activated.emit(box.findText("one"))
    assert changed.args[0].host == "one"
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:  # another change leaves it there
        named(config, QSpinBox, "operator-max-steps").setValue(7)
    assert (changed.args[0].host, changed.args[0].max_steps) == ("one", 7)


def test_what_is_changed_before_the_environment_is_known_is_handed_out_then(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    config.show_operator(deck.add(baseline(), start=False), 1, 1)
    assert config.panel is None
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        named(config, QSpinBox, "operator-max-steps").setValue(25)
    assert changed.args[0].max_steps == 25


def test_a_name_that_nobody_chose_follows_who_decides(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    panel = shown(config, deck, random_operator(), qtbot)
    copy = deck.duplicate("random")
    name = named(config, QLineEdit, "operator-name")
    assert (name.text(), copy.player.config.display_name) == ("Random", "Random 2")
    picker = named(panel, PlayerPicker, "player-agent_0")
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        picker.chosen.emit("noop")
    assert name.text() == changed.args[0].display_name == "Does nothing"
    deck.change(changed.args[0])
    deck.change(replace(changed.args[0], operator_id=copy.player.config.operator_id))
    assert [o.player.config.display_name for o in deck.operators] == ["Does nothing", "Does nothing 2"]
    name.setText("Mine")
    name.editingFinished.emit()
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        picker.chosen.emit("random")
    assert changed.args[0].display_name == "Mine"


def test_everything_fits_the_inspector(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    for what in (baseline(), person("MiniGrid-Empty-5x5-v0")):
        operator = deck.add(what, start=False)
        config.show_operator(operator, 1, 2)
        qtbot.waitUntil(
            lambda: config.findChild(SingleAgentPanel, "single-agent-panel") is not None, timeout=WAIT
        )
        assert config.minimumSizeHint().width() <= 268


def test_policies_that_came_since_are_offered_when_the_list_opens(
    config: OperatorConfigWidget, deck: OperatorDeck, context: AppContext, qtbot: Any
):
    panel = shown(config, deck, baseline(), qtbot)
    trained = context.store.runs_dir() / "training" / "policy_of_today"
    shutil.copytree(bundled_policies()[0] / "ppo_cartpole", trained)
    picker = named(panel, PlayerPicker, "player-agent_0")
    assert not any("policy_of_today" in item.label for item in picker.items)
    form = named(panel, PlayerForm, "player-form-agent_0")
    picker.open()
    qtbot.waitUntil(lambda: any("policy_of_today" in i.label for i in picker.items), timeout=WAIT)
    assert named(panel, PlayerForm, "player-form-agent_0") is form  # what is being edited stays
    item = next(item for item in picker.items if "policy_of_today" in item.label)
    assert not item.reason
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        named(panel, PickerPopup, "picker-popup").picked.emit(item.value)
    assert changed.args[0].workers["agent_0"].settings["checkpoint"] == str(trained)
    named(panel, PickerPopup, "picker-popup").hide()


def test_decided_by_shows_the_model_that_is_set_in_the_form(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    settings = {"client_name": "ollama", "model_id": "first-model"}
    asked = WorkerAssignment("mosaic_llm_worker", "llm", settings)
    panel = shown(config, deck, OperatorConfig("a", "", "", "FrozenLake-v1", {"agent_0": asked}), qtbot)
    picker = named(panel, PlayerPicker, "player-agent_0")
    assert picker.text() == "first-model"
    form = named(panel, PlayerForm, "player-form-agent_0")
    other = replace(asked, settings={**settings, "model_id": "other-model"})
    form.changed.emit("agent_0", other)
    qtbot.waitUntil(lambda: picker.text() == "other-model", timeout=WAIT)


def test_the_record_says_what_was_played():
    tally, config = EpisodeTotals(), baseline()
    assert record_words(tally, config) == "No episode has ended yet"
    agent = AgentView("agent_0", "agent_0", "left", 0, "policy", 1.0, 1.0, latency_ms=1400.0, unusable=1)
    tally.count_view(LiveView(0, 7, 0, (AgentView("agent_0", "agent_0"),), ("agent_0",)))
    tally.count_view(LiveView(0, 7, 1, (agent,), ("agent_0",)))
    assert record_words(tally, config) == (
        "No episode has ended yet · unusable 1 of 1 decision · median decision 1.4 s"
    )
    row = {"episode_index": 0, "total_reward": 2.0, "length": 10, "unusable_decisions": {"agent_0": 3}}
    tally.end(row, decisions=124)
    assert record_words(tally, config) == (
        "1 episode · mean return 2.00 · mean length 10 steps · unusable 3 of 124 decisions "
        "· median decision 1.4 s"
    )


def test_the_record_follows_its_operator(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    operator = deck.add(baseline(max_steps=2))
    config.show_operator(operator, 1, 1)
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    record = named(config, QLabel, "operator-record")
    qtbot.waitUntil(lambda: " episode" in record.text() and record.text()[0].isdigit(), timeout=WAIT)
    assert "mean return 2.00 · mean length 2 steps · median decision " in record.text()
