"""What BALROG's agents name is taken word for word, and what they are told is checked before they play."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from balrog_worker.naming import named, refuse_unsayable
from balrog_worker.settings import BalrogSettings
from mosaic_llm_worker.server_settings import errors_sentence
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Decision, Invalid, LoadError, Slot

BABYAI = ("turn left", "turn right", "go forward", "pick up", "drop", "toggle")
SEEN = Space("Box", np.dtype(np.float32), shape=(1,), low=0.0, high=1.0)


def slot(words: tuple[str, ...], kind: str = "Discrete") -> Slot:
    space = (
        Space("Discrete", np.dtype(np.int64), n=max(1, len(words)))
        if kind == "Discrete"
        else Space("Text", charset="abc ", min_length=1, max_length=9)
    )
    return Slot(0, "agent_0", "Any-v0", SEEN, space, action_meanings=words)


def decision(mask: list[bool] | None = None) -> Decision:
    return Decision(1, 0, 0, 7, None, None if mask is None else np.array(mask), 0, "")


@pytest.mark.parametrize(("reply", "action"), [("turn left", 0), ("toggle", 5), ("go forward", 2)])
def test_a_word_is_its_action(reply: str, action: int) -> None:
    assert named(slot(BABYAI), decision(), reply, reply) == action


@pytest.mark.parametrize("reply", ["Turn left", "turn left ", "I turn left", "", None, "8"])
def test_anything_else_is_none_as_in_its_evaluator(reply: str | None) -> None:
    answer = named(slot(BABYAI), decision(), reply, "the whole reply")
    assert isinstance(answer, Invalid)
    assert answer.cause == "unreadable" and answer.raw == "the whole reply"
    assert answer.reason.endswith(" is none of the actions")


def test_an_action_that_is_not_legal_is_told_as_such() -> None:
    answer = named(slot(BABYAI), decision([True, False, True, True, True, True]), "turn right", "turn right")
    assert answer == Invalid("turn right is not legal now", "turn right", "illegal")


def test_where_any_command_may_be_written_the_reply_is_the_action() -> None:
    assert named(slot((), "Text"), decision(), "abc", "abc") == "abc"
    assert isinstance(named(slot((), "Text"), decision(), "", ""), Invalid)


@pytest.mark.parametrize("agent", ["naive", "cot"])
def test_who_reads_only_letters_does_not_play_what_has_none(
    agent: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings = BalrogSettings(agent=agent)
    with pytest.raises(LoadError, match=r"cannot name move_1 .* choose robust_naive or robust_cot$"):
        refuse_unsayable(slot(("move_1", "move_2")), settings)
    refuse_unsayable(slot(("move_1", "stay")), settings)
    assert "cannot name move_1" in caplog.text
    refuse_unsayable(slot(("move_1", "move_2")), BalrogSettings(agent="robust_naive"))


def test_actions_without_words_are_refused() -> None:
    box = Slot(0, "agent_0", "Any-v0", SEEN, SEEN)
    with pytest.raises(LoadError, match="name an action in words, but Box has no words"):
        refuse_unsayable(box, BalrogSettings())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"agent": "few_shot"}, r"few_shot needs demonstrated episodes: set demonstrations"),
        ({"demonstrations": {"run": "runs/a"}}, "demonstrations are only for the agent few_shot"),
        ({"agent": "self_refine"}, r"^agent: Input should be 'naive', 'cot'"),
        ({"api_key": "sk-123"}, "must be a reference"),
        ({"max_text_history": 0}, "max_text_history: Input should be greater than or equal to 1"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_a_sentence(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        BalrogSettings.model_validate(given)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(errors_sentence(refused.value))
