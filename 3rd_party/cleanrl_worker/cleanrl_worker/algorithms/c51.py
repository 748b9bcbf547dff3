"""Categorical deep Q-learning (C51): learns a distribution of the return for each action.

After Bellemare, Dabney and Munos, "A Distributional Perspective on Reinforcement Learning", 2017: the return
of an action is a distribution over fixed atoms. The distribution one step later, multiplied by the discount
factor and shifted by the reward, is projected onto the atoms and learned by cross entropy. Default
hyperparameters are those of CleanRL's ``c51.py`` (Huang et al., JMLR 2022).

Exploration, replay, masks and time limits are as in :mod:`cleanrl_worker.algorithms.dqn`.

Shapes: B transitions of a batch, K atoms.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from cleanrl_worker.algorithms.dqn import DQN, train_values
from cleanrl_worker.algorithms.off_policy import Learner
from cleanrl_worker.algorithms.replay import Batch, ReplayBuffer
from cleanrl_worker.config.dqn import C51Config
from cleanrl_worker.off_policy_networks import ActionValues, mean_values, support
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments


def train(config: C51Config, environments: Environments, session: Session) -> Learner[ActionValues]:
    """Train up to ``config.total_steps`` steps or until the session stops; see :func:`train_off_policy`."""
    return train_values(C51, config, environments, session, config.n_atoms)


class C51(DQN):
    """Learns the distribution of each action's return; explores by its mean, as DQN explores by the value."""

    loss_name = "loss"

    def __init__(
        self, config: C51Config, policy: ActionValues, ring: ReplayBuffer, device: torch.device
    ) -> None:
        self.adam_epsilon = 0.01 / config.batch_size  # as in the paper
        super().__init__(config, policy, ring, device)
        self.atoms = support(config.v_min, config.v_max, config.n_atoms).to(device)

    def network(self) -> dict[str, Any]:
        """Return the network's description for ``policy.json``."""
        last = len(self.atoms) - 1
        more = {"atoms": last + 1, "v_min": float(self.atoms[0]), "v_max": float(self.atoms[last])}
        return {**super().network(), "type": "categorical_q_network", **more}

    def values(self, observations: Tensor) -> Tensor:
        """Return the expected return of each action, (N, actions)."""
        return mean_values(self.policy(observations), self.atoms)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss, and the mean value of the actions taken."""
        with torch.no_grad():
            following = next_distribution(self.target(batch.next_observations), batch.next_masks, self.atoms)
            wanted = project(batch.rewards, batch.terminated, following, self.atoms, self.config.gamma)
        loss, taken = cross_entropy(self.policy(batch.observations), batch.actions, wanted)
        return loss, (taken.exp() @ self.atoms).mean()


def project(
    rewards: Tensor, terminated: Tensor, next_probabilities: Tensor, atoms: Tensor, gamma: float
) -> Tensor:
    """Project the distribution of r + gamma Z' onto the atoms, by algorithm 1 of the paper.

    Each atom moves to its new place. Its probability is split between the two neighboring atoms, in
    proportion to how near they are; an atom that moves past an end stays at that end.

    Args:
        rewards: (B,).
        terminated: 1 if the transition ends the episode, (B,).
        next_probabilities: Distribution of the action chosen one step later, (B, K).
        atoms: (K,).
        gamma: Discount factor.

    Returns:
        Probabilities (B, K), each row summing to 1.
    """
    low, high, last = atoms[0], atoms[-1], len(atoms) - 1
    nonterminal = (gamma * (1.0 - terminated)).unsqueeze(-1)
    projected = (rewards.unsqueeze(-1) + nonterminal * atoms).clamp(low, high)
    place = (projected - low) / ((high - low) / last)
    below = place.floor().clamp(0, last)
    upper_share = place - below
    index = below.long()
    out = torch.zeros_like(next_probabilities)
    out.scatter_add_(-1, index, next_probabilities * (1.0 - upper_share))
    out.scatter_add_(-1, (index + 1).clamp(max=last), next_probabilities * upper_share)
    return out


@torch.no_grad()
def next_distribution(next_logits: Tensor, next_masks: Tensor | None, atoms: Tensor) -> Tensor:
    """Return the distribution of the best legal action one step later, (B, K).

    Args:
        next_logits: Outputs of the target network, (B, actions, K).
        next_masks: bool (B, actions), the actions legal one step later; ``None`` if all are.
        atoms: (K,).
    """
    probabilities = next_logits.softmax(-1)
    values = probabilities @ atoms
    if next_masks is not None:
        values = values.masked_fill(~next_masks, -math.inf)
    return probabilities[torch.arange(len(values), device=values.device), values.argmax(-1)]


def cross_entropy(logits: Tensor, actions: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean cross entropy of the actions taken, and their log-probabilities (B, K).

    Args:
        logits: (B, actions, K).
        actions: int64 (B,).
        wanted: Projected distributions, (B, K).
    """
    taken = logits[torch.arange(len(actions), device=actions.device), actions].log_softmax(-1)
    return -(wanted * taken).sum(-1).mean(), taken.detach()
