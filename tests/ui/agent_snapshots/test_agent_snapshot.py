"""What one agent sees and thinks stands beside the whole, while it plays and in the replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.ui.agent_snapshots import AgentSnapshotView
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.replays.replay_view import ReplayView
from tests.support.named import named
from tests.support.no_processes import local_session, replays_here
from tests.ui.conftest import PATIENCE_MS

__all__ = ["replays_here"]

Finish = Callable[[object], object]
TEAMS = "MosaicMultiGrid-S-2v2-IndAgObs-v1"


def rule(behavior: str, **more: Any) -> WorkerAssignment:
    return WorkerAssignment("operators_worker", "baseline", {"behavior": behavior}, **more)


@pytest.fixture
def manual(
    context: AppContext, qtbot: QtBot, finish: Callable[[object], object]
) -> Iterator[ManualOperators]:
    deck = OperatorDeck(context, seed=3, open_session=local_session)
    catalog = CatalogCache(context.store)
    result = ManualOperators(context, deck, catalog)
    result.resize(960, 900)
    result.show()
    qtbot.waitExposed(result)
    result.deck = deck  # type: ignore[attr-defined]
    yield result
    result.release()
    finish(catalog.close())
    finish(deck.close())
    result.close()
    result.deleteLater()
    deck.deleteLater()


def told(manual: ManualOperators | ReplayView) -> str:
    return named(manual, AgentSnapshotView, "mind").text.toPlainText()


def step(manual: ManualOperators, operator: LiveOperator, qtbot: QtBot, steps: int) -> None:
    """As many environment steps."""
    for _ in range(steps):
        qtbot.waitUntil(lambda: not operator.player.stepping, timeout=PATIENCE_MS)
        before = operator.player.last_view
        operator.player.step()
        qtbot.waitUntil(lambda seen=before: operator.player.last_view is not seen, timeout=PATIENCE_MS)


def replayed(
    context: AppContext, run: Path, operator_id: str, position: int, agent: str, qtbot: QtBot, finish: Finish
) -> str:
    """What is told of an agent at a position of the run's first episode."""
    view = ReplayView(context)
    for picker in view.pickers.buttons:
        picker.setParent(view)
    view.resize(1200, 740)
    view.show()
    try:
        view.show_episode(run, operator_id, 0)
        qtbot.waitUntil(lambda: bool(view.players) and view.players[0].at_end, timeout=PATIENCE_MS)
        named(view.aside, QPushButton, "replay-aside-mind").click()
        named(view, AgentSnapshotView, "mind").choose(agent)
        view.transport.go(position)
        qtbot.waitUntil(lambda: "being replayed…" not in told(view) and bool(told(view)), timeout=PATIENCE_MS)
        assert named(view, AgentSnapshotView, "mind").picture.image() is not None
        return told(view)
    finally:
        finish(view.close_players())
        view.close()
        view.deleteLater()


def finished(manual: ManualOperators, operator: LiveOperator, qtbot: QtBot, finish: Finish) -> Path:
    """Its first episode is over and on record; returns the run."""
    manual.deck.play.set_pace(None, lock_step=False)  # type: ignore[attr-defined]
    manual.deck.play.run()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: operator.player.tally.episodes >= 1, timeout=PATIENCE_MS)
    recording = operator.player.recording
    finish(manual.deck.close())  # type: ignore[attr-defined]
    assert recording is not None and recording.folder is not None
    return recording.folder


