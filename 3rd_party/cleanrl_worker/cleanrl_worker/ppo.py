"""Proximal policy optimisation, start to end in one file.

The algorithm is that of Schulman, Wolski, Dhariwal, Radford and Klimov, "Proximal Policy
Optimization Algorithms", 2017, with the details that make it work as collected by Huang,
Dossa, Raffin, Kanervisto and Wang, "The 37 Implementation Details of Proximal Policy
Optimization", ICLR blog track 2022; advantages after Schulman et al., "High-Dimensional
Continuous Control Using Generalized Advantage Estimation", 2016.

Two departures from the usual single file: a truncated episode is bootstrapped from the value
of its true last observation, and every random draw comes from one generator seeded with
``config.seed``, so that two trainings with one seed are equal bit for bit.

Shapes: T steps of a rollout, N copies of the environment, B = T x N.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cleanrl_worker.config import PPOConfig
from cleanrl_worker.environments import Environments, TrainingFailed
from cleanrl_worker.network import ActorCritic, Architecture, mask_logits


class Update(NamedTuple):
    """What is known after one update.

    Attributes:
        step: Environment steps so far.
        network: The network as it is now; it changes with the next update.
        metrics: Scalars by TensorBoard name.
        recent_returns: Returns of the last (at most 100) finished episodes.
    """

    step: int
    network: ActorCritic
    metrics: dict[str, float]
    recent_returns: tuple[float, ...]


class Rollout(NamedTuple):
    """T steps of N copies; all but ``next_value`` are (T, N) or (T, N, …)."""

    observations: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    rewards: Tensor
    ended: Tensor
    next_value: Tensor


def train(config: PPOConfig, environments: Environments, on_update: Callable[[Update], bool]) -> ActorCritic:
    """Train until ``config.total_steps`` are spent or ``on_update`` returns false.

    Args:
        config: Every setting.
        environments: Copies to train in, ``config.num_envs`` of them; the caller closes them.
        on_update: Called after each update; returns whether to go on.

    Raises:
        TrainingFailed: A loss is no finite number (the network is then still the last good one
            that ``on_update`` was shown), or an environment raised.
    """
    # One thread: small matrices gain nothing from two, and sums must not depend on the machine's load.
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(config.seed)
    network = ActorCritic(Architecture(environments.inputs, environments.actions, config.hidden))
    network.initialise(generator)
    # Adam's epsilon of 1e-5 is detail 3.
    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate, eps=1e-5)
    player = Player(config, environments, network, generator)
    for number in range(config.num_updates):
        if config.anneal_lr:
            optimizer.param_groups[0]["lr"] = config.learning_rate * (1.0 - number / config.num_updates)
        rollout = player.play()
        advantages = estimate_advantages(rollout, config.gamma, config.gae_lambda)
        losses = learn(config, network, optimizer, rollout, advantages, generator)
        metrics = {
            "charts/learning_rate": float(optimizer.param_groups[0]["lr"]),
            **player.metrics(),
            **losses,
        }
        step = (number + 1) * config.batch_size
        if not on_update(Update(step, network, metrics, tuple(player.returns))):
            break
    return network


class Player:
    """Plays rollouts, carrying on where the last one stopped.

    Attributes:
        returns: Returns of the last finished episodes.
        lengths: Their lengths.
    """

    def __init__(
        self, config: PPOConfig, environments: Environments, network: ActorCritic, generator: torch.Generator
    ) -> None:
        self._config = config
        self._environments = environments
        self._network = network
        self._generator = generator
        self._seen = environments.reset(config.seed)
        self._return = np.zeros(config.num_envs)
        self._length = np.zeros(config.num_envs, np.int64)
        self.returns: deque[float] = deque(maxlen=100)
        self.lengths: deque[int] = deque(maxlen=100)

    @torch.no_grad()
    def play(self) -> Rollout:
        """One rollout with the network as it is now."""
        config, envs = self._config, self._environments
        shape = (config.num_steps, config.num_envs)
        observations = torch.zeros((*shape, envs.inputs))
        masks = torch.ones((*shape, envs.actions), dtype=torch.bool)
        actions = torch.zeros(shape, dtype=torch.int64)
        log_probs, values, rewards, ended = (torch.zeros(shape) for _ in range(4))
        for t in range(config.num_steps):
            observations[t] = torch.from_numpy(self._seen.observations)
            if self._seen.masks is not None:
                masks[t] = torch.from_numpy(self._seen.masks)
            logits, values[t] = self._network(observations[t])
            all_log_probs = mask_logits(logits, masks[t]).log_softmax(-1)
            chosen = all_log_probs.exp().multinomial(1, generator=self._generator)
            actions[t] = chosen.squeeze(-1)
            log_probs[t] = all_log_probs.gather(-1, chosen).squeeze(-1)
            moved = envs.step(actions[t].numpy())
            self._count(moved.rewards, moved.terminated | moved.truncated)
            rewards[t] = torch.from_numpy(moved.rewards)
            ended[t] = torch.from_numpy((moved.terminated | moved.truncated).astype(np.float32))
            cut_off = moved.truncated & ~moved.terminated
            if moved.final_observations is not None and cut_off.any():
                # The episode would have gone on: what was still to come is the value of its end.
                _, beyond = self._network(torch.from_numpy(moved.final_observations))
                rewards[t] += config.gamma * beyond * torch.from_numpy(cut_off)
            self._seen = moved.seen
        _, next_value = self._network(torch.from_numpy(self._seen.observations))
        return Rollout(observations, masks, actions, log_probs, values, rewards, ended, next_value)

    def metrics(self) -> dict[str, float]:
        """Means over the last finished episodes; empty before the first has finished."""
        if not self.returns:
            return {}
        return {
            "charts/episodic_return": float(np.mean(self.returns)),
            "charts/episodic_length": float(np.mean(self.lengths)),
        }

    def _count(self, rewards: NDArray[np.float64], ended: NDArray[np.bool_]) -> None:
        self._return += rewards
        self._length += 1
        for i in np.flatnonzero(ended):
            self.returns.append(float(self._return[i]))
            self.lengths.append(int(self._length[i]))
        self._return[ended] = 0.0
        self._length[ended] = 0


def estimate_advantages(rollout: Rollout, gamma: float, gae_lambda: float) -> Tensor:
    """Generalised advantage estimation over a rollout, shape (T, N)."""
    advantages = torch.zeros_like(rollout.rewards)
    following, next_value = torch.zeros_like(rollout.next_value), rollout.next_value
    for t in reversed(range(len(advantages))):
        goes_on = 1.0 - rollout.ended[t]
        delta = rollout.rewards[t] + gamma * next_value * goes_on - rollout.values[t]
        following = delta + gamma * gae_lambda * goes_on * following
        advantages[t], next_value = following, rollout.values[t]
    return advantages


def learn(
    config: PPOConfig,
    network: ActorCritic,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    advantages: Tensor,
    generator: torch.Generator,
) -> dict[str, float]:
    """Epochs of minibatch gradient steps on one rollout.

    Returns:
        Losses and diagnostics of the last minibatch, by TensorBoard name.
    """
    batch = Rollout._make([*(x.flatten(0, 1) for x in rollout[:-1]), rollout.next_value])
    flat_advantages = advantages.flatten()
    targets = flat_advantages + batch.values
    size = config.batch_size // config.num_minibatches
    metrics: dict[str, float] = {}
    for _ in range(config.update_epochs):
        for rows in torch.randperm(config.batch_size, generator=generator).split(size):
            loss, metrics = _loss(config, network, batch, flat_advantages, targets, rows)
            if not math.isfinite(metrics["losses/total"]):
                raise TrainingFailed(
                    "the loss is no finite number any more; lower learning_rate, or check the rewards"
                )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), config.max_grad_norm)
            optimizer.step()
        if config.target_kl is not None and metrics["losses/approx_kl"] > config.target_kl:
            break
    spread = float(targets.var())
    unexplained = float((targets - batch.values).var())
    metrics["losses/explained_variance"] = 1.0 - unexplained / spread if spread > 0 else 0.0
    return metrics


def _loss(
    config: PPOConfig, network: ActorCritic, batch: Rollout, advantages: Tensor, targets: Tensor, rows: Tensor
) -> tuple[Tensor, dict[str, float]]:
    """Clipped surrogate, clipped value loss and entropy bonus on some rows of a batch."""
    logits, values = network(batch.observations[rows])
    log_probs = mask_logits(logits, batch.masks[rows]).log_softmax(-1)
    # Illegal actions have probability zero and log-probability minus infinity: 0 * -inf must count as 0.
    entropy = -(log_probs.exp() * log_probs.masked_fill(~batch.masks[rows], 0.0)).sum(-1).mean()
    chosen = log_probs.gather(-1, batch.actions[rows].unsqueeze(-1)).squeeze(-1)
    log_ratio = chosen - batch.log_probs[rows]
    ratio = log_ratio.exp()

    gain = advantages[rows]
    if config.norm_adv:
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    clipped_ratio = ratio.clamp(1 - config.clip_coef, 1 + config.clip_coef)
    policy_loss = -torch.min(gain * ratio, gain * clipped_ratio).mean()

    error = (values - targets[rows]) ** 2
    if config.clip_vloss:
        old = batch.values[rows]
        near = old + (values - old).clamp(-config.clip_coef, config.clip_coef)
        error = torch.max(error, (near - targets[rows]) ** 2)
    value_loss = 0.5 * error.mean()

    loss = policy_loss - config.ent_coef * entropy + config.vf_coef * value_loss
    with torch.no_grad():
        metrics = {
            "losses/total": loss.item(),
            "losses/policy_loss": policy_loss.item(),
            "losses/value_loss": value_loss.item(),
            "losses/entropy": entropy.item(),
            # The estimator with low variance of http://joschu.net/blog/kl-approx.html.
            "losses/approx_kl": ((ratio - 1) - log_ratio).mean().item(),
            "losses/clip_fraction": ((ratio - 1).abs() > config.clip_coef).float().mean().item(),
        }
    return loss, metrics
