"""Settings of every training that learns from a replay buffer."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from cleanrl_worker.config.base import TrainingConfig
from mosaic_worker.learning.training_settings import num_envs_field

MORE = "; gradient steps per environment step stay the same"
"""What copies of the environment do not change here."""


def buffer(default: int) -> Any:
    """``buffer_size``."""
    return Field(
        default,
        ge=1,
        le=1_000_000_000,
        title="Replay buffer size",
        description="Transitions that are remembered; the oldest make room for the newest.",
    )


def batch(default: int) -> Any:
    """``batch_size``."""
    return Field(
        default, ge=1, le=65_536, title="Batch size", description="Transitions of each gradient step."
    )


def starts(default: int) -> Any:
    """``learning_starts``."""
    return Field(
        default,
        ge=0,
        title="Learning starts",
        description="Steps of random play before the first gradient step.",
    )


def frequency(default: int) -> Any:
    """``train_frequency``."""
    return Field(
        default, ge=1, title="Train frequency", description="Environment steps for each gradient step."
    )


def way(default: float) -> Any:
    """``tau``."""
    return Field(
        default,
        gt=0,
        le=1,
        title="Target update rate",
        description="How much of the way the target networks go at each update; 1 copies the networks.",
    )


class ReplayConfig(TrainingConfig):
    """What learning from a replay buffer needs."""

    num_envs: int = num_envs_field(1, MORE)
    buffer_size: int = buffer(1_000_000)
    batch_size: int = batch(128)
    learning_starts: int = starts(1_000)
    train_frequency: int = frequency(1)
    tau: float = way(0.005)

    @model_validator(mode="after")
    def _fits(self) -> ReplayConfig:
        if self.learning_starts >= self.total_steps:
            raise ValueError(
                f"learning_starts = {self.learning_starts} is not before the end at total_steps = "
                f"{self.total_steps}: nothing would be learnt; lower learning_starts"
            )
        return self
