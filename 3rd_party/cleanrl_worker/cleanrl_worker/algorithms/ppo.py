"""Proximal policy optimization (PPO), the whole algorithm in one file.

The algorithm is that of Schulman, Wolski, Dhariwal, Radford and Klimov, "Proximal Policy
Optimization Algorithms", 2017, with the details that make it work as collected by Huang,
Dossa, Raffin, Kanervisto and Wang, "The 37 Implementation Details of Proximal Policy
Optimization", ICLR blog track 2022; advantages after Schulman et al., "High-Dimensional
Continuous Control Using Generalized Advantage Estimation", 2016.

There are two differences from the usual single file. A truncated episode is bootstrapped from the value of
its true last observation, and every random draw comes from one generator seeded with ``config.seed``, so that
two trainings with one seed are equal bit for bit.

Shapes: T steps of a rollout, N parallel environments, B = T x N.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from cleanrl_worker.algorithms.adam import Adam
from cleanrl_worker.architecture import Architecture, Encoding
from cleanrl_worker.config.ppo import OnPolicyConfig
from cleanrl_worker.distributions import distribution_of
from cleanrl_worker.network import ActorCritic
from cleanrl_worker.session import Session
from cleanrl_worker.state import (
    pack_generator,
    pack_module,
    pack_optimizer,
    restore_generator,
    restore_module,
    restore_optimizer,
)
from cleanrl_worker.vector_environments import Environments, PolicyInput, Transition
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.training_command import TrainingFailed
from mosaic_worker.learning.training_state import State


class Rollout(NamedTuple):
    """T steps of N environments; all but ``next_value`` are (T, N) or (T, N, …)."""

    observations: Tensor
    masks: Tensor | None
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    rewards: Tensor
    dones: Tensor
    next_value: Tensor


class LearnerView(Protocol):
    """Properties of environments that a learner needs, see :class:`Environments`."""

    @property
    def count(self) -> int: ...
    @property
    def observation_space(self) -> Any: ...
    @property
    def action_space(self) -> Any: ...
    @property
    def actions(self) -> int: ...


class TrainingEnvironments(LearnerView, Protocol):
    """Environments that can be stepped: with one agent, or games of one agent against others."""

    def step(self, actions: Any) -> Transition: ...


def train(config: OnPolicyConfig, environments: Environments, session: Session) -> PPO:
    """Train up to ``config.total_steps`` steps or until the session stops.

    Args:
        config: Settings of the training.
        environments: Environments to train in, ``config.num_envs`` of them; the caller closes them.
        session: Receives reports and says when to stop.

    Raises:
        TrainingFailed: A loss is not finite, or an environment raised. The network is then still that of the
            last complete update.
    """
    learner = PPO(config, environments, session.device, session.restored)
    seen = environments.begin()
    for number in range(session.step // config.batch_size, config.num_updates):
        learner.anneal(number)
        rollout, seen = collect_rollout(learner, environments, session, seen)
        metrics = update(learner, rollout)
        session.metrics(session.step, metrics)
        if not session.advance(session.step, learner):
            break
    return learner


class PPO:
    """PPO's network with its optimizer and random generator.

    Args:
        config: Settings of the training.
        environments: Environments to learn in.
        device: Device of the network.
        restored: State of the training that is resumed.
        seed: Seed of all random numbers; by default that of the training.

    Attributes:
        num_envs: N, the number of parallel environments.
        model: Policy and value function.
        head: Turns the policy's outputs into actions.
        optimizer: Adam.
        generator: Source of all random numbers.
    """

    def __init__(
        self,
        config: OnPolicyConfig,
        environments: LearnerView,
        device: torch.device,
        restored: State | None = None,
        seed: int | None = None,
    ) -> None:
        self.config, self.device = config, device
        self.num_envs = environments.count
        self.generator = torch.Generator().manual_seed(config.seed if seed is None else seed)
        self.head, self.distribution = distribution_of(describe(environments.action_space))
        self.model = self.build(environments)
        self.model.initialise(self.generator)
        self.model.to(self.device)
        # Adam's epsilon of 1e-5 is detail 3.
        self.optimizer = Adam(self.model.parameters(), config.learning_rate, 1e-5)
        if restored is not None:
            restore_module("network", self.model, restored)
            restore_optimizer("optimizer", self.optimizer, restored)
            restore_generator("generator", self.generator, restored)

    def build(self, environments: LearnerView) -> Any:
        """Build a network that fits the environment."""
        return ActorCritic(self.architecture(environments))

    def architecture(self, environments: LearnerView) -> Architecture:
        """Return the architecture that fits the environment."""
        space = environments.observation_space
        encoding = Encoding.of(space.shape, space.dtype == np.uint8)
        return Architecture(encoding, self.head.outputs, self.head.continuous, self.config.hidden)

    def anneal(self, number: int) -> None:
        """Set the learning rate for an update."""
        if self.config.anneal_lr:
            left = 1.0 - number / self.config.num_updates
            self.optimizer.lr = self.config.learning_rate * left

    def descend(self, loss: Tensor) -> None:
        """Take one gradient step."""
        if not math.isfinite(loss.item()):
            raise TrainingFailed("the loss is no longer finite; lower learning_rate, or check the rewards")
        self.optimizer.zero_grad()
        loss.backward()  # pyright: ignore[reportUnknownMemberType]
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)
        self.optimizer.step()

    # -- state for the session --

    def network(self) -> Mapping[str, Any]:
        """Return the entry ``network`` of ``policy.json``."""
        return self.model.architecture.to_json()

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights of the policy and the value function."""
        return self.model.state_dict()

    def state(self) -> State:
        """Return all that :func:`train` needs to resume."""
        state = State()
        pack_module("network", self.model, state)
        pack_optimizer("optimizer", self.optimizer, state)
        pack_generator("generator", self.generator, state)
        return state


