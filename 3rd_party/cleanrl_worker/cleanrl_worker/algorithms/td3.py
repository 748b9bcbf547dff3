"""Twin delayed deep deterministic policy gradient: DDPG with three improvements.

After Fujimoto, van Hoof and Meger, "Addressing Function Approximation Error in Actor-Critic Methods", 2018:
the target is the smaller value of two critics, the target's action is smoothed by clipped noise, and the
actor and the target networks are updated once per several steps of the critics. Default noise and layers are
those of CleanRL's ``td3_continuous_action.py`` (Huang et al., JMLR 2022); rate, batch and start are those of
Stable-Baselines3 (Raffin et al., JMLR 2021).

All other steps are those of :mod:`cleanrl_worker.algorithms.ddpg`.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import torch
from torch import Tensor

from cleanrl_worker.algorithms.continuous import ContinuousLearner, train_continuous
from cleanrl_worker.algorithms.ddpg import DDPG
from cleanrl_worker.algorithms.replay import Batch
from cleanrl_worker.config.continuous import TD3Config
from cleanrl_worker.off_policy_networks import follow
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments


def train(config: TD3Config, environments: Environments, session: Session) -> ContinuousLearner:
    """Train TD3; see :func:`cleanrl_worker.algorithms.continuous.train_continuous`."""
    return train_continuous(TD3, config, environments, session)


class TD3(DDPG):
    """Learns a deterministic actor and two critics."""

    critics = 2

    def update(self, batch: Batch) -> dict[str, Tensor]:
        """Take a gradient step of the critics, and every ``policy_frequency`` steps one of the actor."""
        metrics = self.learn_critics(batch, self.following(batch))
        if self.updates % self.config.policy_frequency == 0:
            metrics |= self.learn_actor(batch)
            follow(self.target, self.policy, self.config.tau)
        return metrics

    @torch.no_grad()
    def following(self, batch: Batch) -> Tensor:
        """Return the smaller target value of the next state with a smoothed action, (B,)."""
        chosen = self.target.actor(batch.next_observations)
        noise = self.normal(chosen.shape)
        actions = smoothed(chosen, noise, self.config.policy_noise, self.config.noise_clip)
        return self.target.critics(batch.next_observations, actions).amin(0)


def smoothed(actions: Tensor, noise: Tensor, scale: float, limit: float) -> Tensor:
    """Add noise of standard deviation ``scale``, clipped to ±``limit``, to actions; clip these to [-1, 1]."""
    return (actions + (noise * scale).clamp(-limit, limit)).clamp(-1.0, 1.0)
