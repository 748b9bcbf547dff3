"""Configuring by hand: each click changes the draft, is checked, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QSpinBox,
)

from gym_gui.controllers.setup.check_message import Level
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import LinkGroup, WorkerAssignment
from gym_gui.ui.agents.advanced_config import ActorCard, AdvancedConfigTab
from gym_gui.ui.agents.checks_panel import ChecksPanel
from gym_gui.ui.agents.link_dialog import LinkAgentsDialog
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.agents.slot_marks import LinkMark
from gym_gui.ui.agents.slot_panel import SlotPanel
from gym_gui.ui.agents.table import AgentConfigTable, file_words
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.install_dialog import InstallDialog
from gym_gui.ui.widgets import EmptyHint, KindBadge, PickerButton
from gym_gui.ui.widgets.picker_list import PickerPopup
from gym_gui.workers.status import WorkerStatus
from tests.support.cut_words import cut_words
from tests.support.missing import missing_environment
from tests.support.named import named

FOUR = "classic/connect_four_v3"
PPO = Path(__file__).resolve().parents[3] / "docs" / "examples" / "checkpoints" / "ppo_cartpole"
RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
Wait = Callable[[], None]
Choose = Callable[[str], None]

pytestmark = pytest.mark.usefixtures("looks_here")


def pick(qtbot: Any, parent: Any, name: str, typed: str) -> None:
    """Open a picker by keyboard, type, and take the first that fits."""
    button = parent.findChild(PickerButton, name)
    assert button is not None, name
    qtbot.keyClick(button, Qt.Key.Key_Down)
    assert named(button, PickerPopup, "picker-popup").isVisible()
    qtbot.keyClicks(named(button, QLineEdit, "picker-search"), typed)
    qtbot.keyClick(named(button, QLineEdit, "picker-search"), Qt.Key.Key_Return)
    assert not named(button, PickerPopup, "picker-popup").isVisible(), f"nothing fits {typed!r}"


def errors(tab: AdvancedConfigTab) -> list[str]:
    return [finding.text for finding in tab.model.findings if finding.level is Level.ERROR]


def test_an_empty_page_says_what_to_do(tab: AdvancedConfigTab, qtbot: Any, checked: Wait) -> None:
    hint, table = named(tab, EmptyHint, "empty-hint"), named(tab, AgentConfigTable, "agent_config_table")
    assert hint.isVisible() and not table.isVisible()
    start = next(b for b in hint.findChildren(QPushButton) if b.text() == "Connect four")
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    checked()
    assert not hint.isVisible() and table.rowCount() == 2


def test_a_new_environment_is_played_at_random_and_right(tab: AdvancedConfigTab, choose: Choose) -> None:
    choose(FOUR)
    assert tab.model.draft.rows == {"player_0": RANDOM, "player_1": RANDOM}
    assert errors(tab) == [] and tab.model.config is not None
    assert "The engine accepts the configuration" in named(tab, ChecksPanel, "checks_panel").sentences
    assert tab.model.config.resolved_slots() == tab.model.draft.rows


@pytest.mark.parametrize("task", [FOUR, "MosaicMultiGrid-S-2v2-IndAgObs-v1"])
def test_in_a_small_window_no_word_of_the_table_is_cut(
    tab: AdvancedConfigTab, choose: Choose, task: str
) -> None:
    choose(task)
    columns, table = [], named(tab, AgentConfigTable, "agent_config_table")
    for width in (1000, 700, 610):  # the last: what the inspector leaves of 1000
        tab.resize(width, 600)
        assert cut_words(table) == []
        shown = [c for c in range(8) if not table.isColumnHidden(c)]
        assert sum(map(table.columnWidth, shown)) <= width
        columns.append(len(shown))
    assert columns[0] > columns[-1]


def test_what_is_missing_is_installed_from_its_line(
    tab: AdvancedConfigTab, context: AppContext, qtbot: Any, choose: Choose
) -> None:
    choose("CartPole-v1")
    tab.resize(652, 600)  # what the inspector leaves of 1024
    content: Any = named(tab, ActorCard, "actor_card").parentWidget()
    port = content.parentWidget()
    qtbot.waitUntil(lambda: content.width() <= port.width())
    checks, panel = tab.model.checks, named(tab, ChecksPanel, "checks_panel")
    assert checks is not None
    line = "mosaic workers install sb3_worker"
    missing = WorkerStatus("sb3_worker", "missing", "it lacks something", line, ())
    tab.model.checks = ConfigurationChecks(list(checks.workers.values()), [missing])
    tab.model.set_row("agent_0", replace(RANDOM, settings={"behavior": "cycle"}), "change the actor")

    def buttons() -> list[QPushButton]:
        return [b for b in panel.findChildren(QPushButton, "finding_install") if b.isVisible()]

    # Qt shows what is put into a layout an event later.
    qtbot.waitUntil(lambda: any("3 is not installed" in said for said in panel.sentences) and bool(buttons()))
    qtbot.mouseClick(buttons()[0], Qt.MouseButton.LeftButton)
    dialog = tab.window().findChild(InstallDialog)
    assert dialog is not None and dialog.isVisible()
    assert line in named(dialog, QLabel, "install-state").text()
    dialog.reject()

    task, family = missing_environment()
    tab.model.choose_environment(task)
    qtbot.waitUntil(lambda: bool(buttons()) and "not installed" in panel.sentences[0])
    qtbot.mouseClick(buttons()[0], Qt.MouseButton.LeftButton)
    asked = [d for d in tab.window().findChildren(InstallDialog) if d.isVisible()]
    assert f"mosaic envs install {family}" in named(asked[0], QLabel, "install-state").text()
    with qtbot.waitSignal(tab.model.looking_changed):
        context.installed.emit()
    asked[0].reject()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"program": "/some/way/soccer.asl"}, "soccer.asl"),
        ({"script": ["left"] * 11}, "a list of 11 moves"),
        ({"checkpoint": "/some/way/policy"}, "policy"),
        ({"model_id": "llama/3.2"}, "llama/3.2"),
        ({}, "—"),
    ],
)
def test_a_row_says_what_its_player_plays_by(settings: dict[str, Any], words: str) -> None:
    assert file_words(WorkerAssignment("some_worker", "bdi", settings)) == words


def test_a_long_name_shows_its_beginning(tab: AdvancedConfigTab, choose: Choose) -> None:
    choose(FOUR)
    name = "A name that is far longer than the field it stands in can show at once"
    tab.model.edit(replace(tab.model.draft, name=name), "name it")
    name_line = named(tab.window(), QLineEdit, "operator_name")
    assert name_line.cursorPosition() == 0
    assert name_line.toolTip() == name


def test_choosing_a_policy_changes_the_row_and_is_told(
    tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
) -> None:
    choose(FOUR)
    told: list[tuple[str, str]] = []
    tab.policy_binding_changed.connect(lambda *args: told.append(args))
    table = named(tab, AgentConfigTable, "agent_config_table")
    pick(qtbot, table, "policy_player_1", "one move ahead")
    assert told == [("player_1", "connect_four_one_ply")]
    pick(qtbot, table, "policy_player_0", "you")
    assert told[1:] == [("player_0", "human_keyboard")]
    assert table.findChild(KindBadge) is not None
    rows = tab.model.draft.rows
    assert (rows["player_0"].worker_type, rows["player_1"].settings["behavior"]) == (
        "human",
        "connect_four_one_ply",
    )
    checked()
    assert errors(tab) == []


def test_choosing_a_worker_takes_its_first_policy_that_fits(
    tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
) -> None:
    choose(FOUR)
    table = named(tab, AgentConfigTable, "agent_config_table")
    pick(qtbot, table, "worker_player_0", "human")
    assert tab.model.draft.rows["player_0"].worker_id == "human_worker"
    pick(qtbot, table, "worker_player_0", "cleanrl")
    checked()
    # A trained policy of another game is not taken: the person has to name one.
    assert errors(tab) == ["player_0: Checkpoint is missing"]
    assert tab.model.config is None


def test_what_does_not_fit_is_shown_disabled_with_the_reason(tab: AdvancedConfigTab, choose: Choose) -> None:
    choose("Pendulum-v1")
    items = {item.value: item for item in named(tab, PickerButton, "actor").items}
    assert items["random"].reason == ""
    assert "trained in CartPole-v1" in items["cleanrl_ppo:ppo_cartpole"].reason
    choose(FOUR)
    picker = named(tab, AgentConfigTable, "agent_config_table").findChild(PickerButton, "policy_player_0")
    assert picker is not None
    items = {item.value: item for item in picker.items}
    assert "not for classic/connect_four_v3" in items["soccer_chaser"].reason
    picker.open()
    row = named(picker, PickerPopup, "picker-popup").model.row_of("soccer_chaser")
    assert not named(picker, PickerPopup, "picker-popup").model.index(row).flags() & Qt.ItemFlag.ItemIsEnabled
    named(picker, PickerPopup, "picker-popup").hide()


def test_every_edit_can_be_taken_back_and_done_again(
    tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
) -> None:
    choose(FOUR)
    before = tab.model.draft
    table = named(tab, AgentConfigTable, "agent_config_table")
    pick(qtbot, table, "policy_player_1", "does nothing")
    after = tab.model.draft
    tab.model.undo_stack.undo()
    assert tab.model.draft == before
    tab.model.undo_stack.redo()
    assert tab.model.draft == after
    choose("CartPole-v1")
    tab.model.undo_stack.undo()
    checked()
    assert tab.model.draft == after and table.rowCount() == 2


def test_keystrokes_in_one_field_are_one_step(tab: AdvancedConfigTab, qtbot: Any, choose: Choose) -> None:
    choose(FOUR)
    count = tab.model.undo_stack.count()
    qtbot.keyClicks(named(tab.window(), QLineEdit, "operator_name"), "Pairs")
    assert tab.model.draft.name == "Pairs" and tab.model.undo_stack.count() == count + 1
    tab.model.undo_stack.undo()
    assert tab.model.draft.name == ""


def test_reset_brings_the_defaults_back(
    tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
) -> None:
    choose(FOUR)
    pick(qtbot, named(tab, AgentConfigTable, "agent_config_table"), "policy_player_1", "you")
    qtbot.keyClicks(named(tab.window(), QLineEdit, "operator_name"), "x")
    tab.model.reset()
    checked()
    assert tab.model.draft.rows == {"player_0": RANDOM, "player_1": RANDOM} and tab.model.draft.name == ""
    tab.model.undo_stack.undo()
    assert tab.model.draft.rows["player_1"].worker_id == "human_worker"


def test_one_agent_has_a_simple_drop_down(
    tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
) -> None:
    choose("CartPole-v1")
    actor = named(tab, ActorCard, "actor_card")
    assert actor.isVisible() and not named(tab, AgentConfigTable, "agent_config_table").isVisible()
    told: list[tuple[str, str]] = []
    tab.policy_binding_changed.connect(lambda *args: told.append(args))
    pick(qtbot, actor, "actor", "ppo_cartpole")
    checked()
    assert told == [("agent_0", "cleanrl_ppo:ppo_cartpole")]
    assert tab.model.config is not None
    assert Path(str(tab.model.config.workers["agent_0"].settings["checkpoint"])).name == "ppo_cartpole"


class TestSettings:
    def test_the_form_is_the_workers(
        self, tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
    ) -> None:
        choose("CartPole-v1")
        pick(qtbot, named(tab, ActorCard, "actor_card"), "actor", "from a file")
        checked()
        assert errors(tab) == ["agent_0: Checkpoint is missing"]
        line = named(tab.window(), SlotPanel, "slot_panel").findChild(QLineEdit, "setting_checkpoint")
        assert line is not None
        qtbot.keyClicks(line, str(PPO))
        checked()
        assert errors(tab) == [] and tab.model.policy_id("agent_0") == "cleanrl_ppo:ppo_cartpole"

    def test_the_engines_rules_are_set_beside_them(
        self, tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
    ) -> None:
        choose(FOUR)
        table = named(tab, AgentConfigTable, "agent_config_table")
        table.select("player_1")
        slot = named(tab.window(), SlotPanel, "slot_panel")
        assert slot.agent == "player_1"
        rule = slot.findChild(QComboBox, "on_invalid")
        limit = slot.findChild(QDoubleSpinBox, "deadline_s")
        assert rule is not None and limit is not None
        qtbot.keyClick(rule, Qt.Key.Key_Down)
        limit.setValue(1.5)
        row = tab.model.draft.rows["player_1"]
        assert (row.on_invalid.then, row.deadline_s) == ("noop", 1.5)
        assert tab.model.draft.rows["player_0"].deadline_s is None
        # Another policy keeps them: they are the slot's, not the policy's.
        pick(qtbot, table, "policy_player_1", "does nothing")
        assert tab.model.draft.rows["player_1"].deadline_s == 1.5

    def test_a_key_that_is_written_out_never_enters_the_draft(
        self, tab: AdvancedConfigTab, qtbot: Any, choose: Choose
    ) -> None:
        choose("CartPole-v1")
        before, steps = tab.model.draft, tab.model.undo_stack.count()
        named(tab.window(), SettingsForm, "settings_form").values_changed.emit(
            {"behavior": "random", "api_key": "sk-" + "a" * 30}
        )
        assert tab.model.draft == before and tab.model.undo_stack.count() == steps

    def test_step_limit_and_seats(
        self, tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
    ) -> None:
        choose(FOUR)
        named(tab.window(), QSpinBox, "max_steps").setValue(30)
        qtbot.keyClick(named(tab.window(), QComboBox, "seats"), Qt.Key.Key_Down)
        checked()
        config = tab.model.config
        assert config is not None and (config.max_steps, config.seats) == (30, "swap")
        assert (
            "Every seed is played 2 times: the teams change sides"
            in named(tab, ChecksPanel, "checks_panel").sentences
        )

    def test_agents_of_one_team_may_change_seats(
        self, tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
    ) -> None:
        choose("simple_spread_v3")
        qtbot.keyClick(named(tab.window(), QComboBox, "seats"), Qt.Key.Key_Down)
        checked()
        assert tab.model.config is not None and tab.model.config.seats == "swap"
        assert (
            "Every seed is played 3 times: the agents change seats"
            in named(tab, ChecksPanel, "checks_panel").sentences
        )

    def test_managers_bring_slots(self, tab: AdvancedConfigTab, choose: Choose, checked: Wait) -> None:
        choose("MiniGrid-DoorKey-5x5-v0")
        actor = named(tab, ActorCard, "actor_card")
        assert actor.isVisible()
        managers = named(tab.window(), QCheckBox, "managers")
        managers.click()
        checked()
        assert named(tab, AgentConfigTable, "agent_config_table").rowCount() == 2 and errors(tab) == []
        assert tab.model.config is not None and set(tab.model.config.manager) == {"agent_0"}
        managers.click()
        checked()
        assert actor.isVisible() and tab.model.draft.managed == ()

    def test_another_interface_of_the_same_game(
        self, tab: AdvancedConfigTab, qtbot: Any, choose: Choose, checked: Wait
    ) -> None:
        choose("mpe2/simple_spread_v3")
        env_info = tab.model.env_info
        assert env_info is not None and len(env_info.apis) == 2
        other = next(api for api in env_info.apis if api != env_info.api)
        api_widget = named(tab.window(), QComboBox, "api")
        api_widget.setCurrentIndex(api_widget.findData(other))
        api_widget.activated.emit(api_widget.currentIndex())
        checked()
        assert tab.model.env_info is not None and tab.model.env_info.api == other
        assert tab.model.config is not None and tab.model.config.api in (other, None)


class TestLinks:
    def open_linked(self, tab: AdvancedConfigTab, checked: Wait) -> None:
        row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(PPO)})
        config = OperatorConfig.multi_agent(
            operator_id="linked",
            task=FOUR,
            player_workers={"player_0": row, "player_1": RANDOM},
        )
        tab.model.open_config(config)
        checked()

    def test_the_dialog_links_and_the_marks_show_it(
        self, tab: AdvancedConfigTab, qtbot: Any, checked: Wait
    ) -> None:
        self.open_linked(tab, checked)
        dialog = tab.open_link_dialog("player_0")
        assert isinstance(dialog, LinkAgentsDialog) and dialog.chosen == []
        qtbot.mouseClick(named(dialog, QCheckBox, "link_player_1"), Qt.MouseButton.LeftButton)
        with qtbot.waitSignal(dialog.linked):
            qtbot.keyClick(dialog, Qt.Key.Key_Return)
        assert dialog.result() == QDialog.DialogCode.Accepted
        (link,) = tab.model.draft.links
        assert link.agents == ("player_0", "player_1")
        assert tab.model.draft.rows["player_1"].settings["checkpoint"] == str(PPO)
        marks = [
            mark.accessibleName()
            for mark in named(tab, AgentConfigTable, "agent_config_table").findChildren(LinkMark)
        ]
        assert any("player_1 plays its part of the file of player_0" in mark for mark in marks)
        checked()
        # The policy is of another game, which the link does not hide.
        assert all("does not fit" in text for text in errors(tab)) and len(errors(tab)) == 2
        tab.model.undo_stack.undo()
        assert tab.model.draft.links == ()

    def test_whoever_takes_another_policy_leaves_the_link(
        self, tab: AdvancedConfigTab, qtbot: Any, checked: Wait
    ) -> None:
        self.open_linked(tab, checked)
        tab.model.edit(tab.model.draft.linked("player_0", ["player_1"]), "link")
        checked()
        table = named(tab, AgentConfigTable, "agent_config_table")
        pick(qtbot, table, "policy_player_1", "random")
        assert tab.model.draft.links == ()
        tab.model.undo_stack.undo()
        pick(qtbot, table, "policy_player_0", "random")
        assert tab.model.draft.links == ()

    def test_only_policies_from_files_can_be_shared(self, tab: AdvancedConfigTab, choose: Choose) -> None:
        choose(FOUR)
        table = named(tab, AgentConfigTable, "agent_config_table")
        table.open_menu("player_0")
        menu = table.findChild(QMenu, "menu_player_0")
        assert menu is not None
        (link,) = [a for a in menu.actions() if a.text().startswith("Link agents")]
        assert not link.isEnabled() and "the policy has no file" in link.text()
        menu.close()

    def test_one_policy_can_be_given_to_everybody(
        self, tab: AdvancedConfigTab, qtbot: Any, choose: Choose
    ) -> None:
        choose(FOUR)
        table = named(tab, AgentConfigTable, "agent_config_table")
        pick(qtbot, table, "policy_player_0", "does nothing")
        table.open_menu("player_0")
        menu = table.findChild(QMenu, "menu_player_0")
        assert menu is not None
        next(a for a in menu.actions() if a.text() == "Same policy for all slots").trigger()
        menu.close()
        assert tab.model.draft.rows["player_1"].settings["behavior"] == "noop"

    def test_a_configuration_with_links_is_shown_as_it_is(
        self, tab: AdvancedConfigTab, checked: Wait
    ) -> None:
        config = OperatorConfig.multi_agent(
            operator_id="linked",
            task=FOUR,
            player_workers={"player_0": WorkerAssignment("cleanrl_worker", "rl")},
            link_groups=[LinkGroup("player_0", ["player_1"], str(PPO), color="#ff00aa")],
        )
        tab.model.open_config(config)
        checked()
        assert tab.model.draft.links[0].color == "#ff00aa"
        assert tab.model.draft.config().resolved_slots() == config.resolved_slots()


class TestTrouble:
    def test_an_unknown_environment_is_a_sentence(self, tab: AdvancedConfigTab, choose: Choose) -> None:
        choose("CartPool-v1")
        assert "Did you mean 'CartPole-v1'" in named(tab, ChecksPanel, "checks_panel").sentences[0]
        assert tab.model.config is None
        choose("CartPole-v1")
        assert tab.model.config is not None

    def test_a_slot_with_an_unknown_worker_says_so(self, tab: AdvancedConfigTab, checked: Wait) -> None:
        players = {"player_0": WorkerAssignment("nobody_worker", "rl"), "player_1": RANDOM}
        tab.model.open_config(OperatorConfig("x", task=FOUR, workers=players))
        checked()
        assert "there is no worker nobody_worker" in errors(tab)[0]
        assert tab.model.report is not None and tab.model.report.of("player_0")
