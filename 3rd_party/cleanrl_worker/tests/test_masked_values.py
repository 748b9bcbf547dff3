"""The value beside an action of a masked decision is that of what may be played."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_off_policy_play import keep

from cleanrl_worker.policy import Policy

ROWS = 200


@pytest.mark.parametrize("name", ["dqn", "c51"])
def test_the_value_of_a_state_is_that_of_its_best_legal_action(name: str, tmp_path: Path) -> None:
    policy = Policy.load(keep(name, tmp_path))
    rng = np.random.default_rng(4)
    seen = rng.normal(size=(ROWS, 5)).astype(np.float32)
    one_by_one = np.eye(4, dtype=np.bool_)
    # Where one action alone is legal, the state is worth what that action is.
    rated = np.stack([policy.choose(seen, np.tile(row, (ROWS, 1))).values for row in one_by_one], axis=1)

    masks = rng.random((ROWS, 4)) < 0.5
    masks[~masks.any(axis=1), 2] = True
    chosen = policy.choose(seen, masks)

    expected = np.where(masks, rated, -np.inf)
    np.testing.assert_array_equal(chosen.values, expected.max(axis=1))
    np.testing.assert_array_equal(chosen.actions - 10, expected.argmax(axis=1))
    np.testing.assert_array_equal(policy.choose(seen).values, rated.max(axis=1))
    assert (chosen.values < rated.max(axis=1)).any()


def test_where_nothing_is_legal_there_is_no_value_and_neighbors_keep_theirs(tmp_path: Path) -> None:
    policy = Policy.load(keep("dqn", tmp_path))
    seen = np.random.default_rng(4).normal(size=(3, 5)).astype(np.float32)
    masks = np.array([[True] * 4, [False] * 4, [True] * 4])
    chosen = policy.choose(seen, masks)
    assert chosen.ok.tolist() == [True, False, True]
    assert chosen.values is not None
    assert chosen.values[1] == 0.0
    np.testing.assert_array_equal(chosen.values[[0, 2]], policy.choose(seen[[0, 2]]).values)
