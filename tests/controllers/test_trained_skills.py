"""A policy that learnt the skills of a task carries out what a manager asks for in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui import evaluate

TASK = "MiniGrid-DoorKey-5x5-v0"
TRAIN = f"gym_gui train --env Skills/{TASK} --worker cleanrl_worker --steps 1024 --set num_envs=4"


@pytest.mark.full
def test_a_policy_learns_skills_and_sits_below_a_manager(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    command = [sys.executable, "-m", *TRAIN.split(), "--out", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr
    results = evaluate(
        TASK,
        {"agent": folder, "agent/goal": {"type": "baseline", "behavior": "minigrid_manager"}},
        seeds=2,
        max_steps=30,
        out=tmp_path,
    )
    assert [episode.error for episode in results.episodes] == [None, None]
    (operator,) = results.run.operators.values()
    steps = list(operator.steps())
    asked = [step for step in steps if step.agent_id.endswith("/goal")]
    moves = [step for step in steps if not step.agent_id.endswith("/goal")]
    assert asked and len(moves) == sum(episode.length for episode in results.episodes)
    assert {step.option for step in moves} <= {step.option for step in asked} and all(s.option for s in moves)
    assert {step.action_source for step in moves} == {"policy"}, "the policy itself moved"
