"""Settings of DQN and C51 trainings."""

from __future__ import annotations

from pydantic import Field, model_validator

from cleanrl_worker.config.base import MAIN, Width, widths
from cleanrl_worker.config.replay import MORE, ReplayConfig, buffer, frequency, starts, way
from mosaic_worker.learning.training_settings import num_envs_field, rate


class ValueConfig(ReplayConfig):
    """What learning action values from a replay buffer needs; the values are those of CleanRL but for the
    copies of the environment, of which it has one."""

    num_envs: int = num_envs_field(4, MORE)
    learning_rate: float = rate(2.5e-4, "Adam's step size.")
    buffer_size: int = buffer(10_000)
    learning_starts: int = starts(10_000)
    train_frequency: int = frequency(10)
    target_network_frequency: int = Field(
        500,
        ge=1,
        title="Target network frequency",
        description="Environment steps between two updates of the target network.",
    )
    tau: float = way(1.0)
    start_e: float = Field(
        1.0, ge=0, le=1, title="Initial epsilon", description="Share of random actions at the start."
    )
    end_e: float = Field(
        0.05,
        ge=0,
        le=1,
        title="Final epsilon",
        description="Share of random actions at the end, and where the policy is asked to sample.",
    )
    exploration_fraction: float = Field(
        0.5,
        gt=0,
        le=1,
        title="Exploration fraction",
        description="Part of the training over which epsilon falls in a straight line.",
        json_schema_extra=MAIN,
    )
    hidden: tuple[Width, ...] = widths(
        (120, 84), "Widths of the hidden layers behind a vector; an image has convolutions first."
    )


class DQNConfig(ValueConfig):
    """Deep Q-learning for discrete actions: learns a value for each action from remembered steps."""


class C51Config(ValueConfig):
    """Categorical Q-learning for discrete actions: learns the distribution of each action's return."""

    n_atoms: int = Field(
        101,
        ge=2,
        le=1001,
        title="Atoms",
        description="Returns that a distribution is made of.",
    )
    v_min: float = Field(
        -100.0,
        title="Lowest return",
        description="Discounted return of the first atom; lower ones count as this.",
        json_schema_extra=MAIN,
    )
    v_max: float = Field(
        100.0,
        title="Highest return",
        description="Discounted return of the last atom; higher ones count as this.",
        json_schema_extra=MAIN,
    )

    @model_validator(mode="after")
    def _has_a_range(self) -> C51Config:
        if not -1e30 < self.v_min < self.v_max < 1e30:
            raise ValueError(
                f"v_min = {self.v_min} must be a number below v_max = {self.v_max}; set both to the "
                "least and the greatest discounted return"
            )
        return self
