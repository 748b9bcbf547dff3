"""Code shared by algorithms with a replay buffer: the learner's state and the training loop."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cleanrl_worker.algorithms.adam import Adam
from cleanrl_worker.algorithms.replay import Batch, ReplayBuffer
from cleanrl_worker.session import Session
from cleanrl_worker.state import (
    pack_generator,
    pack_module,
    pack_optimizer,
    restore_generator,
    restore_module,
    restore_optimizer,
)
from cleanrl_worker.vector_environments import Environments, PolicyInput
from mosaic_worker.learning.training_command import TrainingFailed
from mosaic_worker.learning.training_state import State

METRICS_EVERY = 500
"""Environment steps between two reports of losses."""
HEAR_EVERY = 20
"""Environment steps between two checks for requests."""

_Module = TypeVar("_Module", bound=nn.Module)
_Policy = TypeVar("_Policy", bound=nn.Module)


class Learner(ABC, Generic[_Policy]):
    """An algorithm without its environment: exploration, updates from batches, and the training state.

    All random numbers come from two generators of the learner, seeded with the training's seed.

    Args:
        config: Settings of the training.
        policy: Network that is saved and played, on the training device.
        ring: Replay buffer.
        device: Device of the policy.

    Attributes:
        policy: As in the arguments.
        ring: As in the arguments.
        device: As in the arguments.
        chance: Generator for exploration and for the choice of transitions.
        updates: Number of gradient steps, including one in progress.
    """

    def __init__(self, config: Any, policy: _Policy, ring: ReplayBuffer, device: torch.device) -> None:
        self.policy = policy
        self.ring = ring
        self.device = device
        self.chance = np.random.Generator(np.random.PCG64(config.seed))
        self.updates = 0
        self._noise = torch.Generator().manual_seed(config.seed)
        self._modules: dict[str, nn.Module] = {"policy": policy}
        self._optimizers: dict[str, Adam] = {}

    @abstractmethod
    def network(self) -> Mapping[str, Any]:
        """Return the network's description for ``policy.json``."""

    @abstractmethod
    def explore(self, observations: Tensor, masks: NDArray[np.bool_] | None, step: int) -> NDArray[Any]:
        """Return an action, as the replay buffer stores it, for each of N observations at a training step."""

    @abstractmethod
    def update(self, batch: Batch) -> dict[str, Tensor]:
        """Take one gradient step; return losses by TensorBoard name.

        Raises:
            TrainingFailed: A loss is not finite; the step was not taken.
        """

    def played(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Convert actions of the replay buffer to actions of the environment."""
        return actions

    def passed(self, before: int, step: int) -> None:
        """Handle the progress of the training from step ``before`` to ``step``."""

    # -- helpers for the algorithms --------------------------------------------------------------

    def normal(self, shape: Sequence[int]) -> Tensor:
        """Return standard normal numbers, the same on every device."""
        return torch.randn(tuple(shape), generator=self._noise).to(self.device)

    def twin(self, module: _Module) -> _Module:
        """Return a copy of a module as a slowly updated target network; its state is saved for resuming."""
        return self.register_module("target", copy.deepcopy(module).requires_grad_(False))

    def register_module(self, name: str, module: _Module) -> _Module:
        """Register a module outside the policy, so that its state is saved for resuming."""
        self._modules[name] = module
        return module

    def adam(self, name: str, module: nn.Module, rate: float, epsilon: float = 1e-8) -> Adam:
        """Return an Adam optimizer for a module; its moments are saved for resuming."""
        # Fused: one call for all parameters, which are so small that the calls dominate the cost.
        made = Adam(module.parameters(), rate, epsilon, fused=True)
        self._optimizers[name] = made
        return made

    # -- saved state --------------------------------------------------------------------

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights for playing."""
        return self.policy.state_dict()

    def state(self) -> State:
        """Return all that the next step depends on, except the environments."""
        state = State(values={"updates": self.updates, "chance": self.chance.bit_generator.state})
        pack_generator("noise", self._noise, state)
        for name, module in self._modules.items():
            pack_module(name, module, state)
        for name, optimizer in self._optimizers.items():
            pack_optimizer(f"adam.{name}", optimizer, state)
        state.tensors |= self.ring.state()
        return state

    def restore(self, state: State) -> None:
        """Restore a result of :meth:`state`."""
        self.updates = int(state.values["updates"])
        self.chance.bit_generator.state = state.values["chance"]
        restore_generator("noise", self._noise, state)
        for name, module in self._modules.items():
            restore_module(name, module, state)
        for name, optimizer in self._optimizers.items():
            restore_optimizer(f"adam.{name}", optimizer, state)
        self.ring.restore(state.tensors)


def train_off_policy(
    config: Any, environments: Environments, seen: PolicyInput, session: Session, learner: Learner[Any]
) -> None:
    """Act, store transitions and learn up to ``config.total_steps`` steps or until the session stops.

    After ``config.learning_starts`` steps, there is one gradient step for each ``config.train_frequency``
    environment steps, counted over all copies.

    Args:
        config: Settings of the training.
        environments: Copies to train in; the caller closes them.
        seen: First observations of the copies.
        session: Records episodes and metrics, and says when to stop.
        learner: Learner to train.

    Raises:
        TrainingFailed: A number is not finite (the network is then still intact), or an environment raised.
    """
    if session.restored is not None:
        learner.restore(session.restored)
    latest: dict[str, Tensor] = {}
    step = session.step
    while step < config.total_steps:
        actions = learner.explore(as_tensor(seen, learner.device), seen.masks, step)
        transition = environments.step(learner.played(actions))
        before, step = step, step + environments.count
        if not np.isfinite(transition.rewards).all():
            raise TrainingFailed(
                f"{config.env_id} returned a reward that is not finite at step {step}; fix the environment"
            )
        session.episodes(step, transition.finished)
        learner.ring.add(seen, actions, transition)
        # The buffer's size decides, not the step, because a resumed training may have to fill its buffer
        # again.
        if len(learner.ring) >= min(config.learning_starts, config.buffer_size):
            due = step // config.train_frequency - before // config.train_frequency
            for _ in range(due):
                learner.updates += 1
                batch = learner.ring.sample(config.batch_size, learner.chance)
                latest |= learner.update(batch.to(learner.device))
            learner.passed(before, step)
        seen = transition.seen
        over = step >= config.total_steps
        if over or step // METRICS_EVERY > before // METRICS_EVERY:
            session.metrics(step, {name: float(value) for name, value in latest.items()})
        # A check for requests reads a file, so it is not done at every step.
        hearing = over or step // HEAR_EVERY > before // HEAR_EVERY
        if hearing and not session.advance(step, learner):
            break


def as_tensor(seen: PolicyInput, device: torch.device) -> Tensor:
    """Return the observations as a tensor, in their own dtype."""
    return torch.from_numpy(seen.observations).to(device)


def checked(loss: Tensor) -> None:
    """Check that a loss is finite before the gradient step, which would otherwise ruin the network.

    Raises:
        TrainingFailed: The loss is not finite.
    """
    if not math.isfinite(loss.item()):
        raise TrainingFailed(
            "the loss is no longer finite; lower learning_rate, or check rewards and observations"
        )
