"""Recorded replies read anew: what the module is asked, and what it answers."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from gym_gui.core.spaces import space_to_spec
from mosaic_llm_worker.reread import reread
from vlm_worker.reread import reread as reread_pictures


def asked(space: gymnasium.Space[Any], *attempts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A question about one decision."""
    words = ["left", "right"] if isinstance(space, gymnasium.spaces.Discrete) else []
    slot = {"agent": "agent", "env": "any", "action_meanings": words, "action_space": space_to_spec(space)}
    return {"settings": {}, "slot": slot, "decisions": [{"attempts": list(attempts), **more}]}


def reading(question: dict[str, Any]) -> dict[str, Any]:
    """The one answer."""
    (only,) = reread(question)["readings"]
    return only


TWO = gymnasium.spaces.Discrete(2)


def call(reply: str, turn: int = 0, **more: Any) -> dict[str, Any]:
    """A recorded call."""
    return {"turn": turn, "reply": reply, **more}


def test_the_first_attempt_that_can_be_read_counts() -> None:
    found = reading(asked(TWO, [call("no idea")], [call("Action: right")], [call("Action: left")]))
    assert (found["attempt"], found["action"], found["reply"]) == (1, 1, "Action: right")
    assert "names no action" in reading(asked(TWO, [call("no idea")]))["problem"]


def test_of_samples_most_votes_count_and_notes_are_no_answer() -> None:
    notes = call("Action: left", turn=1)
    replies = [call("Action: left"), notes, call("Action: right", 2), call("Action: right", 3)]
    assert reading(asked(TWO, replies))["action"] == 1
    assert reading(asked(TWO, [call("", error="no answer"), notes]))["problem"] == "no answer"


def test_legal_actions_and_their_words_are_those_of_the_moment() -> None:
    assert "not legal" in reading(asked(TWO, [call("Action: right")], mask=[True, False]))["problem"]
    words = [[0, "e2e4"], [1, "d2d4"]]
    assert reading(asked(TWO, [call("<action>d2d4</action>")], choices=words))["action"] == 1


def test_numbers_keep_all_their_digits() -> None:
    box = gymnasium.spaces.Box(-1, 1, (2,), np.float64)
    assert reading(asked(box, [call("[0.123456789, -1]")]))["action"] == [0.123456789, -1.0]


def test_what_was_shown_as_a_picture_alone_was_not_told_in_words() -> None:
    start = "FEN: rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    question = asked(TWO, [call("<action>Nf3</action>")], text=start, choices=[[0, "g1f3"], [1, "d2d4"]])
    assert reread_pictures(question)["readings"][0]["action"] == 0
    alone = reread_pictures({**question, "settings": {"with_text": False}})
    assert "problem" in alone["readings"][0]


def test_a_question_that_is_none_is_a_sentence() -> None:
    assert "not complete" in reread({"decisions": []})["error"]
