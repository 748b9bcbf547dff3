"""A card says who decides, where it stands, what it sees and how it has done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QPushButton

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.engine.session_events import SessionEnded
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.live import AgentView, LiveView
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.card_strips import FactsStrip
from gym_gui.ui.operators.render_container import (
    NARROW,
    OperatorRenderContainer,
    everybody,
    leading_kind,
)
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.renderers.overlay import Overlay
from gym_gui.ui.widgets.badges import KindBadge, StatusDot
from gym_gui.ui.widgets.sparkline import Sparkline
from tests.support.cut_words import cut_words
from tests.support.named import named

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
    assert (
        named(card, QLabel, "operator-card-name").text() == "random"
        and named(card, KindBadge, "kind-badge").kind == "baseline"
    )
    status = named(card, StatusDot, "operator-status")
    assert status.text == "Starting…"
    qtbot.waitUntil(lambda: named(card, FrameView, "frameView").image() is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: status.text == "Ready", timeout=WAIT)
    facts = named(card, FactsStrip, "operator-facts")
    assert facts.facts == {"Episode": "1", "Step": "0", "Return": "0.00", "Action": "—"}
    deck.play.step_all()
    qtbot.waitUntil(lambda: facts.facts["Step"] == "1", timeout=WAIT)
    assert facts.facts["Return"] == "1.00" and facts.facts["Action"] != "—"
    assert status.text == "Paused"


def test_past_returns_become_a_line(card: OperatorRenderContainer, deck: OperatorDeck, qtbot: Any):
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    sparkline = named(card, Sparkline, "sparkline")
    qtbot.waitUntil(lambda: len(sparkline.values) >= 3, timeout=WAIT)
    assert set(sparkline.values) == {4.0}


def test_trouble_has_a_sentence_and_a_way_out(card: OperatorRenderContainer, qtbot: Any):
    operator = card.operator
    qtbot.waitUntil(lambda: operator.player.alive, timeout=WAIT)
    operator.player.on_event(SessionEnded("was killed (signal 9, SIGKILL)"))
    trouble = named(card, QLabel, "operator-trouble")
    assert trouble.isVisible() and trouble.text() == "Session ended: killed (signal 9)"
    assert named(card, StatusDot, "operator-status").text == "Stopped" and "killed" in card.accessibleName()
    with qtbot.waitSignal(card.restart_requested) as asked:
        qtbot.mouseClick(named(card, QPushButton, "operator-restart"), Qt.MouseButton.LeftButton)
    assert asked.args == ["random"]
    operator.player.restart()
    assert not trouble.isVisible()
    qtbot.waitUntil(lambda: operator.player.state is OperatorState.READY, timeout=WAIT)


def test_a_narrow_card_keeps_its_words(card: OperatorRenderContainer, qtbot: Any):
    qtbot.waitUntil(lambda: card.operator.player.alive, timeout=WAIT)
    for width in (NARROW - 80, 430, NARROW - 80):
        card.resize(width, 340)
        qtbot.wait(1)
        status = named(card, StatusDot, "operator-status")
        words = named(status, QLabel, "status-words")
        assert words.width() >= words.sizeHint().width()
        badge = named(card, KindBadge, "kind-badge")
        assert badge.isVisible() and card.rect().contains(badge.geometry())
        assert card.rect().contains(status.geometry())


def test_a_very_narrow_card_cuts_no_word(card: OperatorRenderContainer, qtbot: Any):
    qtbot.waitUntil(lambda: card.operator.player.alive, timeout=WAIT)
    card.resize(140, 160)
    qtbot.wait(1)
    assert cut_words(card) == []
    badge = named(card, KindBadge, "kind-badge")
    assert badge.width() >= badge.sizeHint().width()


def test_a_figure_stays_where_it_is_whatever_an_action_is_called(
    card: OperatorRenderContainer, deck: OperatorDeck, qtbot: Any
):
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    sparkline = named(card, Sparkline, "sparkline")
    qtbot.waitUntil(lambda: len(sparkline.values) >= 2, timeout=WAIT)
    deck.stop_all()
    qtbot.waitUntil(lambda: not card.operator.player.alive, timeout=WAIT)
    card.resize(300, 340)
    facts = named(card, FactsStrip, "operator-facts")
    for action in ("left", "forward", "up"):
        agent = AgentView("agent_0", "agent_0", action, 0, "policy", 0.0, 0.0)
        card.operator.viewed.emit(LiveView(2, 7, 3, (agent,)))
        assert facts.facts["Action"] == action and sparkline.isVisible()
        # The line of returns leaves them their room.
        qtbot.waitUntil(lambda: facts.needed <= facts.width() < card.width() - sparkline.width())
    widest = facts.needed
    facts.set_facts(("Step", "7"), ("Action", "up"))
    assert facts.needed < widest


def test_several_agents_have_a_chip_each(context: AppContext, deck: OperatorDeck, qtbot: Any):
    players = {"player_1": baseline().workers["agent_0"], "player_2": person().workers["agent_0"]}
    operator = deck.add(OperatorConfig("ttt", "", "", "classic/tictactoe_v3", players), start=False)
    card = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(card)
    card.resize(430, 340)
    card.show()
    overlay = named(card, Overlay, "overlay")
    assert not overlay.isHidden() and named(card, KindBadge, "kind-badge").kind == "human"
    agents = (
        AgentView("player_1", "player_1", "4", 4, "policy", 0.0, 0.0, 0.25),
        AgentView("player_2", "player_2"),
    )
    operator.player.on_event(LiveView(2, 7, 1, agents, ("player_2",)))
    texts = " | ".join(overlay.chip_texts())
    assert "player_1" in texts and "0.25" in texts and "player_2" in texts
    assert named(card, FactsStrip, "operator-facts").facts["Episode"] == "3"


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


def test_a_host_is_named_where_the_operators_own_name_leaves_room(
    deck: OperatorDeck, context: AppContext, qtbot: Any
):
    operator = deck.add(baseline("there", host="me@two.example.org"), start=False)
    card = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(card)
    card.show()
    name, place = named(card, QLabel, "operator-card-name"), named(card, QLabel, "operator-place")
    for width in (400, 302, 250):
        card.resize(width, 320)
        qtbot.waitUntil(lambda: name.width() >= name.sizeHint().width() and place.isVisible())
        assert place.text() == "on me@two.example.org" and place.width() > 20
    assert "on me@two.example.org" in card.accessibleName()
