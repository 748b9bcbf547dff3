"""Trainings of several agents that take minutes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cleanrl_worker.train import main

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("algorithm", ["ippo", "mappo"])
def test_three_agents_learn_to_cover_three_landmarks(algorithm: str, tmp_path: Path) -> None:
    """Standing still is worth -77, and so is chance; the policy's own reward is the sum of all three."""
    out = tmp_path / "p"
    args = [f"--algo={algorithm}", "--env-id=simple_spread_v3", "--total-steps=200000", f"--out={out}"]
    assert main(args) == 0
    mean = json.loads((out / "policy.json").read_text())["evaluation"]["mean_return"]
    assert mean > -66


def test_a_learner_beats_the_one_it_was(tmp_path: Path) -> None:
    """Self-play at connect four: the rating rises, and the first member is left behind."""
    out = tmp_path / "p"
    args = ["--algo=self_play", "--env-id=connect_four_v3", "--total-steps=150000", f"--out={out}"]
    assert main(args) == 0
    league = json.loads((out / "league.json").read_text())
    ratings = [member["rating"] for member in league["members"] if member["step"] is not None]
    assert ratings[-1] > ratings[len(ratings) // 2] > ratings[0] + 200