class Recorder:
    """Fills a rollout, one step at a time."""

    def __init__(self, learner: PPO, environments: LearnerView, seen: PolicyInput) -> None:
        config, head, device = learner.config, learner.head, learner.device
        self._gamma, self._device = config.gamma, device
        shape = (config.num_steps, learner.num_envs)
        kind = torch.from_numpy(seen.observations).dtype
        self.observations = torch.zeros((*shape, *seen.observations.shape[1:]), dtype=kind, device=device)
        self.masks: Tensor | None = None
        self._masks = (*shape, environments.actions)
        size = environments.action_space.shape
        kind = torch.float32 if head.continuous else torch.int64
        flat = (head.outputs,) if head.continuous else size
        self.actions = torch.zeros((*shape, *flat), dtype=kind, device=device)
        self.values, self.rewards, self.dones = (torch.zeros(shape, device=device) for _ in range(3))
        self._distribution, self._params = learner.distribution, list[Tensor]()

    def show(self, t: int, seen: PolicyInput) -> tuple[Tensor, Tensor | None]:
        """Store a step's observations and masks; return both as tensors."""
        self.observations[t] = torch.from_numpy(seen.observations)
        if seen.masks is not None:
            if self.masks is None:  # every action was legal until this step
                self.masks = torch.ones(self._masks, dtype=torch.bool, device=self._device)
            self.masks[t] = torch.from_numpy(seen.masks)
        return self.observations[t], None if self.masks is None else self.masks[t]

    def choose(self, t: int, learner: PPO, params: Tensor, values: Tensor, masks: Tensor | None) -> Tensor:
        """Draw actions and store them."""
        actions = learner.distribution.sample(params, masks, learner.generator)
        self.actions[t] = actions
        self.values[t] = values
        self._params.append(params)
        return actions

    def pay(self, t: int, transition: Transition) -> None:
        """Store the rewards and episode ends of step ``t``."""
        self.rewards[t] = torch.from_numpy(transition.rewards)
        self.dones[t] = torch.from_numpy(transition.terminated | transition.truncated)

    def bootstrap(self, t: int, transition: Transition, beyond: Tensor) -> None:
        """Add the discounted value of a truncated episode's last observation to its reward."""
        cut_off = torch.from_numpy(transition.truncated & ~transition.terminated).to(self._device)
        self.rewards[t] += self._gamma * beyond * cut_off

    def rollout(self, next_value: Tensor) -> Rollout:
        """Return the complete rollout."""
        log_probs, _ = self._distribution.evaluate(torch.stack(self._params), self.actions, self.masks)
        return Rollout(
            self.observations,
            self.masks,
            self.actions,
            log_probs,
            self.values,
            self.rewards,
            self.dones,
            next_value,
        )


@torch.no_grad()
def collect_rollout(
    learner: PPO, environments: TrainingEnvironments, session: Session, seen: PolicyInput
) -> tuple[Rollout, PolicyInput]:
    """Collect one rollout with the current network; return it with the next observations."""
    config, network, device = learner.config, learner.model, learner.device
    record = Recorder(learner, environments, seen)
    step = session.step
    for t in range(config.num_steps):
        observations, masks = record.show(t, seen)
        params, values = network(observations)
        actions = record.choose(t, learner, params, values, masks)
        transition = environments.step(shaped(actions.numpy(), environments))
        step += config.num_envs
        session.episodes(step, transition.finished)
        record.pay(t, transition)
        if transition.final is not None and (transition.truncated & ~transition.terminated).any():
            record.bootstrap(
                t, transition, network(torch.from_numpy(transition.final.observations).to(device))[1]
            )
        seen = transition.seen
    session.step = step
    _, next_value = network(torch.from_numpy(seen.observations).to(device))
    return record.rollout(next_value), seen


