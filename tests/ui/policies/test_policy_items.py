"""Policies as every picker of the window offers them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytestqt.qtbot import QtBot

from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, OfferedPolicy
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.policy_files import read_policy_file
from gym_gui.ui.policies.policy_items import HERE, policy_items, show_player
from gym_gui.ui.widgets import PickerButton
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry

POLICY = Path(__file__).parents[3] / "docs" / "examples" / "checkpoints" / "ppo_cartpole"


def checks() -> ConfigurationChecks:
    if not WorkerTypeRegistry.all():
        discover()
    trained = read_policy_file(POLICY)
    assert trained is not None
    files = [
        replace(trained, name=name, called=called) for name, called in (("01A", "Steady"), ("01B", "PPO"))
    ]
    return ConfigurationChecks(WorkerTypeRegistry.all(), files=files)


def test_policies_are_told_apart_by_what_is_said_first() -> None:
    offers = [OfferedPolicy(policy) for policy in checks().policies]
    trained = [item for item in policy_items(offers) if "CartPole" in item.detail]
    assert [item.label for item in trained] == ["Steady", "PPO"]
    assert "PPO" in trained[0].detail and "PPO" not in trained[1].detail, "the algorithm is said once"
    assert len({(item.label, item.detail) for item in policy_items(offers)}) == len(offers)


def test_who_was_read_from_a_file_is_called_by_it(qtbot: QtBot) -> None:
    known, picker = checks(), PickerButton()
    qtbot.addWidget(picker)
    offers = [OfferedPolicy(policy) for policy in known.policies]
    row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": "/policies/lander"})
    show_player(picker, row, offers, known)
    assert (picker.text(), picker.value) == ("lander", HERE)
    show_player(picker, WorkerAssignment("cleanrl_worker", "rl", {}), offers, known)
    assert picker.value != HERE and "from a file" in picker.text()
    show_player(picker, WorkerAssignment("somebody_elses", "rl"), offers, known)
    assert "somebody_elses" in picker.text()
