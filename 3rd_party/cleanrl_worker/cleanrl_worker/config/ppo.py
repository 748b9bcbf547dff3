"""Settings of PPO and of what builds on it."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from cleanrl_worker.config.base import MAIN, TrainingConfig
from mosaic_worker.learning.training_settings import rate


def scaled(default: bool) -> Any:
    """``normalize_rewards``."""
    return Field(
        default,
        title="Normalise rewards",
        description="Learn from rewards divided by the spread of the discounted return.",
    )


def rollout(default: int) -> Any:
    """``num_steps``."""
    return Field(
        default,
        ge=1,
        le=1_000_000,
        title="Rollout length",
        description="Steps of each environment between two updates.",
        json_schema_extra=MAIN,
    )


def values_held(default: bool) -> Any:
    """``clip_vloss``."""
    return Field(
        default,
        title="Clip the value loss",
        description="Clip the value loss as the policy loss is (sb3_worker never does).",
    )


def epochs(default: int) -> Any:
    """``update_epochs``."""
    return Field(default, ge=1, le=1000, title="Epochs", description="Passes over each rollout.")


def falling(default: bool) -> Any:
    """``anneal_lr``."""
    return Field(
        default,
        title="Anneal the learning rate",
        description="Let the learning rate fall linearly: whole for the first rollout, one step above zero "
        "for the last (sb3_worker: by the steps played, to zero).",
    )


MINIBATCH = 64
"""Steps of a minibatch, where nothing is said of how many there are."""


def minibatches(default: int | None) -> Any:
    """``num_minibatches``."""
    return Field(
        default,
        ge=1,
        title="Minibatches",
        description="Parts into which a rollout is shuffled in each epoch; none: as many as leave "
        f"{MINIBATCH} steps in each.",
    )


def entropy(default: float) -> Any:
    """``ent_coef``."""
    return Field(
        default,
        ge=0,
        le=100,
        title="Entropy coefficient",
        description="Weight of the entropy bonus.",
        json_schema_extra=MAIN,
    )


def value_weight(default: float) -> Any:
    """``vf_coef``."""
    return Field(
        default,
        ge=0,
        le=100,
        title="Value coefficient",
        description="Weight of the value loss, half the squared error: 0.5 is 0.25 in sb3_worker.",
    )


class OnPolicyConfig(TrainingConfig):
    """What every algorithm that builds on PPO can be told.

    Values are those of CleanRL's ``ppo.py``, with a learning rate that solves CartPole-v1 reliably. With
    memory, with several agents and in self-play they are what was measured.
    """

    num_steps: int = rollout(128)
    learning_rate: float = rate(1e-3, "Adam's step size at the start.")
    anneal_lr: bool = falling(True)
    gae_lambda: float = Field(
        0.95, ge=0, le=1, title="GAE lambda", description="Lambda of generalised advantage estimation."
    )
    num_minibatches: int | None = minibatches(4)
    update_epochs: int = epochs(4)
    clip_coef: float = Field(
        0.2,
        gt=0,
        le=10,
        title="Clip range",
        description="How far the probability ratio may move before its gradient is cut.",
    )
    clip_vloss: bool = values_held(True)
    norm_adv: bool = Field(
        True, title="Normalise advantages", description="Normalise advantages in each minibatch."
    )
    ent_coef: float = entropy(0.01)
    vf_coef: float = value_weight(0.5)
    max_grad_norm: float = Field(
        0.5, gt=0, title="Max gradient norm", description="Global norm to which gradients are clipped."
    )
    target_kl: float | None = Field(
        None,
        gt=0,
        title="Target KL",
        description="End the epochs of an update after the one whose last minibatch has an approximate KL "
        "divergence above this (sb3_worker: at once, above 1.5 times its own); none: never.",
    )
    normalize_observations: bool = Field(
        False,
        title="Normalise observations",
        description="Show vectors with mean 0 and variance 1; the statistics travel with the policy.",
    )
    normalize_rewards: bool = scaled(False)

    @model_validator(mode="after")
    def _check_batches(self) -> OnPolicyConfig:
        if self.batch_size % self.minibatches:
            raise ValueError(
                f"num_envs x num_steps = {self.batch_size} cannot be split into "
                f"{self.minibatches} equal minibatches; change num_minibatches"
            )
        if self.batch_size // self.minibatches < 2:
            raise ValueError("a minibatch needs at least 2 steps; lower num_minibatches")
        if self.total_steps < self.batch_size:
            raise ValueError(
                f"total_steps = {self.total_steps} is less than one rollout of "
                f"num_envs x num_steps = {self.batch_size}; raise total_steps"
            )
        return self

    @property
    def batch_size(self) -> int:
        """Steps in one rollout, over all parallel environments."""
        return self.num_envs * self.num_steps

    @property
    def rollout(self) -> int:
        return self.batch_size

    @property
    def minibatches(self) -> int:
        """Parts of a rollout in each epoch."""
        if self.num_minibatches is not None:
            return self.num_minibatches
        wanted = max(1, self.batch_size // MINIBATCH)
        return next(count for count in range(wanted, 0, -1) if not self.batch_size % count)

    @property
    def num_updates(self) -> int:
        """Rollouts in the whole training, the last one whole."""
        return self.planned_steps() // self.batch_size


class PPOConfig(OnPolicyConfig):
    """Proximal policy optimisation: on-policy, for discrete and continuous actions alike.

    Values are those of Stable-Baselines3's PPO, over eight environments in place of one: many small gradient
    steps on each rollout, a constant learning rate, and values that are not held to moves of ``clip_coef``,
    which is far less than a return of unscaled rewards.
    """

    num_steps: int = rollout(256)
    learning_rate: float = rate(3e-4, "Adam's step size at the start.")
    anneal_lr: bool = falling(False)
    num_minibatches: int | None = minibatches(None)
    update_epochs: int = epochs(10)
    clip_vloss: bool = values_held(False)
    ent_coef: float = entropy(0.0)
    vf_coef: float = value_weight(1.0)


class PPOLSTMConfig(OnPolicyConfig):
    """PPO with a recurrent network (LSTM): for what one observation alone does not show.

    The value function looks out of the policy's memory. Returns of tens or hundreds would make its
    gradient so much the larger of the two that the policy hardly learns (CartPole-v1 without its
    velocities stays at a return of 26), so rewards are scaled unless somebody says otherwise.
    """

    normalize_rewards: bool = scaled(True)
    lstm_size: int = Field(
        64, ge=1, le=4096, title="LSTM size", description="Numbers that the network remembers."
    )

    @model_validator(mode="after")
    def _check_copies(self) -> PPOLSTMConfig:
        if self.num_envs % self.minibatches:
            raise ValueError(
                f"a minibatch holds whole environments: num_envs = {self.num_envs} cannot be split into "
                f"num_minibatches = {self.minibatches}; change one of them"
            )
        return self
