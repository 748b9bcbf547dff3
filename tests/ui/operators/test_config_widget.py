"""The inspector edits one operator and hands out configurations that are whole and right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PyQt6.QtCore import Qt

from gym_gui.core.config import OperatorConfig
from gym_gui.ui.config_panels.multi_agent import MultiAgentPanel
from gym_gui.ui.config_panels.single_agent import SingleAgentPanel
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.deck import OperatorDeck
from gym_gui.ui.operators.config_widget import OperatorConfigWidget, record_words
from gym_gui.ui.operators.knowledge import Knowledge

from .conftest import WAIT, baseline, person


@pytest.fixture
def config(context: AppContext, finish: Any, qtbot: Any) -> Iterator[OperatorConfigWidget]:
    knowledge = Knowledge(context.store)
    result = OperatorConfigWidget(context, knowledge)
    qtbot.addWidget(result)
    result.resize(268, 700)
    result.show()
    yield result
    result.forget()
    finish(knowledge.close())


def shown(config: OperatorConfigWidget, deck: OperatorDeck, what: OperatorConfig, qtbot: Any) -> Any:
    operator = deck.add(what, start=False)
    config.show_operator(operator, 1, 1)
    qtbot.waitUntil(lambda: config.panel is not None, timeout=WAIT)
    return config.panel


def test_one_agent_has_a_choice_of_who_decides(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    panel = shown(config, deck, baseline(), qtbot)
    assert isinstance(panel, SingleAgentPanel)
    assert config.name.text() == "random" and config.environment.text() == "CartPole-v1"
    by_value = {str(item.value): item for item in panel.picker.items}
    assert panel.picker.value == "random" and not by_value["noop"].reason
    assert by_value["soccer_chaser"].reason  # shown, not to be chosen, and why
    assert any(item.group == "Human" for item in panel.picker.items)
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        panel.picker.chosen.emit("noop")
    assert changed.args[0].workers["agent_0"].settings["behavior"] == "noop"
    assert changed.args[0].operator_id == "random"


def test_what_is_not_whole_is_said_and_not_handed_out(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    panel = shown(config, deck, baseline(), qtbot)
    asking = next(item for item in panel.picker.items if "from a file" in item.label)
    with qtbot.assertNotEmitted(config.changed, wait=600):
        panel.picker.chosen.emit(asking.value)
    sentences = " ".join(note.accessibleName() for note in config._notes)
    assert "missing" in sentences or "choose" in sentences.lower()


def test_a_human_has_a_time_limit_and_a_rule(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    panel = shown(config, deck, person(), qtbot)
    form = panel.form
    assert form.limit.text() == "none"
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        form.limit.setValue(0.5)
        form.rule.setCurrentIndex(form.rule.findData("noop"))
        form.rule.activated.emit(form.rule.currentIndex())
    player = changed.args[0].workers["agent_0"]
    assert player.deadline_s == 0.5 and player.on_invalid.then == "noop"


def test_several_agents_have_a_row_each(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    players = dict.fromkeys(("player_1", "player_2"), baseline().workers["agent_0"])
    panel = shown(config, deck, OperatorConfig("ttt", "", "", "classic/tictactoe_v3", players), qtbot)
    assert isinstance(panel, MultiAgentPanel) and list(panel.pickers) == ["player_1", "player_2"]
    panel.open_settings("player_2")
    assert panel.form is not None
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        panel.pickers["player_2"].chosen.emit("tictactoe_one_ply")
    assert changed.args[0].workers["player_1"].settings["behavior"] == "random"
    assert changed.args[0].workers["player_2"].settings["behavior"] == "tictactoe_one_ply"


def test_another_environment_keeps_who_can_stay(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    shown(config, deck, baseline(), qtbot)
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        config.environment.chosen.emit("FrozenLake-v1")
    assert changed.args[0].task == "FrozenLake-v1"
    assert changed.args[0].workers["agent_0"].settings["behavior"] == "random"
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        config.environment.chosen.emit("classic/tictactoe_v3")
    assert set(changed.args[0].workers) == {"player_1", "player_2"}
    assert isinstance(config.panel, MultiAgentPanel)


def test_an_environment_that_is_not_there_is_said(
    config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any
):
    operator = deck.add(baseline(task="CartPoll-v1"), start=False)
    config.show_operator(operator, 1, 1)
    qtbot.waitUntil(lambda: any("CartPole" in n.accessibleName() for n in config._notes), timeout=WAIT)
    assert config.panel is None


def test_name_and_limit_are_edited(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    shown(config, deck, baseline(), qtbot)
    config.name.selectAll()
    qtbot.keyClicks(config.name, "Chance")
    with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
        qtbot.keyClick(config.name, Qt.Key.Key_Return)
        config.limit.setValue(25)
    assert changed.args[0].display_name == "Chance" and changed.args[0].max_steps == 25


def test_everything_fits_the_inspector(config: OperatorConfigWidget, deck: OperatorDeck, qtbot: Any):
    for what in (baseline(), person("MiniGrid-Empty-5x5-v0")):
        operator = deck.add(what, start=False)
        config.show_operator(operator, 1, 2)
        qtbot.waitUntil(lambda: config.panel is not None and config._sheet is not None, timeout=WAIT)
        assert config.minimumSizeHint().width() <= 268


def test_the_record_says_what_was_played(deck: OperatorDeck):
    operator = deck.add(baseline(), start=False)
    assert record_words(operator) == "No episode has ended yet."
    operator.episodes_done = [
        {"total_reward": 2.0, "length": 10, "invalid_actions": {"agent_0": 1}},
        {"total_reward": 4.0, "length": 20, "invalid_actions": {}},
    ]
    assert record_words(operator) == "Episodes 2 · mean return 3.00 · unusable replies 1 · mean length 15"
