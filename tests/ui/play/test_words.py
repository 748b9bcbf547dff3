"""What is said below the frame, and of the end."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtWidgets import QLineEdit, QWidget

from gym_gui.controllers.engine.operator_state import OperatorState as State
from gym_gui.ui.environments.environment_picker import catalog
from gym_gui.ui.play.caption import Prompt, prompt_for
from gym_gui.ui.play.result_banner import outcome_words, result_facts
from gym_gui.ui.widgets.picker_list import PickerItem, PickerPopup
from tests.support.named import named

LINE: dict[str, Any] = {
    "status": "completed",
    "length": 31,
    "total_reward": 1.0,
    "seed": 7,
    "outcome": None,
    "success": None,
    "teams": {"agent": {"agents": ["agent_0"], "score": None}},
    "terminated": True,
    "truncated": False,
}


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (Prompt(State.STARTING), "Starting…"),
        (Prompt(State.READY, waits_for_key=True, inputs="arrow keys"), "Press the arrow keys to begin"),
        (Prompt(State.READY, waits_for_key=True, listening=False), "Click the picture, then"),
        (Prompt(State.READY, waits_for_key=True, people=0), "Starting"),
        (Prompt(State.READY, waits_for_go=True), "Press Start"),
        (Prompt(State.YOUR_MOVE, asked=("agent_0",)), "Your move."),
        (Prompt(State.YOUR_MOVE, asked=("b_0",), agents=2, people=2), "Your move: b_0."),
        (Prompt(State.YOUR_MOVE, asked=("a",), listening=False), "Click the picture to use your keys"),
        (Prompt(State.YOUR_MOVE, asked=("a",), refusal="Up is not possible now."), "Up is not"),
        (Prompt(State.YOUR_MOVE, asked=("a",), typed="41"), "Action 41"),
        (Prompt(State.PAUSED, paused=True), "Paused."),
        (Prompt(State.PAUSED, paused=True, paused_by_focus=True), "gets the keys"),
        (Prompt(State.RUNNING, realtime=True), "Running."),
        (Prompt(State.RUNNING, realtime=True, caught=True), "Esc releases it"),
        (Prompt(State.THINKING, turn=("blue_0",)), "blue_0 is thinking…"),
        (Prompt(State.THINKING, turn=("blue_0", "blue_1")), "Policies are thinking…"),
        (Prompt(State.RUNNING, people=0, watched=True), "Only policies play"),
        (Prompt(State.RUNNING, people=0), "Starting"),
        (Prompt(State.YOUR_MOVE, people=0, asked=("white",)), "Starting"),
        (Prompt(State.BROKEN), ""),
    ],
)
def test_prompts(prompt: Prompt, said: str) -> None:
    told = prompt_for(prompt)
    assert told is not None and said in told[1]


def test_between_moves_nothing_flickers() -> None:
    assert prompt_for(Prompt(State.RUNNING)) is None


TEAMS = {
    "green": {"agents": ["green_0"], "score": 2.0},
    "blue": {"agents": ["blue_0"], "score": 1.0},
}


@pytest.mark.parametrize(
    ("change", "people", "said"),
    [
        ({}, ["agent_0"], "The episode is over."),
        ({"terminated": False, "truncated": True}, ["agent_0"], "it was truncated"),
        ({"success": True}, ["agent_0"], "Solved."),
        ({"success": False}, ["agent_0"], "Not solved"),
        ({"status": "failed", "error": "it broke"}, [], "failed: it broke"),
        ({"teams": TEAMS, "outcome": {"green": "win", "blue": "loss"}}, ["green_0"], "You won, 2 : 1."),
        ({"teams": TEAMS, "outcome": {"green": "win", "blue": "loss"}}, ["blue_0"], "You lost, 2 : 1."),
        ({"teams": TEAMS, "outcome": {"green": "draw", "blue": "draw"}}, ["blue_0"], "A draw"),
        ({"teams": TEAMS, "outcome": {"green": "win", "blue": "loss"}}, [], "Green won"),
        ({"teams": TEAMS, "outcome": {"green": "win", "blue": "loss"}}, ["green_0", "blue_0"], "Green won"),
    ],
)
def test_outcomes(change: dict[str, Any], people: list[str], said: str) -> None:
    assert said in outcome_words({**LINE, **change}, people)[1]


def test_facts_are_honest() -> None:
    assert result_facts(LINE, 0, recorded=True) == "Return 1 · 31 steps · seed 7 · recorded"
    said = result_facts({**LINE, "length": 1}, 4, recorded=False)
    assert "1 step ·" in said and "fallback actions (no key in time): 4" in said and "not recorded" in said


def test_every_environment_is_in_the_list() -> None:
    from gym_gui import envs

    items = catalog()
    offered = {item.value for item in items if not item.reason}
    assert {spec.id for spec in envs.list_specs() if not envs.trouble(spec)} == offered
    reasons = [item.reason for item in items if item.reason]
    assert all("mosaic envs install" in reason for reason in reasons)
    groups = {item.group for item in items}
    assert "MiniGrid and BabyAI" in groups and "PettingZoo" in groups


def found(query: str) -> list[PickerItem]:
    """What the list shows for what is typed."""
    popup = PickerPopup("Search", owner := QWidget())
    popup.set_items(catalog())
    named(owner, QLineEdit, "picker-search").setText(query)
    rows = [popup.model.row(number) for number in range(popup.model.rowCount())]
    return [row for row in rows if isinstance(row, PickerItem)]


@pytest.mark.usefixtures("qtbot")
def test_environments_are_found_by_what_people_call_them() -> None:
    assert all(str(item.value).startswith("MosaicMultiGrid-S-") for item in found("soccer")[:10])
    assert found("noughts and crosses")[0].value == "classic/tictactoe_v3"
    assert found("go")[0].value == "classic/go_v5"


@pytest.mark.usefixtures("qtbot")
def test_a_game_that_two_families_have_is_one_entry_that_says_so() -> None:
    chess = [item for item in found("chess") if item.label in ("Chess", "Chess (PettingZoo)")]
    assert (chess[0].value, chess[0].detail) == ("classic/chess_v6", "chess_v6 · also open_spiel/chess")
    assert all(item.searched_only for item in chess[1:]), "others are to be installed first"
    assert found("open_spiel/chess")[0].value == "open_spiel/chess"
    assert found("openspiel chess")[0].value == "open_spiel/chess"
