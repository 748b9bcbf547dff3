"""What passes between environment, engine and policies."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from gym_gui.core.types import (
    Answer,
    Decision,
    EpisodeSummary,
    StepOutcome,
    StepResult,
    StepSnapshot,
    legal_indices,
)


def test_dones_are_either_ending() -> None:
    result = StepResult({}, {}, {"a": True, "b": False, "c": False}, {"b": True}, {})
    assert result.dones == {"a": True, "b": True, "c": False}


@pytest.mark.parametrize(
    ("mask", "legal"),
    [
        (None, None),
        (np.array([1, 0, 1], np.int8), [0, 2]),
        (np.array([False, True]), [1]),
        (np.zeros(3, np.int8), []),
    ],
)
def test_legal_actions_are_the_masks_indices(mask: np.ndarray | None, legal: list[int] | None) -> None:
    found = StepSnapshot(action_mask=mask).legal_actions
    assert found == legal == legal_indices(mask)
    assert found is None or all(type(i) is int for i in found)


def test_a_snapshot_is_made_as_the_design_documents_do() -> None:
    snapshot = StepSnapshot(
        step_index=0, observation=None, reward=0, terminated=False, truncated=False, seed=None, info={}
    )
    assert snapshot.agent_id == "agent_0" and snapshot.action is None
    with pytest.raises(AttributeError):
        snapshot.color = "red"  # type: ignore[attr-defined]


def test_defaults_are_not_shared() -> None:
    first, second = StepSnapshot(), StepSnapshot()
    assert first.info == {} and first.info is not second.info
    assert EpisodeSummary().metadata is not EpisodeSummary().metadata


def test_what_travels_cannot_be_changed() -> None:
    decision = Decision(1, 0, 0, "a", "a", 7, None, ())
    for item in (decision, Answer(decision), StepOutcome(0, 0, "a", "a", None, (), 1, 0.0, False, False, {})):
        with pytest.raises(AttributeError):
            item.episode = 3  # type: ignore[misc,union-attr]
    again = replace(decision, id=2, attempt=1, reason="not legal")
    assert (again.episode, again.attempt, decision.attempt) == (0, 1, 0)
