"""Settings of DDPG, TD3 and SAC trainings."""

from __future__ import annotations

from pydantic import Field, model_validator

from cleanrl_worker.config.base import MAIN, TrainingConfig


class ContinuousConfig(TrainingConfig):
    """What learning bounded continuous actions from a replay buffer needs.

    Rates are those of CleanRL; layers, batch, start and length are sized for Pendulum-v1 in minutes on one
    core (CleanRL, for MuJoCo: hidden 256 256, batch_size 256, learning_starts 5000 or 25000).
    """

    env_id: str = Field(
        "Pendulum-v1",
        title="Environment",
        description="Gymnasium id of the environment (package:Id-v0 imports package first).",
    )
    total_steps: int = Field(
        30_000,
        ge=1,
        title="Total steps",
        description="Environment steps of the whole training, over all copies.",
        json_schema_extra=MAIN,
    )
    num_envs: int = Field(
        1,
        ge=1,
        le=1024,
        title="Copies of the environment",
        description="Copies stepped together; gradient steps per environment step stay the same.",
        json_schema_extra=MAIN,
    )
    learning_rate: float = Field(
        3e-4,
        gt=0,
        le=1,
        title="Learning rate",
        description="Adam's step size for the actor, and for the critics where they have none of their own.",
        json_schema_extra=MAIN,
    )
    buffer_size: int = Field(
        1_000_000,
        ge=1,
        title="Buffer size",
        description="Transitions that are remembered; the oldest make room for the newest.",
    )
    batch_size: int = Field(
        128, ge=1, le=65_536, title="Batch size", description="Transitions of each gradient step."
    )
    learning_starts: int = Field(
        1_000,
        ge=0,
        title="Learning starts",
        description="Steps of random play before the first gradient step.",
        json_schema_extra=MAIN,
    )
    train_frequency: int = Field(
        1, ge=1, title="Train frequency", description="Environment steps for each gradient step."
    )
    tau: float = Field(
        0.005,
        gt=0,
        le=1,
        title="Target update rate",
        description="How much of the way the target networks go at each update.",
    )
    hidden: tuple[int, ...] = Field(
        (128, 128),
        title="Hidden layers",
        description="Widths of the hidden layers of actor and critics.",
    )

    @model_validator(mode="after")
    def _fits(self) -> ContinuousConfig:
        if self.learning_starts >= self.total_steps:
            raise ValueError(
                f"learning_starts = {self.learning_starts} is not before the end at total_steps = "
                f"{self.total_steps}: nothing would be learnt; lower learning_starts"
            )
        return self


class DDPGConfig(ContinuousConfig):
    """Deep deterministic policy gradient for bounded continuous actions: an actor climbs its critic."""

    exploration_noise: float = Field(
        0.1,
        ge=0,
        le=10,
        title="Exploration noise",
        description="Standard deviation of the noise on actions, where the bounds are -1 and 1.",
        json_schema_extra=MAIN,
    )


class TD3Config(DDPGConfig):
    """Twin delayed DDPG for bounded continuous actions: two critics, smoothed targets, a patient actor."""

    policy_frequency: int = Field(
        2, ge=1, title="Policy frequency", description="Gradient steps of the critics for one of the actor."
    )
    policy_noise: float = Field(
        0.2,
        ge=0,
        le=10,
        title="Target noise",
        description="Standard deviation of the noise that smooths the target's action.",
    )
    noise_clip: float = Field(
        0.5, ge=0, le=10, title="Target noise limit", description="Largest noise on the target's action."
    )


class SACConfig(ContinuousConfig):
    """Soft actor-critic for bounded continuous actions: as much return and as much chance as possible."""

    q_learning_rate: float = Field(
        1e-3,
        gt=0,
        le=1,
        title="Critics' learning rate",
        description="Adam's step size for the critics and the temperature.",
        json_schema_extra=MAIN,
    )
    autotune: bool = Field(
        True,
        title="Tune the temperature",
        description="Keep the entropy of the policy at minus the number of action components.",
    )
    alpha: float = Field(
        0.2,
        gt=0,
        le=1000,
        title="Temperature",
        description="Weight of the entropy: where it starts when it is tuned, else what it stays at.",
    )
