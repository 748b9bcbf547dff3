"""Deep deterministic policy gradient: the actor follows the gradient of its critic.

After Lillicrap, Hunt, Pritzel et al., "Continuous control with deep reinforcement learning", 2016. Default
rates are those of CleanRL's ``ddpg_continuous_action.py`` (Huang et al., JMLR 2022), which explores with
Gaussian noise instead of the paper's Ornstein-Uhlenbeck process.

An episode truncated by a time limit is bootstrapped from its true last observation.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cleanrl_worker.algorithms.continuous import ContinuousLearner, train_continuous
from cleanrl_worker.algorithms.replay import Batch
from cleanrl_worker.config.continuous import DDPGConfig
from cleanrl_worker.off_policy_networks import follow
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments


def train(config: DDPGConfig, environments: Environments, session: Session) -> ContinuousLearner:
    """Train DDPG; see :func:`cleanrl_worker.algorithms.continuous.train_continuous`."""
    return train_continuous(DDPG, config, environments, session)


class DDPG(ContinuousLearner):
    """Learns a deterministic actor and one critic; arguments are those of :class:`ContinuousLearner`."""

    critics = 1

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.target = self.twin(self.policy)

    def play(self) -> dict[str, float]:
        """Return the standard deviation of the exploration noise, which sampling adds too."""
        return {"noise": self.config.exploration_noise}

    def noisy(self, observations: Tensor, noise: Tensor) -> Tensor:
        """Return the actor's actions with Gaussian noise, clipped to [-1, 1]."""
        return (self.policy.actor(observations) + self.config.exploration_noise * noise).clamp(-1.0, 1.0)

    def update(self, batch: Batch) -> dict[str, Tensor]:
        """Take one gradient step of the critic and one of the actor, then move the target networks by
        ``tau``.
        """
        metrics = self.learn_critics(batch, self.following(batch))
        metrics |= self.learn_actor(batch)
        follow(self.target, self.policy, self.config.tau)
        return metrics

    @torch.no_grad()
    def following(self, batch: Batch) -> Tensor:
        """Return the target networks' value of the next state, (B,)."""
        actions = self.target.actor(batch.next_observations)
        return self.target.critics(batch.next_observations, actions).amin(0)

    def learn_actor(self, batch: Batch) -> dict[str, Tensor]:
        """Take a gradient step of the actor toward actions that the first critic values more."""
        actions = self.policy.actor(batch.observations)
        return self.step_actor(-self.policy.critics(batch.observations, actions, first=True).mean())
