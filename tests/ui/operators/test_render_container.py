"""A card says who decides, where it stands, what it sees and how it has done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PyQt6.QtCore import Qt

from gym_gui.controllers.live_play.state import OperatorState
from gym_gui.controllers.session_events import SessionEnded
from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.config import OperatorConfig
from gym_gui.core.live import AgentView, LiveView
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.deck import OperatorDeck
from gym_gui.ui.operators.render_container import (
    NARROW,
    OperatorRenderContainer,
    everybody,
    leading_kind,
)
from tests.support.cut_words import cut_words

from .conftest import WAIT, baseline, person


@pytest.fixture
def card(context: AppContext, deck: OperatorDeck, qtbot: Any) -> Iterator[OperatorRenderContainer]:
    operator = deck.add(baseline(max_steps=4))
    result = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(result)
    result.resize(430, 340)
    result.show()
    yield result


def test_shows_name_badge_state_frame_and_facts(
    card: OperatorRenderContainer, deck: OperatorDeck, qtbot: Any
):
    assert card.name.text() == "random" and card.badge.kind == "baseline"
    assert card.status.text == "Starting…"
    qtbot.waitUntil(lambda: card.stage.frame.image() is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: card.status.text == "Ready", timeout=WAIT)
    assert card.facts.facts == {"Episode": "1", "Step": "0", "Return": "0.00", "Action": "—"}
    deck.step_all()
    qtbot.waitUntil(lambda: card.facts.facts["Step"] == "1", timeout=WAIT)
    assert card.facts.facts["Return"] == "1.00" and card.facts.facts["Action"] != "—"
    assert card.status.text == "Paused"


def test_past_returns_become_a_line(card: OperatorRenderContainer, deck: OperatorDeck, qtbot: Any):
    deck.set_pace(None, lock_step=False)
    deck.run()
    qtbot.waitUntil(lambda: len(card.sparkline.values) >= 3, timeout=WAIT)
    assert set(card.sparkline.values) == {4.0}


def test_trouble_has_a_sentence_and_a_way_out(card: OperatorRenderContainer, qtbot: Any):
    operator = card.operator
    qtbot.waitUntil(lambda: operator.player.alive, timeout=WAIT)
    operator.player.on_event(SessionEnded("was killed (signal 9, SIGKILL)"))
    assert card.trouble.isVisible() and card.trouble.text() == "Session ended: killed (signal 9)"
    assert card.status.text == "Stopped" and "killed" in card.accessibleName()
    with qtbot.waitSignal(card.restart_requested) as asked:
        qtbot.mouseClick(card.restart, Qt.MouseButton.LeftButton)
    assert asked.args == ["random"]
    operator.player.restart()
    assert not card.trouble.isVisible()
    qtbot.waitUntil(lambda: operator.player.state is OperatorState.READY, timeout=WAIT)


def test_a_narrow_card_keeps_its_words(card: OperatorRenderContainer, qtbot: Any):
    qtbot.waitUntil(lambda: card.operator.player.alive, timeout=WAIT)
    for width in (NARROW - 80, 430, NARROW - 80):
        card.resize(width, 340)
        qtbot.wait(1)
        assert card.status.label.width() >= card.status.label.sizeHint().width()
        assert card.badge.isVisible() and card.rect().contains(card.badge.geometry())
        assert card.rect().contains(card.status.geometry())


def test_a_very_narrow_card_cuts_no_word(card: OperatorRenderContainer, qtbot: Any):
    qtbot.waitUntil(lambda: card.operator.player.alive, timeout=WAIT)
    card.resize(140, 160)
    qtbot.wait(1)
    assert cut_words(card) == []
    assert card.badge.width() >= card.badge.sizeHint().width()


def test_several_agents_have_a_chip_each(context: AppContext, deck: OperatorDeck, qtbot: Any):
    players = {"player_1": baseline().workers["agent_0"], "player_2": person().workers["agent_0"]}
    operator = deck.add(OperatorConfig("ttt", "", "", "classic/tictactoe_v3", players), start=False)
    card = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(card)
    card.resize(430, 340)
    card.show()
    assert not card.stage.overlay.isHidden() and card.badge.kind == "human"
    agents = (
        AgentView("player_1", "player_1", "4", 4, "policy", 0.0, 0.0, 0.25),
        AgentView("player_2", "player_2"),
    )
    operator.player.on_event(LiveView(2, 7, 1, agents, ("player_2",)))
    texts = " | ".join(card.stage.overlay.chip_texts())
    assert "player_1" in texts and "0.25" in texts and "player_2" in texts
    assert card.facts.facts["Episode"] == "3"


def test_the_badge_says_whose_card_it_is_and_names_all_where_several_kinds_decide():
    assert leading_kind(person()) == "human"
    assert leading_kind(baseline()) == "baseline"
    slots = {**baseline().workers, "blue_0": person().workers["agent_0"]}
    assert leading_kind(OperatorConfig("both", "", "", "soccer", slots)) == "human", "beside a rule"
    slots["blue_1"] = WorkerAssignment("cleanrl_worker", "rl")
    six = OperatorConfig("six", "", "", "soccer", slots)
    assert leading_kind(six) == "mixed"
    assert everybody(six).splitlines() == ["agent_0: Baseline", "blue_0: Human", "blue_1: RL"]
    assert everybody(person()) == ""
