"""Deep Q-learning (DQN): learns a value for each action from stored transitions.

After Mnih, Kavukcuoglu, Silver et al., "Human-level control through deep reinforcement learning", Nature 518,
2015: replay buffer, a target network that is updated periodically, epsilon-greedy exploration. Default
hyperparameters are those of CleanRL's ``dqn.py`` (Huang et al., "CleanRL: High-quality Single-file
Implementations of Deep Reinforcement Learning Algorithms", JMLR 2022). As there, neither the squared error
nor the rewards are clipped.

There are two differences. An episode truncated by a time limit is bootstrapped from its true last
observation. If the environment masks actions, illegal ones are never explored, chosen or used in targets.

Shapes: B transitions of a batch, N parallel environments.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cleanrl_worker.algorithms.exploration import linear_schedule, random_legal
from cleanrl_worker.algorithms.off_policy import Learner, checked, train_off_policy
from cleanrl_worker.algorithms.replay import Batch, ReplayBuffer
from cleanrl_worker.architecture import Encoding
from cleanrl_worker.config.dqn import DQNConfig, ValueConfig
from cleanrl_worker.off_policy_networks import ActionValues, follow
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments


def train(config: DQNConfig, environments: Environments, session: Session) -> Learner[ActionValues]:
    """Train up to ``config.total_steps`` steps or until the session stops; see :func:`train_off_policy`."""
    return train_values(DQN, config, environments, session)


def train_values(
    kind: type[DQN], config: ValueConfig, environments: Environments, session: Session, atoms: int = 1
) -> DQN:
    """Train DQN or C51 and return the learner."""
    seen = environments.begin()
    shape, dtype = seen.observations.shape[1:], seen.observations.dtype
    policy = ActionValues(Encoding.of(shape, dtype == np.uint8), config.hidden, environments.actions, atoms)
    policy.initialise(torch.Generator().manual_seed(config.seed))
    ring = ReplayBuffer(config.buffer_size, (shape, dtype), ((), np.int64))
    learner = kind(config, policy.to(session.device), ring, session.device)
    train_off_policy(config, environments, seen, session, learner)
    return learner


class DQN(Learner[ActionValues]):
    """Learns a value for each action; arguments are those of :class:`Learner`."""

    loss_name = "td_loss"
    adam_epsilon = 1e-8

    def __init__(
        self, config: ValueConfig, policy: ActionValues, ring: ReplayBuffer, device: torch.device
    ) -> None:
        super().__init__(config, policy, ring, device)
        self.config = config
        self.target = self.twin(policy)
        self.optimizer = self.adam("policy", policy, config.learning_rate, self.adam_epsilon)

    def network(self) -> dict[str, Any]:
        """Return the network's description for ``policy.json``."""
        return {"type": "q_network", **self.policy.to_json(), "epsilon": self.config.end_e}

    def explore(self, observations: Tensor, masks: NDArray[np.bool_] | None, step: int) -> NDArray[Any]:
        """Return epsilon-greedy actions, int64 (N,) from zero; all random before ``learning_starts``."""
        config, count = self.config, len(observations)
        epsilon = linear_schedule(
            config.start_e, config.end_e, config.exploration_fraction * config.total_steps, step
        )
        draws = self.chance.random((2, count))
        legal = np.ones((count, self.policy.actions), np.bool_) if masks is None else masks
        actions = random_legal(legal, draws[1])
        greedy = (draws[0] >= epsilon) & (step >= config.learning_starts)
        if greedy.any():
            with torch.inference_mode():
                values = self.values(observations).cpu().numpy()
            best = np.where(legal, values, -np.inf).argmax(axis=1)
            actions[greedy] = best[greedy]
        return actions

    def update(self, batch: Batch) -> dict[str, Tensor]:
        """Take one gradient step and return its metrics."""
        loss, values = self.loss(batch)
        checked(loss)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {f"losses/{self.loss_name}": loss.detach(), "losses/q_values": values}

    def values(self, observations: Tensor) -> Tensor:
        """Return the value of each action, (N, actions)."""
        return self.policy(observations)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss, and the mean value of the actions taken."""
        with torch.no_grad():
            following = self.target(batch.next_observations)
            targets = action_value_targets(
                batch.rewards, batch.terminated, following, batch.next_masks, self.config.gamma
            )
        return td_loss(self.policy(batch.observations), batch.actions, targets)

    def passed(self, before: int, step: int) -> None:
        """Update the target network if the training has passed a multiple of ``target_network_frequency``."""
        every = self.config.target_network_frequency
        if step // every > before // every:
            follow(self.target, self.policy, self.config.tau)


def action_value_targets(
    rewards: Tensor, terminated: Tensor, next_values: Tensor, next_masks: Tensor | None, gamma: float
) -> Tensor:
    """Return the targets for the values of the actions taken: r + gamma max Q'(s', a'), shape (B,).

    Args:
        rewards: (B,).
        terminated: 1 if the transition ends the episode, (B,).
        next_values: The target network's values one step later, (B, actions).
        next_masks: bool (B, actions), the actions legal one step later; ``None`` if all are.
        gamma: Discount factor.
    """
    if next_masks is not None:
        next_values = next_values.masked_fill(~next_masks, -math.inf)
    best = next_values.amax(-1)
    # A terminal state may have no legal action, and minus infinity times zero is NaN.
    return rewards + gamma * torch.where(terminated > 0, 0.0, best)


def td_loss(values: Tensor, actions: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean squared error of the values of the actions taken, and the mean of these values.

    Args:
        values: (B, actions).
        actions: int64 (B,).
        targets: (B,).
    """
    taken = values.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    return nn.functional.mse_loss(taken, targets), taken.detach().mean()
