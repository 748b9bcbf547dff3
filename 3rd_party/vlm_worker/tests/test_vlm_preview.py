"""The prompt is shown as it would be sent, with a mark for the picture."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from vlm_worker.preview import preview

SLOT = {
    "agent": "agent_0",
    "env": "FrozenLake-v1",
    "action_meanings": ["left", "down", "right", "up"],
    "action_space": {"kind": "Discrete", "dtype": "int64", "n": 4, "start": 0},
    "briefing": "The game is Frozen Lake.",
}


def asked(**settings: Any) -> dict[str, Any]:
    decision: dict[str, Any] = {
        "text": "You are at row 1.",
        "messages": [],
        "choices": [],
        "mask": None,
        "step": 0,
    }
    return {"settings": {"image_size": 64, **settings}, "slot": SLOT, "decision": decision}


def test_picture_and_words() -> None:
    answer = preview(asked())
    system, turn = answer["messages"]
    assert system["content"].endswith("Every turn comes with a picture of what you see yourself.")
    assert "The game is Frozen Lake." in system["content"] and answer["tokens"] > 0
    assert turn["content"].startswith("[the picture]\n") and "You are at row 1." in turn["content"]


def test_the_picture_alone() -> None:
    turn = preview(asked(with_text=False))["messages"][-1]["content"]
    assert "You are at row 1." not in turn and "The picture shows it." in turn


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"image_size": -1}, "image_size"), ({"imagesize": 3}, "there is no setting 'imagesize'")],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], words: str) -> None:
    assert words in preview(asked(**settings))["error"]


def test_it_is_a_program() -> None:
    command = [sys.executable, "-m", "vlm_worker.preview"]
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if "3rd_party" in path)}
    done = subprocess.run(
        command, input=json.dumps(asked()), capture_output=True, text=True, check=True, env=environment
    )
    assert json.loads(done.stdout) == preview(asked())
