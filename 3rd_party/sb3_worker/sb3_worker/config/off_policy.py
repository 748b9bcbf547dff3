"""Settings of algorithms that learn from a replay buffer."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from mosaic_worker.learning.training_settings import MAIN
from sb3_worker.config.base import TrainingConfig, first_rate, minibatch


def starts(default: int) -> Any:
    """``learning_starts``."""
    return Field(
        default,
        ge=0,
        le=100_000_000,
        title="Learning starts",
        description="Random steps before learning begins.",
    )


def every(default: int) -> Any:
    """``train_freq``."""
    return Field(
        default,
        ge=1,
        le=1_000_000,
        title="Train frequency",
        description="Steps of each environment between two updates.",
    )


def part(default: float) -> Any:
    """``tau``."""
    return Field(default, gt=0, le=1, title="Tau", description="Part of the network that targets take.")


class OffPolicyConfig(TrainingConfig):
    """What algorithms that learn from a replay buffer can be told."""

    OWN = frozenset({"buffer_size", "learning_starts", "batch_size", "tau", "train_freq", "gradient_steps"})

    buffer_size: int = Field(
        100_000, ge=1, le=100_000_000, title="Replay buffer size", description="Steps that are remembered."
    )
    learning_starts: int = starts(100)
    batch_size: int = minibatch(256)
    tau: float = part(0.005)
    train_freq: int = every(1)
    gradient_steps: int = Field(
        1, ge=-1, le=1_000_000, title="Gradient steps", description="Per update; -1: as many as steps were."
    )

    @model_validator(mode="after")
    def _check_buffer(self) -> OffPolicyConfig:
        if self.buffer_size < self.num_envs:
            raise ValueError(
                f"buffer_size = {self.buffer_size} must hold a step of each of {self.num_envs} environments"
            )
        if self.total_steps < self.num_envs:
            raise ValueError(f"total_steps = {self.total_steps} is less than one step of each environment")
        return self


class DQNConfig(OffPolicyConfig):
    """Deep Q-learning (Mnih et al. 2015)."""

    OWN = OffPolicyConfig.OWN | {
        "target_update_interval",
        "exploration_fraction",
        "exploration_final_eps",
        "max_grad_norm",
    }

    learning_rate: float = first_rate(1e-3)
    batch_size: int = minibatch(64)
    tau: float = part(1.0)
    train_freq: int = every(4)
    learning_starts: int = starts(1000)
    target_update_interval: int = Field(
        500,
        ge=1,
        le=100_000_000,
        title="Target update interval",
        description="Steps between two target updates.",
    )
    exploration_fraction: float = Field(
        0.2,
        gt=0,
        le=1,
        title="Exploration fraction",
        description="Part of the training over which exploration falls.",
        json_schema_extra=MAIN,
    )
    exploration_final_eps: float = Field(
        0.05, ge=0, le=1, title="Final epsilon", description="Part of random actions in the end."
    )
    max_grad_norm: float = Field(
        10, gt=0, le=1000, title="Max gradient norm", description="Norm to which gradients are clipped."
    )


class QRDQNConfig(DQNConfig):
    """Quantile regression DQN (Dabney et al. 2017)."""

    n_quantiles: int = Field(
        50, ge=1, le=10_000, title="Quantiles", description="Points of each value's distribution."
    )


class SACConfig(OffPolicyConfig):
    """Soft actor critic (Haarnoja et al. 2018)."""

    OWN = OffPolicyConfig.OWN | {"use_sde"}

    ent_coef: float | None = Field(
        None,
        ge=0,
        le=100,
        title="Entropy coefficient",
        description="Weight of the entropy bonus; none: learnt.",
        json_schema_extra=MAIN,
    )
    use_sde: bool = Field(False, title="gSDE", description="Explore with noise that depends on the state.")

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "ent_coef": "auto" if self.ent_coef is None else self.ent_coef}


class TQCConfig(SACConfig):
    """Truncated quantile critics (Kuznetsov et al. 2020)."""

    OWN = SACConfig.OWN | {"top_quantiles_to_drop_per_net"}

    top_quantiles_to_drop_per_net: int = Field(
        2, ge=0, le=24, title="Dropped quantiles", description="Of 25 per critic, the largest."
    )


class DDPGConfig(OffPolicyConfig):
    """Deep deterministic policy gradient (Lillicrap et al. 2015)."""

    learning_rate: float = first_rate(1e-3)
    noise: float = Field(
        0.1,
        ge=0,
        le=10,
        title="Noise",
        description="Deviation of the Gaussian noise added to actions, where actions span -1 to 1.",
        json_schema_extra=MAIN,
    )


class TD3Config(DDPGConfig):
    """Twin delayed DDPG (Fujimoto et al. 2018)."""

    OWN = OffPolicyConfig.OWN | {"policy_delay", "target_policy_noise", "target_noise_clip"}

    policy_delay: int = Field(
        2, ge=1, le=1000, title="Policy delay", description="Critic updates per update of the policy."
    )
    target_policy_noise: float = Field(
        0.2, ge=0, le=10, title="Target noise", description="Deviation of the noise on target actions."
    )
    target_noise_clip: float = Field(
        0.5, ge=0, le=10, title="Target noise clip", description="Largest noise on target actions."
    )
