"""The prompt puts messages of programs into words; messages of other team-mates stay as they are."""

from __future__ import annotations

import pytest

from mosaic_llm_worker.preview import preview
from mosaic_llm_worker.teammates import in_words


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("green_1: .send(green_0, tell, ball(2, 3))", ["green_1 tells green_0: ball(2, 3)"]),
        ("green_1: .broadcast(tell, free(left))", ["green_1 tells the team: free(left)"]),
        ("green_1: .broadcast(achieve, defend)", ["green_1 asks the team to bring this about: defend"]),
        (
            'green_1: .send(green_0, untell, at("a b", 1))\n.send(green_0, unachieve, go)',
            [
                'green_1 tells green_0 that this holds no longer: at("a b", 1)',
                "green_1 asks green_0 to give this up: go",
            ],
        ),
        ("green_1: I go left,\n you  go right", ["green_1: I go left, you go right"]),
        ("green_1: I .send(green_0, tell, x) you", ["green_1: I .send(green_0, tell, x) you"]),
        ("no name", ["no name"]),
    ],
)
def test_a_message_is_told_in_words(message: str, told: list[str]) -> None:
    assert list(in_words(message)) == told


def test_a_model_reads_no_internal_actions() -> None:
    slot = {
        "agent": "green_0", "env": "X", "action_meanings": ["left", "right"], "briefing": "",
        "action_space": {"kind": "Discrete", "dtype": "int64", "n": 2, "start": 0}, "teammates": ["green_1"],
    }  # fmt: skip
    heard = "green_1: .send(green_0, tell, ball(2, 3))"
    shown = preview(
        {"settings": {"model_id": "m"}, "slot": slot, "decision": {"text": "T", "messages": [heard]}}
    )
    last = shown["messages"][-1]["content"]
    assert ".send" not in last and "green_1 tells green_0: ball(2, 3)" in last
