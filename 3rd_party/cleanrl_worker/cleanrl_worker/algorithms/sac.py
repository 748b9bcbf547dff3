"""Soft actor-critic: maximizes the return plus the entropy of the policy.

After Haarnoja, Zhou, Hartikainen et al., "Soft Actor-Critic Algorithms and Applications", 2018: two critics,
a Gaussian actor squashed by tanh, and a temperature that is tuned so that the policy's entropy is minus the
number of action components. The default rates and the range of the standard deviation are those of CleanRL's
``sac_continuous_action.py`` (Huang et al., JMLR 2022).

An episode truncated by a time limit is bootstrapped from its true last observation.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from cleanrl_worker.algorithms.continuous import ContinuousLearner, train_continuous
from cleanrl_worker.algorithms.replay import Batch
from cleanrl_worker.config.continuous import SACConfig
from cleanrl_worker.off_policy_networks import follow, squash
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments


def train(config: SACConfig, environments: Environments, session: Session) -> ContinuousLearner:
    """Train SAC; see :func:`cleanrl_worker.algorithms.continuous.train_continuous`."""
    return train_continuous(SAC, config, environments, session)


class SAC(ContinuousLearner):
    """Learns a stochastic actor, two critics and a temperature; see :class:`ContinuousLearner`."""

    gaussian = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.target = self.twin(self.policy.critics)
        self.temperature = self.register_module("temperature", Temperature(self.config.alpha).to(self.device))
        self.temperature_optimizer = self.adam("temperature", self.temperature, self.config.q_learning_rate)
        self.target_entropy = -float(self.bounds.size)

    def noisy(self, observations: Tensor, noise: Tensor) -> Tensor:
        """Return actions drawn from the policy."""
        mean, log_std = self.policy.actor(observations)
        return squash(mean, log_std, noise)[0]

    def update(self, batch: Batch) -> dict[str, Tensor]:
        """Take a gradient step of critics, actor and temperature, then move the target networks by
        ``tau``.
        """
        alpha = self.temperature().detach()
        metrics = self.learn_critics(batch, self.following(batch, alpha))
        actions, log_density = self.draw(batch.observations)
        values = self.policy.critics(batch.observations, actions).amin(0)
        metrics |= self.step_actor((alpha * log_density - values).mean())
        metrics["losses/alpha"] = alpha
        if self.config.autotune:
            metrics |= self.learn_temperature(log_density.detach())
        follow(self.target, self.policy.critics, self.config.tau)
        return metrics

    @torch.no_grad()
    def following(self, batch: Batch, alpha: Tensor) -> Tensor:
        """Return the soft value of the next state, (B,): the smaller critic's plus the entropy term."""
        actions, log_density = self.draw(batch.next_observations)
        return self.target(batch.next_observations, actions).amin(0) - alpha * log_density

    def draw(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Draw actions (B, A) from the current policy; return them with their log-densities (B,)."""
        mean, log_std = self.policy.actor(observations)
        return squash(mean, log_std, self.normal(mean.shape))

    @torch.no_grad()
    def learn_temperature(self, log_density: Tensor) -> dict[str, Tensor]:
        """Increase the temperature if the policy has less entropy than the target, else decrease it.

        The loss is -alpha (log pi + target entropy), so its slope along log alpha is the loss itself.
        """
        loss = -self.temperature() * (log_density.mean() + self.target_entropy)
        self.temperature.log_alpha.grad = loss.clone()
        self.temperature_optimizer.step()
        return {"losses/alpha_loss": loss}


class Temperature(nn.Module):
    """The weight of the entropy, learned as its logarithm so that it stays positive."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.log_alpha = nn.Parameter(torch.tensor(math.log(alpha)))

    def forward(self) -> Tensor:
        """Return the weight of the entropy."""
        return self.log_alpha.exp()