def shaped(actions: Any, environments: LearnerView) -> Any:
    """Reshape actions (N, …) to the shape that the environment takes."""
    return actions.reshape(len(actions), *environments.action_space.shape)


def estimate_advantages(rollout: Rollout, gamma: float, gae_lambda: float) -> Tensor:
    """Return the generalized advantage estimates of a rollout, shape (T, N)."""
    advantages = torch.zeros_like(rollout.rewards)
    following, next_value = torch.zeros_like(rollout.next_value), rollout.next_value
    for t in reversed(range(len(advantages))):
        nonterminal = 1.0 - rollout.dones[t]
        delta = rollout.rewards[t] + gamma * next_value * nonterminal - rollout.values[t]
        following = delta + gamma * gae_lambda * nonterminal * following
        advantages[t], next_value = following, rollout.values[t]
    return advantages


def update(learner: PPO, rollout: Rollout, acted: Tensor | None = None) -> dict[str, float]:
    """Take minibatch gradient steps on one rollout, over several epochs.

    Args:
        learner: The learner.
        rollout: T steps of N environments.
        acted: bool (T, N), false for rows in which no agent acted; ``None`` without such rows.

    Returns:
        Losses and diagnostics of the last minibatch, by TensorBoard name.

    Raises:
        TrainingFailed: The loss is not finite.
    """
    config = learner.config
    advantages = estimate_advantages(rollout, config.gamma, config.gae_lambda).flatten()
    batch = flattened(rollout)
    targets = advantages + batch.values
    real = None if acted is None else acted.flatten().nonzero().squeeze(-1)
    count = len(targets) if real is None else len(real)
    size = max(2, count // config.minibatches)
    metrics: dict[str, float] = {}
    for _ in range(config.update_epochs):
        order = torch.randperm(count, generator=learner.generator).to(learner.device)
        for rows in (order if real is None else real[order]).split(size):
            if len(rows) < 2:
                continue  # one row has no standard deviation to be normalized by
            params, values = learner.model(batch.observations[rows])
            loss, metrics = losses(learner, batch, rows, params, values, advantages, targets)
            learner.descend(loss)
        if config.target_kl is not None and metrics.get("losses/approx_kl", 0.0) > config.target_kl:
            break
    if real is not None:
        return {**metrics, **explained(learner, targets[real], batch.values[real])}
    return {**metrics, **explained(learner, targets, batch.values)}


def flattened(rollout: Rollout, envs: Tensor | slice = slice(None)) -> Rollout:
    """Merge the axes T and N of a rollout, for some environments or for all."""

    def flat(x: Tensor) -> Tensor:
        return x[:, envs].flatten(0, 1)

    r = rollout
    masks = None if r.masks is None else flat(r.masks)
    actions, log_probs, values = flat(r.actions), flat(r.log_probs), flat(r.values)
    rewards, dones = flat(r.rewards), flat(r.dones)
    return Rollout(flat(r.observations), masks, actions, log_probs, values, rewards, dones, r.next_value)


def explained(learner: PPO, targets: Tensor, values: Tensor) -> dict[str, float]:
    """Return the share of the returns' variance that the values explain, and the learning rate."""
    spread, unexplained = float(targets.var()), float((targets - values).var())
    return {
        "charts/learning_rate": learner.optimizer.lr,
        "losses/explained_variance": 1.0 - unexplained / spread if spread > 0 else 0.0,
    }


def losses(
    learner: PPO,
    batch: Rollout,
    rows: Tensor,
    params: Tensor,
    values: Tensor,
    advantages: Tensor,
    targets: Tensor,
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of some rows of a batch: clipped surrogate, value loss and entropy bonus.

    It also returns metrics by TensorBoard name.

    Args:
        learner: Learner with the settings and the distribution.
        batch: Rollout whose axes T and N are merged.
        rows: Indices of the rows.
        params: Current distribution parameters of these rows.
        values: Current values of these rows.
        advantages: Advantages of the whole batch.
        targets: Returns that the values should predict, for the whole batch.
    """
    config = learner.config
    masks = None if batch.masks is None else batch.masks[rows]
    log_probs, entropies = learner.distribution.evaluate(params, batch.actions[rows], masks)
    entropy = entropies.mean()
    log_ratio = log_probs - batch.log_probs[rows]
    ratio = log_ratio.exp()

    advantages = advantages[rows]
    if config.norm_adv:
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    clipped_ratio = ratio.clamp(1 - config.clip_coef, 1 + config.clip_coef)
    policy_loss = -torch.min(advantages * ratio, advantages * clipped_ratio).mean()

    error = (values - targets[rows]) ** 2
    if config.clip_vloss:
        old = batch.values[rows]
        clipped_values = old + (values - old).clamp(-config.clip_coef, config.clip_coef)
        error = torch.max(error, (clipped_values - targets[rows]) ** 2)
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
