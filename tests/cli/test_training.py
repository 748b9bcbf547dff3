"""``mosaic train`` ends with a policy and says how it is played."""

from __future__ import annotations

import json
import re

from tests.support.commands import Mosaic, experiment

SHORT = ("--total-steps", "2048", "--num-envs", "2")


def test_a_trained_policy_plays_as_it_is_told(mosaic: Mosaic) -> None:
    done = mosaic("train", "--env", "CartPole-v1", "--algo", "PPO", "--out", "policy", *SHORT)
    assert done.status == 0, done.err
    assert done.err.startswith("Worker: cleanrl_worker\n")
    assert "Policy:  policy\n" in done.out
    operator = json.loads(done.out.partition("experiment file:\n")[2])
    assert operator["task"] == "CartPole-v1"
    played = mosaic("run", experiment(mosaic.home, operator), "--json", "--processes", "1")
    assert played.json()["status"] == "completed"
    # What is there is not overwritten by a slip.
    again = mosaic("train", "--env", "CartPole-v1", "--worker", "cleanrl", "--out", "policy", *SHORT)
    assert again.status == 2
    assert "--overwrite" in again.err


def test_for_programs(mosaic: Mosaic) -> None:
    done = mosaic("train", "--env", "CartPole-v1", "--seed", "3", "--json", *SHORT)
    assert done.status == 0
    result = done.json()
    assert result["status"] == "completed"
    assert result["slot"] == {
        "type": "rl",
        "worker_id": "cleanrl_worker",
        "checkpoint": "runs/ppo_CartPole-v1_seed3",
    }
    progress = [json.loads(line)["progress"] for line in done.err.splitlines()]
    assert progress[-1]["step"] <= 2048
    assert re.fullmatch(r"/.*/runs/ppo_CartPole-v1_seed3", result["out"])
