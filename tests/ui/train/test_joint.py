"""Trainings of several agents on the Train page: offered where they fit, drawn by agent, opened and used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtWidgets import QLabel, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.core.config import OperatorConfig
from gym_gui.services.store import Store
from gym_gui.services.trainer.training_folder import EPISODES, METRICS
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.pages.train import TrainPage
from gym_gui.ui.policies.policies_view import PoliciesView
from gym_gui.ui.policies.policy_panel import PolicyAgents, PolicyPanel
from gym_gui.ui.train.chart_words import chart_items, chart_word
from gym_gui.ui.train.curve_board import CurveBoard, CurveCard
from gym_gui.ui.train.new_run import NewRunForm
from gym_gui.ui.widgets import PickerButton
from gym_gui.ui.widgets.tables import RowsTable
from gym_gui.ui.window.main_window import MainWindow
from tests.support.joint import AGENTS, SPREAD
from tests.support.named import named
from tests.ui.train.conftest import PATIENCE_MS


def test_returns_of_agents_and_teams_are_named_and_stand_together() -> None:
    assert chart_word("agents/green_0") == "Return of green_0"
    assert chart_word("teams/green") == "Return of team green"
    names = ["losses/total", "agents/green_0", "agents/blue_0", "teams/green", "teams/blue"]
    found = [(item.group, item.label) for item in chart_items(names) if item.group in ("Teams", "Agents")]
    assert found == [
        ("Teams", "Return of team green"),
        ("Teams", "Return of team blue"),
        ("Agents", "Return of green_0"),
        ("Agents", "Return of blue_0"),
    ]
    groups = list(dict.fromkeys(item.group for item in chart_items(names)))
    assert groups == ["Episodes", "Teams", "Agents", "Training", "Losses", "Machine"]


# -- the form ------------------------------------------------------------------------------


def choose(form: NewRunForm, env_id: str) -> None:
    """As a person does in the list."""
    picker = named(form, EnvironmentPicker, "train-environment")
    picker.set_value(env_id)
    picker.chosen.emit(env_id)


def test_the_form_takes_an_algorithm_that_learns_for_as_many(page: TrainPage, qtbot: QtBot) -> None:
    form = named(page, NewRunForm, "train-new-run")
    algorithm = named(form, PickerButton, "train-algorithm")
    worker = named(form, PickerButton, "train-worker")
    worker.chosen.emit("cleanrl_worker")
    assert algorithm.value == "ppo"
    offered = {i.value: i.reason for i in named(form, EnvironmentPicker, "train-environment").items}
    assert offered[SPREAD] == "" and offered["CartPole-v1"] == ""
    assert offered["classic/connect_four_v3"] == ""

    choose(form, SPREAD)
    assert algorithm.value == "ippo"
    reasons = {item.value: item.reason for item in algorithm.items}
    assert reasons["ppo"] == "for one agent; here several act at once"
    assert reasons["ippo"] == reasons["mappo"] == ""
    qtbot.waitUntil(named(page, QPushButton, "train-start").isEnabled, timeout=PATIENCE_MS)

    algorithm.chosen.emit("ppo")
    problem = named(page, QLabel, "train-problem")
    assert problem.text() == "PPO is for one agent; here several act at once."
    assert not named(page, QPushButton, "train-start").isEnabled()

    algorithm.chosen.emit("mappo")
    choose(form, "CartPole-v1")
    assert algorithm.value == "ppo"


# -- curves --------------------------------------------------------------------------------


def test_each_agent_of_a_run_has_a_curve(page: TrainPage, started: Any, qtbot: QtBot) -> None:
    run_id = started()
    record = page.link.run(run_id)
    assert record is not None
    rows = [{"step": step, "m": {f"agents/{a}": float(i) for i, a in enumerate(AGENTS)}} for step in (1, 2)]
    with (record.folder / METRICS).open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    with (record.folder / EPISODES).open("a") as file:
        file.write(
            json.dumps({"step": 2, "return": 3.0, "length": 1, "agents": dict.fromkeys(AGENTS, 1.0)}) + "\n"
        )
    card = named(page, CurveCard, "train-first-chart")
    choice = named(card, PickerButton, "train-first-chart-series")
    title = named(card, QLabel, "train-first-chart-title")
    qtbot.waitUntil(lambda: "agents/agent_2" in {i.value for i in choice.items}, timeout=PATIENCE_MS)
    assert title.accessibleName().startswith("Return of all agents together over steps")
    choice.set_value("agents/agent_2")
    choice.chosen.emit("agents/agent_2")
    assert title.accessibleName().startswith("Return of agent_2 over steps")
    qtbot.waitUntil(lambda: run_id in card.plot.curves and not page.findChildren(CurveBoard)[0].drawing)
    assert card.plot.curves[run_id].count == 2


# -- the library ---------------------------------------------------------------------------


@pytest.fixture
def library(trainer: Store, window: MainWindow, qtbot: QtBot, joint_policy: Path) -> PoliciesView:
    shutil.copytree(joint_policy, trainer.data / "policies" / "spread")
    window.context.go("train", policies=True)
    policies = named(named(window, TrainPage, "page-train"), PoliciesView, "train-policies-view")
    qtbot.waitUntil(lambda: policies.model.total > 1, timeout=PATIENCE_MS)
    return policies


def select(library: PoliciesView, name: str) -> PolicyPanel:
    path = next(row.path for row in library.model.rows if row.entry.name == name)
    named(library, RowsTable, "train-policies").select(path)
    return named(library.window(), PolicyPanel, "train-policy-panel")


def sent_to(window: MainWindow, menu: QMenu, place: str, qtbot: QtBot) -> OperatorConfig:
    """What a place of the menu is opened with."""
    action = next(each for each in menu.actions() if each.data() == place)
    with qtbot.waitSignal(window.context.requested, timeout=PATIENCE_MS) as told:
        action.trigger()
    assert told.args is not None and told.args[0] == place
    return told.args[1]["operator"]


@pytest.mark.full
def test_a_joint_policy_opens_into_its_agents(
    library: PoliciesView, window: MainWindow, qtbot: QtBot
) -> None:
    panel = select(library, "spread")
    parts = named(panel, PolicyAgents, "train-policy-parts")
    table = named(parts, RowsTable, "train-policy-agents-table")
    assert parts.isVisible()
    shown = [[table.rows.index(row, column).data() for column in range(3)] for row in range(3)]
    assert shown == [[agent, "Box(18)", "Discrete(5)"] for agent in AGENTS]
    assert named(panel, QLabel, "train-policy-networks").text() == "all 3 share one"
    assert not named(panel, QLabel, "train-policy-observes").isVisible()

    whole = sent_to(window, named(panel, QMenu, "train-use-menu"), "agents", qtbot)
    assert set(whole.workers) == set(AGENTS)
    (group,) = whole.link_groups
    assert group.agents == AGENTS

    window.context.go("train", policies=True)
    table.select("agent_1")
    use = named(parts, QPushButton, "train-policy-use-agent")
    assert use.text() == "Use agent_1 alone"
    alone = sent_to(window, named(parts, QMenu, "train-use-agent-menu"), "agents", qtbot)
    assert alone.workers["agent_1"].checkpoint_agent == "agent_1"
    assert [alone.workers[a].settings.get("behavior") for a in ("agent_0", "agent_2")] == ["random", "random"]
    assert alone.link_groups == ()

    window.context.go("train", policies=True)
    select(library, "ppo_cartpole")
    assert not parts.isVisible() and named(panel, QLabel, "train-policy-observes").isVisible()
    assert not named(panel, QLabel, "train-policy-networks").isVisible()
