"""Settings of DQN and C51 trainings."""

from __future__ import annotations

from pydantic import Field, model_validator

from cleanrl_worker.config.replay import ReplayConfig, learning_starts, num_envs
from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_settings import Width


class ValueConfig(ReplayConfig):
    """Settings for learning action values from a replay buffer.

    The defaults are those of CleanRL, except for the number of parallel environments, which is one in
    CleanRL.
    """

    num_envs: int = num_envs(4)
    learning_rate: float = fields.learning_rate(2.5e-4, "Adam's step size.")
    buffer_size: int = fields.buffer_size(10_000, le=1_000_000_000)
    learning_starts: int = learning_starts(10_000)
    train_frequency: int = fields.train_frequency(10, "Environment steps per gradient step.", le=None)
    target_network_frequency: int = fields.target_interval(500, le=None)
    tau: float = fields.tau(1.0)
    start_e: float = fields.first_epsilon(1.0)
    end_e: float = fields.last_epsilon(0.05)
    exploration_fraction: float = fields.exploration_fraction(0.5)
    hidden: tuple[Width, ...] = fields.hidden(
        (120, 84),
        "Widths of the hidden layers for vectors; images use convolutions and one layer.",
        min_length=1,
    )


class DQNConfig(ValueConfig):
    """Deep Q-learning for discrete actions: learns a value for each action from stored transitions."""


class C51Config(ValueConfig):
    """Categorical Q-learning for discrete actions: learns the distribution of each action's return."""

    n_atoms: int = Field(
        101,
        ge=2,
        le=1001,
        title="Atoms",
        description="Number of returns in the distribution of an action's return.",
    )
    v_min: float = Field(
        -100.0,
        title="Lowest return",
        description="Discounted return of the first atom; lower returns count as this value.",
        json_schema_extra=fields.MAIN,
    )
    v_max: float = Field(
        100.0,
        title="Highest return",
        description="Discounted return of the last atom; higher returns count as this value.",
        json_schema_extra=fields.MAIN,
    )

    @model_validator(mode="after")
    def _has_a_range(self) -> C51Config:
        if not -1e30 < self.v_min < self.v_max < 1e30:
            raise ValueError(
                f"v_min = {self.v_min} must be a number below v_max = {self.v_max}; set both to the "
                "least and the greatest discounted return"
            )
        return self
