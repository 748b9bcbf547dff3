"""PPO with an LSTM, for tasks in which one observation does not show the whole state.

The algorithm is :mod:`cleanrl_worker.algorithms.ppo` with an LSTM (Hochreiter and Schmidhuber 1997) between
the features and the heads. An update processes the rollout of every copy through the LSTM again, from the
memory at its beginning, with a zero memory at each beginning of an episode. Therefore a minibatch consists of
whole environments, not of single steps ("The 37 Implementation Details", recurrent PPO, details 1 to 5).
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from cleanrl_worker.algorithms.ppo import (
    PPO,
    LearnerView,
    Recorder,
    Rollout,
    estimate_advantages,
    explained,
    flattened,
    losses,
    shaped,
)
from cleanrl_worker.architecture import Architecture
from cleanrl_worker.config.ppo import PPOLSTMConfig
from cleanrl_worker.network import RecurrentActorCritic
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments, PolicyInput
from mosaic_worker.learning.training_state import State


def train(config: PPOLSTMConfig, environments: Environments, session: Session) -> RecurrentPPO:
    """Train recurrent PPO; see :func:`cleanrl_worker.algorithms.ppo.train`."""
    learner = RecurrentPPO(config, environments, session.device, session.restored)
    seen = environments.begin()
    for number in range(session.step // config.batch_size, config.num_updates):
        learner.anneal(number)
        memory, fresh = learner.memory.clone(), learner.fresh.clone()
        rollout, seen = collect_rollout(learner, environments, session, seen)
        session.metrics(session.step, update(learner, rollout, memory, fresh))
        if not session.advance(session.step, learner):
            break
    return learner


class RecurrentPPO(PPO):
    """PPO's learner with an LSTM and its memory of the running episodes.

    Attributes:
        memory: Memory of each copy, (N, 2 lstm_size).
        fresh: 1 for a copy whose next observation begins an episode, (N,).
    """

    def __init__(
        self,
        config: Any,
        environments: LearnerView,
        device: torch.device,
        restored: State | None = None,
        seed: int | None = None,
    ) -> None:
        self._lstm_size: int = config.lstm_size
        super().__init__(config, environments, device, restored, seed)
        self.memory = torch.zeros(self.num_envs, 2 * self._lstm_size, device=device)
        self.fresh = torch.ones(self.num_envs, device=device)
        if restored is not None:
            self.memory.copy_(restored.tensors["memory"])
            self.fresh.copy_(restored.tensors["fresh"])

    def build(self, environments: LearnerView) -> Any:
        """Build a network that fits the environment."""
        return RecurrentActorCritic(self.architecture(environments))

    def architecture(self, environments: LearnerView) -> Architecture:
        """Return the architecture that fits the environment, with an LSTM."""
        return dataclasses.replace(super().architecture(environments), lstm_size=self._lstm_size)

    def state(self) -> State:
        """Return all that :func:`train` needs to resume."""
        state = super().state()
        state.tensors |= {"memory": self.memory, "fresh": self.fresh}
        return state


@torch.no_grad()
def collect_rollout(
    learner: RecurrentPPO, environments: Environments, session: Session, seen: PolicyInput
) -> tuple[Rollout, PolicyInput]:
    """Collect one rollout with the current network; return it with the next observations."""
    config, network, device = learner.config, learner.model, learner.device
    record = Recorder(learner, environments, seen)
    step = session.step
    for t in range(config.num_steps):
        observations, masks = record.show(t, seen)
        params, values, learner.memory = network(observations, forget(learner.memory, learner.fresh))
        actions = record.choose(t, learner, params, values, masks)
        transition = environments.step(shaped(actions.numpy(), environments))
        step += config.num_envs
        session.episodes(step, transition.finished)
        record.pay(t, transition)
        learner.fresh = record.dones[t].clone()
        if transition.final is not None and (transition.truncated & ~transition.terminated).any():
            last = torch.from_numpy(transition.final.observations).to(device)
            record.bootstrap(t, transition, network(last, learner.memory)[1])
        seen = transition.seen
    session.step = step
    following = torch.from_numpy(seen.observations).to(device)
    _, next_value, _ = network(following, forget(learner.memory, learner.fresh))
    return record.rollout(next_value), seen


def forget(memory: Tensor, fresh: Tensor) -> Tensor:
    """Return the memory with zeros in rows in which an episode begins."""
    return memory * (1.0 - fresh).unsqueeze(-1)


def update(
    learner: RecurrentPPO, rollout: Rollout, memory: Tensor, fresh: Tensor, acted: Tensor | None = None
) -> dict[str, float]:
    """Take minibatch gradient steps on one rollout, over several epochs.

    Args:
        learner: The learner.
        rollout: T steps of N environments.
        memory: The recurrent state of each environment before the first step.
        fresh: Marks of environments that began an episode with this step.
        acted: bool (T, N), false for rows in which no agent acted; ``None`` without such rows.

    Returns:
        Metrics as those of :func:`cleanrl_worker.algorithms.ppo.update`.
    """
    config = learner.config
    advantages = estimate_advantages(rollout, config.gamma, config.gae_lambda)
    targets = advantages + rollout.values
    begins = torch.cat([fresh.unsqueeze(0), rollout.dones[:-1]])
    metrics: dict[str, float] = {}
    for _ in range(config.update_epochs):
        order = torch.randperm(learner.num_envs, generator=learner.generator).to(learner.device)
        for envs in order.split(learner.num_envs // config.minibatches):
            part = flattened(rollout, envs)
            params, values = again(
                learner.model, rollout.observations[:, envs], memory[envs], begins[:, envs]
            )
            rows = torch.arange(len(values), device=learner.device)
            if acted is not None:
                rows = rows[acted[:, envs].flatten()]
                if len(rows) < 2:
                    continue  # one row has no standard deviation to be normalized by
                params, values = params[rows], values[rows]
            part_advantages, part_targets = advantages[:, envs].flatten(), targets[:, envs].flatten()
            loss, metrics = losses(learner, part, rows, params, values, part_advantages, part_targets)
            learner.descend(loss)
        if config.target_kl is not None and metrics.get("losses/approx_kl", 0.0) > config.target_kl:
            break
    return {**metrics, **explained(learner, targets.flatten(), rollout.values.flatten())}


def again(
    network: RecurrentActorCritic, observations: Tensor, memory: Tensor, begins: Tensor
) -> tuple[Tensor, Tensor]:
    """Process a rollout's observations through the LSTM again.

    Args:
        network: Current network.
        observations: (T, n, *shape).
        memory: (n, 2 lstm_size), before the first step.
        begins: (T, n), 1 where an observation begins an episode.

    Returns:
        Distribution parameters and values, with the axes T and n merged.
    """
    num_steps, num_envs = observations.shape[:2]
    features = network.features(observations.flatten(0, 1)).unflatten(0, (num_steps, num_envs))
    # All steps up to the next beginning of an episode in any environment are processed in one call.
    edges = [0, *(1 + begins[1:].any(1).nonzero().flatten()).tolist(), num_steps]
    hidden: list[Tensor] = []
    for start, end in pairwise(edges):
        outputs, memory = network.lstm.through(features[start:end], forget(memory, begins[start]))
        hidden.append(outputs)
    return network.heads(torch.cat(hidden).flatten(0, 1), observations.flatten(0, 1))
