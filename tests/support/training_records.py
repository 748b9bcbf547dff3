"""What the trainer keeps of a training, without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gym_gui.services.trainer.training_records import TrainingRecord


def record(run_id: str = "a", **about: Any) -> TrainingRecord:
    """PPO in CartPole, and what is said otherwise."""
    usual: dict[str, Any] = {
        "worker_id": "cleanrl_worker",
        "algorithm": "ppo",
        "env_id": "CartPole-v1",
        "seed": 1,
        "folder": Path("/runs") / run_id,
        "submitted_at": 0.0,
    }
    return TrainingRecord(run_id, **{**usual, **about})
