"""From what a program does to an action of the environment, and why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium.spaces
import numpy as np
import pytest

pytest.importorskip("agentspeak")

from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.worker import Batch, EpisodeStart, Invalid, Slot
from spade_bdi_worker.main import BdiWorker

WORDS = ("left", "stay", "right")
SEEN = describe(gymnasium.spaces.Box(-1, 1, (1,)))


def played(step: str, space: Any, folder: Path, words: tuple[str, ...] = (), mask: Any = None) -> Any:
    """What a program of one step does."""
    program = folder / "mind.asl"
    program.write_text(f"!go. +!go <- {step}.")
    slot = Slot(0, "agent_0", "Example-v0", SEEN, describe(space), {"program": str(program)}, words)
    worker = BdiWorker()
    worker.load(slot)
    worker.reset(slot, [EpisodeStart(0, 1, "agent_0")])
    masks = None if mask is None else np.array([mask], bool)
    asked = Batch(slot, [0], [0], [0], np.ones(1, np.uint64), np.zeros((1, 1)), masks)
    return worker.select_actions(asked).actions[0]


@pytest.mark.parametrize("step", ["right", 'act("right")', "act(right)", "act(1)"])
def test_actions_are_counted_from_where_their_space_begins(step: str, tmp_path: Path) -> None:
    assert played(step, gymnasium.spaces.Discrete(3, start=-1), tmp_path, WORDS) == 1


def test_legal_actions_without_words_are_told_by_their_numbers(tmp_path: Path) -> None:
    space = gymnasium.spaces.Discrete(3, start=5)
    assert played("?legal(N); act(N)", space, tmp_path, mask=[False, False, True]) == 7


@pytest.mark.parametrize(
    ("step", "space", "says"),
    [
        ("act(1.5)", gymnasium.spaces.Discrete(3), "action must be int64, which 1.5 is not"),
        ("act([300, 0])", gymnasium.spaces.Box(-100, 100, (2,), np.int8), "must be int8, which 300 is not"),
        ("act([0, 0.5])", gymnasium.spaces.MultiDiscrete([2, 2]), "must be int64, which 0.5 is not"),
        ("act([0.5])", gymnasium.spaces.Box(-1, 1, (2,)), "must have 2 numbers, not 1"),
        ("act([north, 1])", gymnasium.spaces.Box(-1, 1, (2,)), "must consist of numbers"),
        ("act([[0, 1], 1])", gymnasium.spaces.Box(-1, 1, (2,)), "must consist of numbers"),
    ],
)
def test_what_is_no_action_is_an_unusable_answer(step: str, space: Any, says: str, tmp_path: Path) -> None:
    answer = played(step, space, tmp_path)
    assert isinstance(answer, Invalid) and says in answer.reason


def test_numbers_are_of_the_space(tmp_path: Path) -> None:
    box = gymnasium.spaces.Box(-1, 1, (2, 2), np.float32)
    action = played("act([0.5, -0.25, 1, 0])", box, tmp_path)
    assert box.contains(action) and action.tolist() == [[0.5, -0.25], [1, 0]]
