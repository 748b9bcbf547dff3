"""Settings of algorithms that learn from their own rollouts."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from mosaic_worker.learning.training_settings import MAIN, num_envs_field
from sb3_worker.config.base import TrainingConfig, first_rate, minibatch


def length(default: int) -> Any:
    """``n_steps``."""
    return Field(
        default,
        ge=1,
        le=1_000_000,
        title="Rollout length",
        description="Steps of each environment between two updates.",
    )


def trace(default: float) -> Any:
    """``gae_lambda``."""
    return Field(
        default, ge=0, le=1, title="GAE lambda", description="Lambda of generalised advantage estimation."
    )


class OnPolicyConfig(TrainingConfig):
    """What algorithms that learn from their own rollouts can be told."""

    OWN = frozenset({"n_steps", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm"})

    n_steps: int = length(256)
    gae_lambda: float = trace(0.95)
    ent_coef: float = Field(
        0.0,
        ge=0,
        le=100,
        title="Entropy coefficient",
        description="Weight of the entropy bonus.",
        json_schema_extra=MAIN,
    )
    vf_coef: float = Field(
        0.5,
        ge=0,
        le=100,
        title="Value coefficient",
        description="Weight of the value loss, the squared error: 0.5 is 1.0 in cleanrl_worker.",
    )
    max_grad_norm: float = Field(
        0.5, gt=0, le=1000, title="Max gradient norm", description="Norm to which gradients are clipped."
    )

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
    """Proximal policy optimisation (Schulman et al. 2017)."""

    OWN = OnPolicyConfig.OWN | {"batch_size", "n_epochs", "clip_range", "target_kl", "normalize_advantage"}

    num_envs: int = num_envs_field(8)
    batch_size: int = minibatch(256)
    n_epochs: int = Field(10, ge=1, le=1000, title="Epochs", description="Passes over each rollout.")
    clip_range: float = Field(
        0.2, gt=0, le=10, title="Clip range", description="How far the probability ratio may move."
    )
    target_kl: float | None = Field(
        None,
        gt=0,
        le=100,
        title="Target KL",
        description="End the epochs of an update before a minibatch whose approximate KL divergence is "
        "above 1.5 times this (cleanrl_worker: after the epoch, above its own); none: never.",
    )
    normalize_advantage: bool = Field(
        True, title="Normalise advantages", description="Normalise advantages in each minibatch."
    )

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

    n_steps: int = length(128)
    batch_size: int = minibatch(128)
    lstm_size: int = Field(
        256, ge=1, le=8192, title="LSTM size", description="Numbers that the policy remembers."
    )


class A2CConfig(OnPolicyConfig):
    """Advantage actor critic (Mnih et al. 2016), synchronous."""

    num_envs: int = num_envs_field(8)
    learning_rate: float = first_rate(7e-4)
    n_steps: int = length(5)
    gae_lambda: float = trace(1.0)


class TRPOConfig(OnPolicyConfig):
    """Trust region policy optimisation (Schulman et al. 2015)."""

    OWN = frozenset({"n_steps", "gae_lambda", "batch_size", "target_kl", "cg_max_steps", "n_critic_updates"})

    num_envs: int = num_envs_field(4)
    learning_rate: float = first_rate(1e-3)
    batch_size: int = minibatch(128)
    target_kl: float = Field(
        0.01,
        gt=0,
        le=100,
        title="Target KL",
        description="Largest KL divergence of an update; a step that exceeds it is not taken.",
    )
    cg_max_steps: int = Field(
        15, ge=1, le=1000, title="CG steps", description="Steps of the conjugate gradient."
    )
    n_critic_updates: int = Field(
        10, ge=1, le=1000, title="Critic updates", description="Passes of the critic over each rollout."
    )
