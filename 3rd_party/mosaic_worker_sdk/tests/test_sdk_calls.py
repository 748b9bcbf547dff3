"""Calls that a worker of one's own makes are on record, whatever becomes of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from mosaic_worker.calls import recorded_call
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Decision, Slot

DECISION = Decision(9, 3, 5, 7, None, np.array([True, False, True]), 1, "")


class Host:
    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def record_call(self, call: Any) -> None:
        self.calls.append(dict(call))

    def ask_human(self, batch: Any) -> list[Any]:
        raise AssertionError


def test_what_came_back_is_recorded_with_its_place_and_time() -> None:
    host, chat = Host(), [{"role": "user", "content": "go"}]
    with recorded_call(host, "green_0", DECISION, model="m", messages=chat, turn=2) as call:
        chat.append({"role": "assistant", "content": "left"})  # the prompt is as it was sent
        call["reply"], call["tokens"] = "left", {"input": 4, "output": 1}
    (kept,) = host.calls
    assert kept.pop("latency_ms") >= 0
    assert kept == {
        "kind": "chat",
        "ref": "green_0/3/5/1/2",
        "agent": "green_0",
        "episode": 3,
        "step": 5,
        "attempt": 1,
        "turn": 2,
        "model": "m",
        "messages": chat[:1],
        "reply": "left",
        "tokens": {"input": 4, "output": 1},
        "usd": None,
        "error": "",
    }


def test_what_is_no_json_is_recorded_by_its_words_and_as_it_was_sent() -> None:
    host, part = Host(), {"type": "image_url", "image_url": b"picture"}
    chat = [{"role": "user", "content": [part]}]
    with recorded_call(host, "a", DECISION, model="m", messages=chat) as call:
        part["type"] = "text"
        call["reply"], call["usd"], call["tokens"] = {1}, float("nan"), {"input": np.int64(3)}
    (kept,) = host.calls
    json.dumps(kept, allow_nan=False)
    assert kept["messages"] == [
        {"role": "user", "content": [{"type": "image_url", "image_url": "b'picture'"}]}
    ]
    assert (kept["reply"], kept["usd"], kept["tokens"]) == ("{1}", "nan", {"input": "3"})


def test_a_call_that_fails_is_recorded_with_the_reason() -> None:
    host = Host()
    with pytest.raises(OSError), recorded_call(host, "a", DECISION, model="m", messages=[]):
        raise OSError("the server is away")
    assert host.calls[0]["error"] == "the server is away"


def test_a_call_that_nobody_waits_for_is_recorded() -> None:
    host = Host()
    with pytest.raises(GeneratorExit), recorded_call(host, "a", DECISION, model="m", messages=[]):
        raise GeneratorExit
    assert "no longer waited" in host.calls[0]["error"]


def test_legal_actions_by_their_words() -> None:
    space = Space("Discrete", "int64", n=3, start=1)
    slot = Slot(0, "a", "E", space, space, action_meanings=("left", "stay", "right"))
    assert slot.legal_words(DECISION) == {"left": 1, "right": 3}
    assert slot.legal_words(DECISION._replace(action_mask=None)) == {"left": 1, "stay": 2, "right": 3}
    assert slot.legal_words(DECISION._replace(choices=[(7, "e2e4"), (8, "e2e4")])) == {"e2e4": 7}
    assert Slot(0, "a", "E", space, space).legal_words(DECISION) == {}
