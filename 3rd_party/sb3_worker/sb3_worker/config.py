"""Settings of every algorithm; defaults are the library's, unless the library's do not learn."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_settings import LibrarySettings, Width


def learning_rate(default: float) -> Any:
    """Return the setting ``learning_rate``."""
    return fields.learning_rate(default, "Step size of the optimizer at the start.")


class TrainingConfig(LibrarySettings):
    """Settings of every algorithm."""

    total_steps: int = fields.total_steps(100_000)
    num_envs: int = fields.num_envs(1)
    learning_rate: float = learning_rate(3e-4)
    anneal_lr: bool = fields.anneal(
        False,
        "Decrease the learning rate linearly to zero, by steps (cleanrl_worker: full for the first "
        "rollout, one decrement above zero for the last).",
    )
    hidden: tuple[Width, ...] | None = fields.hidden(
        None, "Widths of the hidden layers; none: the library's default."
    )
    activation: Literal["default", "tanh", "relu", "elu"] = fields.activation(
        "default", "Activation function between layers; default: the library's default."
    )
    normalize_observations: bool = fields.normalize_observations(False)
    normalize_rewards: bool = fields.normalize_rewards(False)


# -- learning from rollouts ----------------------------------------------------------------


class OnPolicyConfig(TrainingConfig):
    """Settings of algorithms that learn from their own rollouts."""

    LIBRARY = ("n_steps", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm")

    n_steps: int = fields.rollout_length(256)
    gae_lambda: float = fields.gae_lambda(0.95)
    ent_coef: float = fields.entropy_weight(0.0)
    vf_coef: float = fields.value_weight(
        0.5, "Weight of the value loss, the squared error: 0.5 is 1.0 in cleanrl_worker."
    )
    max_grad_norm: float = fields.gradient_norm(0.5)

    @property
    def rollout(self) -> int:
        return self.n_steps * self.num_envs

    @model_validator(mode="after")
    def _check_rollout(self) -> OnPolicyConfig:
        if self.total_steps < self.rollout:
            raise ValueError(
                f"total_steps = {self.total_steps} is less than one rollout of "
                f"n_steps x num_envs = {self.rollout}; raise total_steps"
            )
        if self.rollout < 2:
            raise ValueError("a rollout needs at least 2 steps; raise n_steps or num_envs")
        return self


class PPOConfig(OnPolicyConfig):
    """Proximal policy optimization (Schulman et al. 2017)."""

    LIBRARY = (
        *OnPolicyConfig.LIBRARY,
        *("batch_size", "n_epochs", "clip_range", "target_kl", "normalize_advantage"),
    )

    num_envs: int = fields.num_envs(8)
    batch_size: int = fields.minibatch_size(256)
    n_epochs: int = fields.epochs(10)
    clip_range: float = fields.clip_range(0.2)
    target_kl: float | None = fields.target_kl(
        None,
        "End an update before a minibatch whose approximate KL divergence is above 1.5 times this "
        "value (cleanrl_worker: after the epoch, above the value); none: never.",
    )
    normalize_advantage: bool = fields.normalize_advantages(True)

    @model_validator(mode="after")
    def _check_batches(self) -> PPOConfig:
        if self.rollout % self.batch_size == 1:
            raise ValueError(
                f"a rollout of n_steps x num_envs = {self.rollout} leaves a minibatch of a single step; "
                f"change batch_size = {self.batch_size}"
            )
        return self


class MaskablePPOConfig(PPOConfig):
    """PPO that never plays an illegal action (Huang and Ontanon 2022)."""


class RecurrentPPOConfig(PPOConfig):
    """PPO with an LSTM, for environments that do not show everything."""

    n_steps: int = fields.rollout_length(128)
    batch_size: int = fields.minibatch_size(128)
    lstm_size: int = fields.lstm_size(256)


class A2CConfig(OnPolicyConfig):
    """Advantage actor critic (Mnih et al. 2016), synchronous."""

    num_envs: int = fields.num_envs(8)
    learning_rate: float = learning_rate(7e-4)
    n_steps: int = fields.rollout_length(5)
    gae_lambda: float = fields.gae_lambda(1.0)


class TRPOConfig(OnPolicyConfig):
    """Trust region policy optimization (Schulman et al. 2015)."""

    LIBRARY = ("n_steps", "gae_lambda", "batch_size", "target_kl", "cg_max_steps", "n_critic_updates")

    num_envs: int = fields.num_envs(4)
    learning_rate: float = learning_rate(1e-3)
    batch_size: int = fields.minibatch_size(128)
    target_kl: float = fields.target_kl(
        0.01, "Largest KL divergence of an update; a step that exceeds it is rejected."
    )
    cg_max_steps: int = Field(
        15,
        ge=1,
        le=1000,
        title="CG steps",
        description="Largest number of steps of the conjugate gradient method.",
    )
    n_critic_updates: int = Field(
        10, ge=1, le=1000, title="Critic updates", description="Passes of the critic over each rollout."
    )


# -- learning from remembered steps --------------------------------------------------------


def learning_starts(default: int) -> Any:
    """Return the setting ``learning_starts``."""
    return fields.learning_starts(default, "Steps of random play before the first gradient step.")


class OffPolicyConfig(TrainingConfig):
    """Settings of algorithms that learn from a replay buffer."""

    LIBRARY = ("buffer_size", "learning_starts", "batch_size", "tau", "train_freq", "gradient_steps")

    buffer_size: int = fields.buffer_size(100_000)
    learning_starts: int = learning_starts(100)
    batch_size: int = fields.minibatch_size(256)
    tau: float = fields.tau(0.005)
    train_freq: int = fields.train_frequency(1)
    gradient_steps: int = Field(
        1,
        ge=-1,
        le=1_000_000,
        title="Gradient steps",
        description="Gradient steps per update; -1: as many as environment steps since the last update.",
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

    LIBRARY = (
        *OffPolicyConfig.LIBRARY,
        *("target_update_interval", "exploration_fraction", "exploration_final_eps", "max_grad_norm"),
    )

    learning_rate: float = learning_rate(1e-3)
    batch_size: int = fields.minibatch_size(64)
    tau: float = fields.tau(1.0)
    train_freq: int = fields.train_frequency(4)
    learning_starts: int = learning_starts(1000)
    target_update_interval: int = fields.target_interval(500)
    exploration_fraction: float = fields.exploration_fraction(0.2)
    exploration_final_eps: float = fields.last_epsilon(0.05)
    max_grad_norm: float = fields.gradient_norm(10)


class QRDQNConfig(DQNConfig):
    """Quantile regression DQN (Dabney et al. 2017)."""

    n_quantiles: int = Field(
        50,
        ge=1,
        le=10_000,
        title="Quantiles",
        description="Number of quantiles of each value's distribution.",
    )


class SACConfig(OffPolicyConfig):
    """Soft actor critic (Haarnoja et al. 2018)."""

    LIBRARY = (*OffPolicyConfig.LIBRARY, "use_sde")

    ent_coef: float | None = fields.entropy_weight(None, "Weight of the entropy bonus; none: learned.")
    use_sde: bool = Field(False, title="gSDE", description="Explore with noise that depends on the state.")

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "ent_coef": "auto" if self.ent_coef is None else self.ent_coef}


class TQCConfig(SACConfig):
    """Truncated quantile critics (Kuznetsov et al. 2020)."""

    LIBRARY = (*SACConfig.LIBRARY, "top_quantiles_to_drop_per_net")

    top_quantiles_to_drop_per_net: int = Field(
        2,
        ge=0,
        le=24,
        title="Dropped quantiles",
        description="Number of largest quantiles to drop, of 25 per critic.",
    )


class DDPGConfig(OffPolicyConfig):
    """Deep deterministic policy gradient (Lillicrap et al. 2015)."""

    learning_rate: float = learning_rate(1e-3)
    noise: float = fields.exploration_noise(0.1)


class TD3Config(DDPGConfig):
    """Twin delayed DDPG (Fujimoto et al. 2018)."""

    LIBRARY = (*OffPolicyConfig.LIBRARY, "policy_delay", "target_policy_noise", "target_noise_clip")

    policy_delay: int = fields.policy_delay(2)
    target_policy_noise: float = fields.target_noise(0.2)
    target_noise_clip: float = fields.target_noise_limit(0.5)
