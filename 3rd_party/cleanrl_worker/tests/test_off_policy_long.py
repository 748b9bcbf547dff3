"""DQN, C51, DDPG, TD3 and SAC reach a return on real environments; minutes each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from off_policy_probes import train

from cleanrl_worker.environments import EVALUATION
from cleanrl_worker.policy import Policy

# The settings of docs/training_results.md, which are not the defaults of today.
STATED = {
    "total_steps": 15_000,
    "learning_rate": 3e-4,
    "batch_size": 128,
    "learning_starts": 1_000,
    "hidden": (128, 128),
}


@pytest.mark.full
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    ("name", "env_id", "least", "settings"),
    [
        ("dqn", "CartPole-v1", 400.0, {}),
        ("c51", "CartPole-v1", 400.0, {"total_steps": 250_000}),
        ("dqn", "Acrobot-v1", -110.0, {"total_steps": 250_000}),
        ("ddpg", "Pendulum-v1", -250.0, {"total_steps": 15_000}),
        ("td3", "Pendulum-v1", -250.0, STATED),
        ("sac", "Pendulum-v1", -250.0, {"total_steps": 12_000}),
    ],
)
def test_a_real_environment_is_learnt(
    name: str, env_id: str, least: float, settings: dict[str, Any], tmp_path: Path
) -> None:
    train(name, env_id, tmp_path, **settings)
    assert np.mean(EVALUATION.episode_returns(Policy.load(tmp_path), env_id, range(20))) >= least
