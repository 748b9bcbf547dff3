"""A joint policy on the Agents page: whose part a slot plays is shown, chosen, linked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QCheckBox, QComboBox, QLabel

from gym_gui.controllers.setup.check_message import Level
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.policy_files import describe_policy
from gym_gui.ui.agents.advanced_config import AdvancedConfigTab
from gym_gui.ui.agents.checks_panel import ChecksPanel
from gym_gui.ui.agents.link_dialog import LinkAgentsDialog
from gym_gui.ui.agents.slot_panel import SlotPanel
from gym_gui.ui.agents.table import AgentConfigTable
from gym_gui.ui.widgets import PickerButton
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.joint import AGENTS, SPREAD, renamed, train_joint
from tests.support.named import named

RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
TAG = "mpe2/simple_tag_v3"
Wait = Callable[[], None]

pytestmark = pytest.mark.usefixtures("looks_here")


def opened(
    tab: AdvancedConfigTab, checked: Wait, task: str, first: str, others: list[str], file: Path
) -> None:
    """One slot plays a policy, the others at random."""
    row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(file)})
    players = {first: row, **dict.fromkeys(others, RANDOM)}
    tab.model.open_config(OperatorConfig.multi_agent(operator_id="it", task=task, player_workers=players))
    checked()


def errors(tab: AdvancedConfigTab) -> list[str]:
    return [finding.text for finding in tab.model.findings if finding.level is Level.ERROR]


def files(tab: AdvancedConfigTab) -> list[str]:
    """What the table says each slot is read from."""
    table = named(tab, AgentConfigTable, "agent_config_table")
    return [table.cellWidget(row, 5).findChild(QLabel).text() for row in range(table.rowCount())]  # type: ignore[union-attr]


def part_box(tab: AdvancedConfigTab, agent: str) -> QComboBox:
    panel = named(tab.window(), SlotPanel, "slot_panel")
    panel.show_slot(agent)
    return named(panel, QComboBox, "part")


@pytest.mark.full
def test_a_part_is_chosen_and_said(tab: AdvancedConfigTab, checked: Wait, joint_policy: Path) -> None:
    opened(tab, checked, SPREAD, "agent_0", ["agent_1", "agent_2"], joint_policy)
    box = part_box(tab, "agent_0")
    assert [box.itemText(i) for i in range(box.count())] == ["its own", *AGENTS]
    assert files(tab)[0] == joint_policy.name
    box.setCurrentIndex(box.findData("agent_2"))
    box.activated.emit(box.currentIndex())
    checked()
    assert tab.model.draft.rows["agent_0"].checkpoint_agent == "agent_2"
    assert files(tab)[0] == f"{joint_policy.name}, part agent_2"
    sentences = named(tab, ChecksPanel, "checks_panel").sentences
    assert f"agent_0 takes the part of agent_2 of {joint_policy.name}" in sentences


def test_a_link_says_who_takes_which_part_by_name_and_by_kind(
    tab: AdvancedConfigTab, qtbot: Any, checked: Wait, joint_policy: Path, tmp_path: Path
) -> None:
    duel = renamed(joint_policy, tmp_path / "duel", {"agent_1": "rival_0", "agent_2": "judge_0"})
    opened(tab, checked, SPREAD, "agent_0", ["agent_1", "agent_2"], duel)
    dialog = tab.open_link_dialog("agent_0")
    assert isinstance(dialog, LinkAgentsDialog)
    for agent in ("agent_1", "agent_2"):
        box = named(dialog, QCheckBox, f"link_{agent}")
        assert box.isEnabled()
        qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    assert [w.text() for w in dialog.findChildren(QLabel)].count("the part of agent_0") == 2
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    checked()
    assert errors(tab) == []
    sentences = named(tab, ChecksPanel, "checks_panel").sentences
    assert "agent_2 takes the part of agent_0 of the linked file, the only one of its kind" in sentences
    assert files(tab)[1] == "from agent_0, part agent_0"
    assert part_box(tab, "agent_1").itemText(0) == "agent_0, of its kind"


def test_a_policy_that_has_no_part_of_a_slots_name_takes_one_that_fits(
    tab: AdvancedConfigTab, qtbot: Any, checked: Wait, joint_policy: Path, tmp_path: Path
) -> None:
    names = {"agent_0": "green_0", "agent_1": "green_1", "agent_2": "blue_0"}
    file = renamed(joint_policy, tmp_path / "others", names)
    opened(tab, checked, SPREAD, "agent_0", ["agent_1", "agent_2"], joint_policy)
    tab.model.checks = ConfigurationChecks(WorkerTypeRegistry.all(), files=[describe_policy(file)])
    noop = WorkerAssignment("operators_worker", "baseline", {"behavior": "noop"})
    tab.model.set_row("agent_2", noop, "another")  # looked at anew
    checked()
    picker = named(named(tab, AgentConfigTable, "agent_config_table"), PickerButton, "policy_agent_1")
    (item,) = [item for item in picker.items if str(item.value).endswith(":others")]
    assert item.reason == ""
    picker.chosen.emit(item.value)
    checked()
    assert tab.model.draft.rows["agent_1"].checkpoint_agent == "green_0"
    assert files(tab)[1] == "others, part green_0" and errors(tab) == []


def test_slots_of_other_spaces_share_a_file_that_has_a_part_for_each(
    tab: AdvancedConfigTab, checked: Wait, tmp_path: Path
) -> None:
    file = train_joint(tmp_path / "tag", TAG)
    others = ["adversary_1", "adversary_2", "agent_0"]
    opened(tab, checked, TAG, "adversary_0", others, file)
    dialog = tab.open_link_dialog("adversary_0")
    assert isinstance(dialog, LinkAgentsDialog)
    assert all(named(dialog, QCheckBox, f"link_{agent}").isEnabled() for agent in others)
    dialog.reject()
    tab.model.edit(tab.model.draft.linked("adversary_0", others), "link")
    checked()
    assert errors(tab) == [] and tab.model.config is not None
