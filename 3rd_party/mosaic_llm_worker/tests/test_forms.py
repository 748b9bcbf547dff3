"""The JSON schema of an answer: whatever may be played fits it, and what is out of bounds does not."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from jsonschema import ValidationError, validate

from gym_gui.core.spaces import sample_legal, to_space
from mosaic_llm_worker.forms import schema, written
from mosaic_llm_worker.parsing import Reader
from mosaic_worker.spaces import Space

SPACES: dict[str, Any] = {
    "discrete": spaces.Discrete(5, start=-2),
    "whole numbers": spaces.Box(-3, 3, (2, 2), np.int8),
    "numbers": spaces.Box(-1.0, 1.0, (3,), np.float32),
    "alike": spaces.MultiDiscrete([3, 3], start=[1, 1]),
    "not alike": spaces.MultiDiscrete([3, 2]),
    "switches": spaces.MultiBinary(4),
    "text": spaces.Text(8),
    "parts": spaces.Dict({"turn": spaces.Box(-1, 1, (2,), np.int64), "say": spaces.Text(4)}),
    "both": spaces.Tuple([spaces.MultiBinary(2), spaces.MultiDiscrete([4, 4])]),
}


@pytest.mark.parametrize("name", SPACES)
def test_every_action_fits_its_form(name: str) -> None:
    space = Space.from_json(to_space(SPACES[name]).to_json())
    form = schema(space, None, talk=True)
    for seed in range(50):
        action = sample_legal(to_space(SPACES[name]), None, seed)
        validate({"say": "hello", "action": json.loads(_quoted(written(action)))}, form)


def _quoted(text: str) -> str:
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(text)
    return text


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("discrete", 3),
        ("whole numbers", [0, 0, 0, 4]),
        ("whole numbers", [0, 0, 0]),
        ("numbers", ["left", 0, 0]),
        ("alike", [0, 1]),
        ("alike", [1, 4]),
        ("not alike", [0.5, 0]),
        ("switches", [0, 1, 2, 0]),
        ("parts", {"turn": [0, 2], "say": "hi"}),
        ("parts", {"turn": [0, 1]}),
    ],
)
def test_what_no_action_can_be_does_not_fit(name: str, answer: Any) -> None:
    with pytest.raises(ValidationError):
        validate({"action": answer}, schema(to_space(SPACES[name]), None, talk=False))


def test_words_are_those_of_the_moment() -> None:
    space = to_space(spaces.Discrete(3))
    words = Reader(space, ("left", "right", "wait")).vocabulary(np.array([True, False, True]))
    form = schema(space, words, talk=False)
    validate({"action": "wait"}, form)
    with pytest.raises(ValidationError):
        validate({"action": "right"}, form)