@pytest.mark.usefixtures("replays_here")
def test_goal_and_pursuer_and_what_a_policy_gets_after_preprocessing(
    manual: ManualOperators, context: AppContext, qtbot: QtBot, finish: Finish
) -> None:
    config = OperatorConfig(
        "levels",
        "Levels",
        "minigrid",
        "MiniGrid-DoorKey-5x5-v0",
        {"agent_0": rule("minigrid_skills")},
        manager={"agent_0": rule("minigrid_manager")},
        max_steps=12,
    )
    operator = manual.deck.add(config)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: operator.player.last_view is not None, timeout=PATIENCE_MS)
    manual.transcript.toggle_agent()
    mind = named(manual, AgentSnapshotView, "mind")
    qtbot.waitUntil(lambda: mind.picture.image() is not None, timeout=PATIENCE_MS)
    step(manual, operator, qtbot, 2)
    mind.choose("agent_0")
    qtbot.waitUntil(lambda: "GOAL\n" in told(manual) and "since step" in told(manual), timeout=PATIENCE_MS)
    assert "set by agent_0/goal" in told(manual) and "LAST ACTION\n" in told(manual)
    mind.choose("agent_0/goal")
    qtbot.waitUntil(lambda: "GOAL FOR AGENT_0\n" in told(manual), timeout=PATIENCE_MS)
    run = finished(manual, operator, qtbot, finish)
    again = replayed(context, run, "levels", 4, "agent_0", qtbot, finish)
    assert "set by agent_0/goal" in again and "Your task now: " in again


@pytest.mark.usefixtures("replays_here")
def test_of_a_team_each_has_its_own_view(
    manual: ManualOperators, context: AppContext, qtbot: QtBot, finish: Finish
) -> None:
    who = rule("soccer_chaser")
    slots = dict.fromkeys(("green_0", "green_1", "blue_0"), who)
    slots["blue_1"] = rule("cycle", preprocess=[{"step": "select", "key": "image"}, "flatten"])
    operator = manual.deck.add(  # type: ignore[attr-defined]
        OperatorConfig("team", "Team", "", TEAMS, slots, max_steps=5)
    )
    qtbot.waitUntil(lambda: operator.player.last_view is not None, timeout=PATIENCE_MS)
    overlay = manual.card(operator).stage.overlay
    qtbot.waitUntil(lambda: len(overlay.chip_boxes()) > 2, timeout=PATIENCE_MS)
    chips = dict(zip(overlay.chip_texts(), overlay.chip_boxes(), strict=True))
    names = [name for name in chips if ":" not in name]
    qtbot.mouseClick(overlay, Qt.MouseButton.LeftButton, pos=chips[names[1]].center())
    mind = named(manual, AgentSnapshotView, "mind")
    assert mind.isVisible() and mind.agent == operator.player.last_view.agents[1].agent
    qtbot.waitUntil(lambda: "OBSERVES AT STEP 0" in told(manual), timeout=PATIENCE_MS)
    first, picture = told(manual), mind.picture.image()
    last = operator.player.last_view.agents[3].agent
    mind.choose(last)
    qtbot.waitUntil(lambda: "PREPROCESSING\nselect image, flatten" in told(manual), timeout=PATIENCE_MS)
    assert told(manual) != first and picture is not None and mind.picture.image() != picture
    assert "OBSERVATION AFTER PREPROCESSING\n" in told(manual)
    run = finished(manual, operator, qtbot, finish)
    again = replayed(context, run, "team", 0, last, qtbot, finish)
    assert "PREPROCESSING\nselect image, flatten" in again and "OBSERVES AT STEP 0" in again


def test_a_person_is_not_shown_what_the_game_hides_from_them(manual: ManualOperators, qtbot: QtBot) -> None:
    who = rule("soccer_chaser")
    person = WorkerAssignment("human_worker", "human", {})
    slots = {"green_0": person, "green_1": who, "blue_0": who, "blue_1": who}
    operator = manual.deck.add(  # type: ignore[attr-defined]
        OperatorConfig("team", "Team", "", TEAMS, slots, max_steps=5)
    )
    qtbot.waitUntil(lambda: operator.player.last_view is not None, timeout=PATIENCE_MS)
    manual.deck.play.step_all()  # type: ignore[attr-defined]
    manual.show_mind()
    qtbot.waitUntil(lambda: "OBSERVES AT STEP 0" in told(manual), timeout=PATIENCE_MS)
    named(manual, AgentSnapshotView, "mind").choose(operator.player.last_view.agents[2].agent)
    qtbot.waitUntil(lambda: "hidden from you while you play" in told(manual), timeout=PATIENCE_MS)
