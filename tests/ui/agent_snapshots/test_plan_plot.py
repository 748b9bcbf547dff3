"""The course of a plan beside its agent: drawn where one was told, away where none was."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QPushButton

from gym_gui.analysis.transcripts.plan_values import planned_of
from gym_gui.analysis.transcripts.turn import turn_of
from gym_gui.core.live import AgentView, LiveView
from gym_gui.ui.agent_snapshots import AgentSnapshot, AgentSnapshotView
from gym_gui.ui.agent_snapshots.agent_snapshot_view import PlanPlot
from gym_gui.ui.language.turn_view import sections
from gym_gui.ui.plots.line_plots import LinePlot
from tests.support.named import named

COURSE = {
    "steps": [0, 5, 10],
    "earned": {"plan": [0, 4.5, 9.25], "worst plan": [0, -1, -1.5]},
    "beyond": {"plan": 100.0},
    "controls": [[0.1, 0.2, 0.3], [0, 0, -1]],
}


def row(**more: Any) -> dict[str, Any]:
    about = {"agent_id": "agent_0", "episode_index": 0, "step_index": 3, "action_source": "policy"}
    return {**about, "action": [0.123456789, -1.0], "latency_ms": 2.0, **more}


def mind(**more: Any) -> AgentSnapshot:
    view = LiveView(0, 1, 4, (AgentView("agent_0", "agent_0", "x"),))
    return AgentSnapshot("agent_0", view, turn=turn_of(row(**more)))


def test_a_plan_is_drawn_while_there_is_one(qtbot: Any) -> None:
    view = AgentSnapshotView()
    qtbot.addWidget(view)
    view.resize(900, 300)
    view.show()
    view.show_snapshot(mind(scores={"best plan": 1.0}))
    assert view.findChild(PlanPlot) is None, "it is made for the first that plans"
    view.show_snapshot(mind(planned=COURSE))
    plan = named(view, PlanPlot, "plan-plot")
    earned, controls = named(plan, LinePlot, "plan-earned"), named(plan, LinePlot, "plan-controls")
    assert plan.isVisible() and earned.isVisible() and not controls.isVisible()
    assert earned.values("plan") == [(0, 0), (5, 4.5), (10, 9.25)]
    qtbot.mouseClick(named(plan, QPushButton, "plan-what-controls"), Qt.MouseButton.LeftButton)
    assert controls.isVisible() and controls.values("control 2")[-1] == (10, -1)
    view.show_snapshot(mind(scores={"best plan": 1.0}))
    assert not plan.isVisible()


def test_it_is_told_in_words_too() -> None:
    told = {heading: words for heading, words, _ in sections(turn_of(row(planned=COURSE)))}
    assert told["Expected reward of the plan"].splitlines() == [
        "plan: 9.25 in 10 steps, and 100.0 afterwards",
        "worst plan: \N{MINUS SIGN}1.50 in 10 steps",
    ]
    assert told["Played"] == "[0.1235, \N{MINUS SIGN}1]"


@pytest.mark.parametrize(
    "given",
    [
        None,
        "no",
        {"steps": [0]},
        {"steps": [0, "x"]},
        {"steps": [0, 1], "earned": {"plan": [1]}},
        {"earned": {}},
    ],
)
def test_what_cannot_be_drawn_is_none(given: Any) -> None:
    assert planned_of(given) is None
