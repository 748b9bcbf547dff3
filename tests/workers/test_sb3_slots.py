"""A file of the library's own, added to the policies and played in a slot: as it plays there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from tests.support.commands import Mosaic
from tests.support.processes import Offspring

pytest.importorskip("stable_baselines3")

EXPERIMENT = """
operators:
  - id: pole
    env_name: gymnasium
    task: CartPole-v1
    workers:
      agent_0: {type: rl, worker_id: sb3_worker, settings: {checkpoint: "library:pole"}}
execution: {num_episodes: 3, seeds: 11, processes: 1}
"""


def _library_file(folder: Path) -> Any:
    """PPO behind a frame stack and running statistics, saved as people save it."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize

    torch.set_num_threads(1)
    env = VecNormalize(VecFrameStack(make_vec_env("CartPole-v1", 4, seed=0), 2))
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=64, learning_rate=2e-3, seed=3, device="cpu")
    model.learn(1024)
    model.save(folder / "pole.zip")
    env.save(str(folder / "pole.pkl"))
    return model


def _plays_there(model: Any, folder: Path, seed: int) -> float:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize

    env = VecNormalize.load(
        str(folder / "pole.pkl"), VecFrameStack(DummyVecEnv([lambda: gym.make("CartPole-v1")]), 2)
    )
    env.training = env.norm_reward = False
    env.seed(seed)
    seen, total, over = env.reset(), 0.0, False
    while not over:
        seen, reward, done, _ = env.step(model.predict(seen, deterministic=True)[0])
        total, over = total + float(reward[0]), bool(done[0])
    return total


@pytest.mark.full
@pytest.mark.timeout(900)  # where many tests share two cores, each of its programs takes a minute
def test_a_file_of_the_library_scores_in_a_slot_what_it_scores_there(
    tmp_path: Path, offspring: Offspring
) -> None:
    mosaic = Mosaic(tmp_path, offspring)
    model = _library_file(tmp_path)
    added = mosaic(
        "policies", "add", "pole.zip", "--env", "CartPole-v1", "--name", "pole",
        "--vecnormalize", "pole.pkl", "--frame-stack", "2",
    )  # fmt: skip
    assert added.status == 0, added.err
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    played = mosaic("run", "experiment.yaml", "--out", "played")
    assert played.status == 0, played.err
    rows = [
        json.loads(line)
        for file in (tmp_path / "played").rglob("episodes.jsonl")
        for line in file.read_text().splitlines()
    ]
    assert len(rows) == 3
    for row in rows:
        assert row["total_reward"] == _plays_there(model, tmp_path, row["seed"])
