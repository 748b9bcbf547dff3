"""Code shared by DDPG, TD3 and SAC: bounded actions, an actor with critics, and exploration.

Actions are stored and learnt in [-1, 1] and scaled to the bounds before the environment gets them.

Shapes: B transitions of a batch, N parallel environments, A components of an action.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cleanrl_worker.algorithms.off_policy import Learner, checked, train_off_policy
from cleanrl_worker.algorithms.replay import Batch, ReplayBuffer
from cleanrl_worker.architecture import Encoding
from cleanrl_worker.bounds import Bounds
from cleanrl_worker.config.continuous import ContinuousConfig
from cleanrl_worker.off_policy_networks import ActorAndCritics
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.learning.training_command import ConfigError


class ContinuousLearner(Learner[ActorAndCritics]):
    """An actor and critics, with the learning steps that DDPG, TD3 and SAC share.

    Args:
        config: Settings of the training.
        policy: Actor and critics, on the training device.
        ring: Replay buffer.
        device: Device of the policy.
        bounds: Bounds of the environment's actions.
    """

    gaussian = False
    """Whether the actor gives a distribution."""
    critics = 2
    """Number of critics."""

    def __init__(
        self, config: Any, policy: ActorAndCritics, ring: ReplayBuffer, device: torch.device, bounds: Bounds
    ) -> None:
        super().__init__(config, policy, ring, device)
        self.config = config
        self.bounds = bounds
        critics_rate = getattr(config, "q_learning_rate", config.learning_rate)
        self.actor_optimizer = self.adam("actor", policy.actor, config.learning_rate)
        self.critic_optimizer = self.adam("critics", policy.critics, critics_rate)

    def network(self) -> dict[str, Any]:
        """Return the network's description for ``policy.json``."""
        return {**self.policy.to_json(), **self.play()}

    def play(self) -> dict[str, float]:
        """Return the entries of ``policy.json`` about sampling, which are added to those of the network."""
        return {}

    def played(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Convert actions of the replay buffer to the environment's own units."""
        return self.bounds.scale(actions).astype(np.float32)

    def explore(self, observations: Tensor, masks: NDArray[np.bool_] | None, step: int) -> NDArray[Any]:
        """Return the policy's actions with noise, float32 (N, A); before ``learning_starts``, random ones."""
        shape = (len(observations), self.bounds.size)
        if step < self.config.learning_starts:
            return self.chance.uniform(-1.0, 1.0, shape).astype(np.float32)
        noise = torch.from_numpy(self.chance.standard_normal(shape).astype(np.float32))
        with torch.inference_mode():
            return self.noisy(observations, noise.to(self.device)).cpu().numpy()

    @abstractmethod
    def noisy(self, observations: Tensor, noise: Tensor) -> Tensor:
        """Return actions in [-1, 1] for observations (N, …) and standard normal noise (N, A)."""

    def learn_critics(self, batch: Batch, following: Tensor) -> dict[str, Tensor]:
        """Take a gradient step of the critics towards r + gamma V(s').

        Args:
            batch: Transitions to learn from.
            following: Value V(s') of the next state, (B,).
        """
        targets = batch.rewards + self.config.gamma * (1.0 - batch.terminated) * following
        values = self.policy.critics(batch.observations, batch.actions)
        losses = (values - targets).square().mean(-1)
        loss = losses.sum()
        checked(loss)
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        return critic_metrics(values.detach(), losses.detach())

    def step_actor(self, loss: Tensor) -> dict[str, Tensor]:
        """Take a gradient step of the actor that lowers ``loss``; the critics are not changed."""
        checked(loss)
        self.actor_optimizer.zero_grad()
        loss.backward(inputs=list(self.policy.actor.parameters()))
        self.actor_optimizer.step()
        return {"losses/actor_loss": loss.detach()}


def critic_metrics(values: Tensor, losses: Tensor) -> dict[str, Tensor]:
    """Return mean value and loss of each critic, by CleanRL's names.

    Values have the shape (count, B), losses (count,).
    """
    found: dict[str, Tensor] = {}
    for i, (mean, loss) in enumerate(zip(values.mean(-1), losses, strict=True), start=1):
        found[f"losses/qf{i}_values"] = mean
        found[f"losses/qf{i}_loss"] = loss
    if len(losses) > 1:
        found["losses/qf_loss"] = losses.mean()
    return found


def train_continuous(
    kind: type[ContinuousLearner], config: ContinuousConfig, environments: Environments, session: Session
) -> ContinuousLearner:
    """Train up to ``config.total_steps`` steps or until the session stops.

    Raises:
        ConfigError: The actions have no finite bounds, or observations are images.
    """
    space, shown = environments.action_space, environments.observation_space
    if len(shown.shape) > 2:
        raise ConfigError(
            f"{config.env_id} shows images of shape {shown.shape}, but this algorithm learns from vectors. "
            "Learn it with ppo, or choose another entry of the observation with select"
        )
    try:
        bounds = Bounds(space.low, space.high)
    except ValueError as error:
        raise ConfigError(f"{config.env_id}: {error}. Use ppo, which needs no bounds") from error
    seen = environments.begin()
    shape, dtype = seen.observations.shape[1:], seen.observations.dtype
    policy = ActorAndCritics(
        Encoding.of(shape, dtype == np.uint8),
        bounds.size,
        config.hidden,
        gaussian=kind.gaussian,
        critics=kind.critics,
    )
    policy.initialise(torch.Generator().manual_seed(config.seed))
    ring = ReplayBuffer(config.buffer_size, (shape, dtype), ((bounds.size,), np.float32))
    learner = kind(config, policy.to(session.device), ring, session.device, bounds)
    train_off_policy(config, environments, seen, session, learner)
    return learner
