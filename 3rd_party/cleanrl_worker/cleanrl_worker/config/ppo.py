"""Settings of PPO and of the algorithms that build on it."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from cleanrl_worker.config.base import TrainingConfig
from mosaic_worker.learning import training_fields as fields

MINIBATCH = 64
"""Steps in a minibatch if ``num_minibatches`` is not set."""


def clip_vloss(default: bool) -> Any:
    """Return the setting ``clip_vloss``."""
    return Field(
        default,
        title="Clip the value loss",
        description="Clip the value loss in the same way as the policy loss (sb3_worker never does).",
    )


def anneal(default: bool) -> Any:
    """Return the setting ``anneal_lr``."""
    return fields.anneal(
        default,
        "Decrease the learning rate linearly: full for the first rollout, one decrement above zero "
        "for the last (sb3_worker: to zero, by steps).",
    )


def minibatches(default: int | None) -> Any:
    """Return the setting ``num_minibatches``."""
    return fields.minibatches(
        default,
        "Parts into which a rollout is shuffled in each epoch; none: as many as leave "
        f"{MINIBATCH} steps in each.",
    )


def value_weight(default: float) -> Any:
    """Return the setting ``vf_coef``."""
    return fields.value_weight(
        default, "Weight of the value loss, half the squared error: 0.5 is 0.25 in sb3_worker."
    )


class OnPolicyConfig(TrainingConfig):
    """Settings of every algorithm that builds on PPO.

    The defaults are those of CleanRL's ``ppo.py``, with a learning rate that solves CartPole-v1 reliably. The
    defaults for an LSTM, for several agents and for self-play come from measurements.
    """

    num_steps: int = fields.rollout_length(128, main=True)
    learning_rate: float = fields.learning_rate(1e-3, "Adam's step size at the start.")
    anneal_lr: bool = anneal(True)
    gae_lambda: float = fields.gae_lambda(0.95)
    num_minibatches: int | None = minibatches(4)
    update_epochs: int = fields.epochs(4)
    clip_coef: float = fields.clip_range(0.2)
    clip_vloss: bool = clip_vloss(True)
    norm_adv: bool = fields.normalize_advantages(True)
    ent_coef: float = fields.entropy_weight(0.01)
    vf_coef: float = value_weight(0.5)
    max_grad_norm: float = fields.gradient_norm(0.5, le=None)
    target_kl: float | None = fields.target_kl(
        None,
        "End an update after an epoch whose last minibatch has an approximate KL divergence above "
        "this value (sb3_worker: at once, above 1.5 times the value); none: never.",
        le=None,
    )
    normalize_observations: bool = fields.normalize_observations(False)
    normalize_rewards: bool = fields.normalize_rewards(False)

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
        """Number of minibatches into which each epoch divides a rollout."""
        if self.num_minibatches is not None:
            return self.num_minibatches
        wanted = max(1, self.batch_size // MINIBATCH)
        return next(count for count in range(wanted, 0, -1) if not self.batch_size % count)

    @property
    def num_updates(self) -> int:
        """Number of rollouts in the whole training; the last one is complete."""
        return self.planned_steps() // self.batch_size


class PPOConfig(OnPolicyConfig):
    """Proximal policy optimization: on-policy, for discrete and continuous actions.

    The defaults are those of Stable-Baselines3's PPO, with eight environments instead of one: many small
    gradient steps on each rollout, a constant learning rate, and no clipping of the value loss to
    ``clip_coef``, which is much smaller than a return of unscaled rewards.
    """

    num_steps: int = fields.rollout_length(256, main=True)
    learning_rate: float = fields.learning_rate(3e-4, "Adam's step size at the start.")
    anneal_lr: bool = anneal(False)
    num_minibatches: int | None = minibatches(None)
    update_epochs: int = fields.epochs(10)
    clip_vloss: bool = clip_vloss(False)
    ent_coef: float = fields.entropy_weight(0.0)
    vf_coef: float = value_weight(1.0)


class PPOLSTMConfig(OnPolicyConfig):
    """PPO with a recurrent network (LSTM), for tasks in which one observation does not show the whole state.

    The value function shares the policy's memory. With returns of tens or hundreds, the value function's
    gradient would dominate so much that the policy would hardly learn (CartPole-v1 without velocities would
    stay at a return of 26), so rewards are scaled unless the user disables this.
    """

    normalize_rewards: bool = fields.normalize_rewards(True)
    lstm_size: int = fields.lstm_size(64, le=4096)

    @model_validator(mode="after")
    def _check_copies(self) -> PPOLSTMConfig:
        if self.num_envs % self.minibatches:
            raise ValueError(
                f"a minibatch has whole environments: num_envs = {self.num_envs} cannot be split into "
                f"num_minibatches = {self.minibatches}; change one of them"
            )
        return self
