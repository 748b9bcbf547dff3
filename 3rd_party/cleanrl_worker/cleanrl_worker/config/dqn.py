"""Settings of DQN and C51 trainings."""

from __future__ import annotations

from pydantic import Field, model_validator

from cleanrl_worker.config.base import MAIN, TrainingConfig


class ValueConfig(TrainingConfig):
    """What learning action values from a replay buffer needs; the values are those of CleanRL but for the
    copies of the environment, of which it has one."""

    total_steps: int = Field(
        500_000,
        ge=1,
        title="Total steps",
        description="Environment steps of the whole training, over all copies.",
        json_schema_extra=MAIN,
    )
    num_envs: int = Field(
        4,
        ge=1,
        le=1024,
        title="Copies of the environment",
        description="Copies stepped together; gradient steps per environment step stay the same.",
        json_schema_extra=MAIN,
    )
    learning_rate: float = Field(
        2.5e-4,
        gt=0,
        le=1,
        title="Learning rate",
        description="Adam's step size.",
        json_schema_extra=MAIN,
    )
    buffer_size: int = Field(
        10_000,
        ge=1,
        title="Buffer size",
        description="Transitions that are remembered; the oldest make room for the newest.",
    )
    batch_size: int = Field(
        128, ge=1, le=65_536, title="Batch size", description="Transitions of each gradient step."
    )
    learning_starts: int = Field(
        10_000,
        ge=0,
        title="Learning starts",
        description="Steps of random play before the first gradient step.",
    )
    train_frequency: int = Field(
        10, ge=1, title="Train frequency", description="Environment steps for each gradient step."
    )
    target_network_frequency: int = Field(
        500,
        ge=1,
        title="Target network frequency",
        description="Environment steps between two updates of the target network.",
    )
    tau: float = Field(
        1.0,
        gt=0,
        le=1,
        title="Target update rate",
        description="How much of the way the target network goes at each update; 1 copies the network.",
    )
    start_e: float = Field(
        1.0, ge=0, le=1, title="First epsilon", description="Share of random actions at the start."
    )
    end_e: float = Field(
        0.05,
        ge=0,
        le=1,
        title="Last epsilon",
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
    hidden: tuple[int, ...] = Field(
        (120, 84),
        title="Hidden layers",
        description="Widths of the hidden layers behind a vector; an image has convolutions first.",
    )

    @model_validator(mode="after")
    def _fits(self) -> ValueConfig:
        if self.learning_starts >= self.total_steps:
            raise ValueError(
                f"learning_starts = {self.learning_starts} is not before the end at total_steps = "
                f"{self.total_steps}: nothing would be learnt; lower learning_starts"
            )
        return self


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
