"""What algorithms that learn from a replay buffer have in common: their state, and the loop around them."""

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
from cleanrl_worker.vector_environments import Environments, Seen
from mosaic_worker.learning.training_command import TrainingFailed
from mosaic_worker.learning.training_state import State

METRICS_EVERY = 500
"""Environment steps between two reports of losses."""
HEAR_EVERY = 20
"""Environment steps between two looks at what the training is asked for."""

_Module = TypeVar("_Module", bound=nn.Module)
_Policy = TypeVar("_Policy", bound=nn.Module)


class Learner(ABC, Generic[_Policy]):
    """An algorithm without its environment: what it does, what it learns from a batch, what it keeps.

    Every random number comes from two generators of its own, seeded with the training's seed.

    Args:
        config: Every setting.
        policy: The network that is kept and played, on the device that it is trained on.
        ring: For what is remembered.
        device: Where the policy lives.

    Attributes:
        policy: See above.
        ring: See above.
        device: See above.
        chance: For what is drawn step by step: exploration and the choice of transitions.
        updates: Gradient steps so far, this one included while it is made.
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
        """What the policy is, for ``policy.json``."""

    @abstractmethod
    def explore(self, observations: Tensor, masks: NDArray[np.bool_] | None, step: int) -> NDArray[Any]:
        """An action for each of N observations at a step of the training, as the ring keeps it."""

    @abstractmethod
    def update(self, batch: Batch) -> dict[str, Tensor]:
        """One gradient step; losses by TensorBoard name.

        Raises:
            TrainingFailed: A loss is no finite number; that step was not made.
        """

    def played(self, actions: NDArray[Any]) -> NDArray[Any]:
        """What the environments are given for actions as the ring keeps them."""
        return actions

    def passed(self, before: int, step: int) -> None:
        """The training went from step ``before`` to ``step``."""

    # -- for the algorithms --------------------------------------------------------------

    def normal(self, shape: Sequence[int]) -> Tensor:
        """Standard normal numbers, the same on every device."""
        return torch.randn(tuple(shape), generator=self._noise).to(self.device)

    def twin(self, module: _Module) -> _Module:
        """A copy that follows slowly; it is kept for a resumed training."""
        return self.kept("target", copy.deepcopy(module).requires_grad_(False))

    def kept(self, name: str, module: _Module) -> _Module:
        """Have a module that is no part of the policy kept for a resumed training."""
        self._modules[name] = module
        return module

    def adam(self, name: str, module: nn.Module, rate: float, epsilon: float = 1e-8) -> Adam:
        """Adam for a module, its moments kept for a resumed training."""
        # Fused: one call for all parameters, which are so small that calls are what costs.
        made = Adam(module.parameters(), rate, epsilon, fused=True)
        self._optimizers[name] = made
        return made

    # -- what is kept --------------------------------------------------------------------

    def weights(self) -> Mapping[str, Tensor]:
        """What play needs."""
        return self.policy.state_dict()

    def state(self) -> State:
        """Everything that the next step depends on, but for the environments."""
        state = State(values={"updates": self.updates, "chance": self.chance.bit_generator.state})
        pack_generator("noise", self._noise, state)
        for name, module in self._modules.items():
            pack_module(name, module, state)
        for name, optimizer in self._optimizers.items():
            pack_optimizer(f"adam.{name}", optimizer, state)
        state.tensors |= self.ring.state()
        return state

    def restore(self, state: State) -> None:
        """Take up what :meth:`state` gave."""
        self.updates = int(state.values["updates"])
        self.chance.bit_generator.state = state.values["chance"]
        restore_generator("noise", self._noise, state)
        for name, module in self._modules.items():
            restore_module(name, module, state)
        for name, optimizer in self._optimizers.items():
            restore_optimizer(f"adam.{name}", optimizer, state)
        self.ring.restore(state.tensors)


def train_off_policy(
    config: Any, environments: Environments, seen: Seen, session: Session, learner: Learner[Any]
) -> None:
    """Act, remember and learn until ``config.total_steps`` are spent or the session says stop.

    Gradient steps go by environment steps: one for each ``config.train_frequency`` of them, over all
    copies, once ``config.learning_starts`` are over.

    Args:
        config: Every setting.
        environments: Copies to train in; the caller closes them.
        seen: What they began with.
        session: Records episodes and metrics, and says when to stop.
        learner: What is trained.

    Raises:
        TrainingFailed: A number is not finite any more (the network is then still whole), or an
            environment raised.
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
                f"{config.env_id} paid a reward that is no finite number at step {step}; mend the environment"
            )
        session.episodes(step, transition.finished)
        learner.ring.add(seen, actions, transition)
        # By what is remembered, not by the step: a resumed training may have to fill its ring again.
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
        # Hearing commands costs a look at a file: often enough is enough.
        hearing = over or step // HEAR_EVERY > before // HEAR_EVERY
        if hearing and not session.advance(step, learner):
            break


def as_tensor(seen: Seen, device: torch.device) -> Tensor:
    """The observations, in their own dtype."""
    return torch.from_numpy(seen.observations).to(device)


def checked(loss: Tensor) -> None:
    """Stop before a step that would ruin the network.

    Raises:
        TrainingFailed: The loss is no finite number.
    """
    if not math.isfinite(loss.item()):
        raise TrainingFailed(
            "the loss is no finite number any more; lower learning_rate, or check rewards and observations"
        )
