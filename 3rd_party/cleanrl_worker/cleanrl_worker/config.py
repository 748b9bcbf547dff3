"""Every setting of a PPO training, with the values that solve CartPole-v1 reliably."""

from __future__ import annotations

import math
from dataclasses import dataclass


class ConfigError(ValueError):
    """A training that cannot be run as asked; the message is one sentence for the person."""


@dataclass(frozen=True)
class PPOConfig:
    """Proximal policy optimisation for discrete actions and vector observations."""

    env_id: str = "CartPole-v1"
    """Gymnasium id of the environment (``package:Id-v0`` imports ``package`` first)."""
    seed: int = 1
    """The one seed that environments, initialisation, sampling and shuffling derive from."""
    total_steps: int = 500_000
    """Environment steps of the whole training, over all copies."""
    num_envs: int = 8
    """Copies of the environment stepped together."""
    num_steps: int = 128
    """Steps of each copy between two updates (the rollout)."""
    learning_rate: float = 1e-3
    """Adam's step size at the start."""
    anneal_lr: bool = True
    """Let the learning rate fall linearly to zero."""
    gamma: float = 0.99
    """Discount factor."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation."""
    num_minibatches: int = 4
    """Parts into which a rollout is shuffled in each epoch."""
    update_epochs: int = 4
    """Passes over each rollout."""
    clip_coef: float = 0.2
    """How far the probability ratio may move before its gradient is cut."""
    clip_vloss: bool = True
    """Clip the value loss as the policy loss is."""
    norm_adv: bool = True
    """Normalise advantages in each minibatch."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus."""
    vf_coef: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Global norm to which gradients are clipped."""
    target_kl: float | None = None
    """Stop the epochs of an update once the approximate KL divergence exceeds this."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers, for policy and value alike."""

    def __post_init__(self) -> None:
        """Refuse what cannot work.

        Raises:
            ConfigError: Naming the setting and what it must be.
        """
        for name in ("total_steps", "num_envs", "num_steps", "num_minibatches", "update_epochs"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("gamma", "gae_lambda"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError(f"{name} must lie between 0 and 1, not {getattr(self, name)}")
        for name in ("learning_rate", "clip_coef", "max_grad_norm"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ConfigError(f"{name} must be a positive number, not {getattr(self, name)}")
        for name in ("ent_coef", "vf_coef"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name} must be zero or a positive number, not {getattr(self, name)}")
        if self.target_kl is not None and not 0.0 < self.target_kl < math.inf:
            raise ConfigError(f"target_kl must be a positive number, not {self.target_kl}")
        if not 0 <= self.seed < 2**63 - self.num_envs:
            raise ConfigError(f"seed must be a non-negative 63-bit integer, not {self.seed}")
        if not self.hidden or min(self.hidden) < 1 or max(self.hidden) > 65_536:
            raise ConfigError(f"hidden must be widths from 1 to 65536, not {list(self.hidden)}")
        if self.batch_size % self.num_minibatches:
            raise ConfigError(
                f"num_envs x num_steps = {self.batch_size} cannot be split into "
                f"{self.num_minibatches} equal minibatches; change num_minibatches"
            )
        if self.batch_size // self.num_minibatches < 2:
            raise ConfigError("a minibatch needs at least 2 steps; lower num_minibatches")
        if self.total_steps < self.batch_size:
            raise ConfigError(
                f"total_steps = {self.total_steps} is less than one rollout of "
                f"num_envs x num_steps = {self.batch_size}; raise total_steps"
            )

    @property
    def batch_size(self) -> int:
        """Steps in one rollout, over all copies."""
        return self.num_envs * self.num_steps

    @property
    def num_updates(self) -> int:
        """Rollouts in the whole training; a last part of a rollout is not played."""
        return self.total_steps // self.batch_size
