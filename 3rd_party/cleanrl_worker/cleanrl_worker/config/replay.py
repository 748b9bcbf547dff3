"""Settings of every training that learns from a replay buffer."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from cleanrl_worker.config.base import TrainingConfig
from mosaic_worker.learning import training_fields as fields


def num_envs(default: int) -> Any:
    """Return the setting ``num_envs``."""
    return fields.num_envs(
        default,
        "Number of environments stepped together; the number of gradient steps per environment step "
        "does not change.",
    )


def learning_starts(default: int) -> Any:
    """Return the setting ``learning_starts``."""
    return fields.learning_starts(default, "Steps of random play before the first gradient step.", le=None)


class ReplayConfig(TrainingConfig):
    """Settings for learning from a replay buffer."""

    num_envs: int = num_envs(1)
    buffer_size: int = fields.buffer_size(1_000_000, le=1_000_000_000)
    batch_size: int = fields.minibatch_size(128, ge=1, le=65_536)
    learning_starts: int = learning_starts(1_000)
    train_frequency: int = fields.train_frequency(1, "Environment steps per gradient step.", le=None)
    tau: float = fields.tau(0.005)

    @model_validator(mode="after")
    def _fits(self) -> ReplayConfig:
        if self.learning_starts >= self.total_steps:
            raise ValueError(
                f"learning_starts = {self.learning_starts} is not before the end at total_steps = "
                f"{self.total_steps}: the policy would not learn; lower learning_starts"
            )
        return self
