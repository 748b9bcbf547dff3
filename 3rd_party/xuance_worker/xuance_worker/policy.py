"""A loaded policy: observations in, actions out, the same for any batch."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Choices, Draws
from mosaic_worker.playing.drawn_actions import counted_actions, draw_normals, hide_illegal
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.joint_policy import JointPolicy
from mosaic_worker.playing.torch_policy import TorchPolicy, put_weights
from xuance_worker.network import ACTIVATIONS, TYPE, Network, PlayingNetwork

WORKER = "xuance_worker"


class Policy(TorchPolicy):
    """The weights of one agent, or of those that share a network, ready to play.

    Args:
        description: What the weights are, of a joint policy those of one part.
        network: The same, as a network.
        module: It, its weights in place, on the CPU.
    """

    worker, network_types = WORKER, frozenset({TYPE})

    def __init__(self, description: PolicyDescription, network: Network, module: PlayingNetwork) -> None:
        super().__init__(description)
        self._network, self._module, self._actions = network, module, description.action_space
        self._rows = np.zeros((BATCH, network.inputs + network.agents), np.float32)

    @property
    def memory(self) -> int:
        """Numbers that it remembers from step to step of an episode."""
        return self._network.remembered

    @classmethod
    def build(cls, description: PolicyDescription, weights: Mapping[str, Tensor]) -> Policy:
        """Make it of a description and the weights that are its own.

        Raises:
            ValueError: It asks for a network that cannot be built, or the weights are not those of it.
        """
        network = Network.from_json(description.network)
        shown, acts = description.shown_space, description.action_space
        if math.prod(shown.shape) != network.inputs + network.agents:
            raise ValueError("its network takes another number of inputs than its input_space has")
        if (acts.n if acts.kind == "Discrete" else math.prod(acts.shape)) != network.outputs:
            raise ValueError("its network has another number of outputs than its action_space")
        module = network.build()
        put_weights(module, {name: tensor.float() for name, tensor in weights.items()})
        return cls(description, network, module)

    @classmethod
    def whole(cls, description: PolicyDescription, weights: Mapping[str, Tensor]) -> JointPolicy[Policy]:
        """All agents of a team as one player, of a team of one too.

        Raises:
            LoadError: The weights do not fit.
        """
        return JointPolicy(description, lambda part: cls.of(part, weights))

    def rows(self, observations: Any) -> NDArray[Any]:
        """Observations as vectors."""
        return np.asarray(observations).reshape(len(observations), -1)

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Decide at most :data:`BATCH` rows."""
        count = len(rows)
        self._rows[count:] = 0
        self._rows[:count] = rows
        before = torch.zeros(BATCH, self.memory)
        if memory is not None and self.memory:
            before[:count] = torch.from_numpy(np.asarray(memory, np.float32))
        with torch.inference_mode():
            outputs, deviation, after = self._module(torch.from_numpy(self._rows), before)
        first = outputs.numpy().astype(np.float64)
        ok = np.isfinite(first).all(axis=1)
        first[~ok] = 0.0
        values = None
        if self._actions.kind == "Discrete":
            if masks is not None:
                ok &= hide_illegal(first, masks, self._actions)
            values = first.max(axis=1)[:count] if self._network.kind == "values" else None
            # The library's greedy policies explore while they learn only.
            asked = None if self._network.kind == "values" else draws
            actions = counted_actions(first, self._actions, asked)
        else:
            actions = self._continuous(first, None if deviation is None else deviation.numpy(), draws)
        kept = after[:count].numpy().copy() if self.memory else None
        return Choices(actions[:count], values, ok[:count], kept)

    def _continuous(
        self, first: NDArray[np.float64], deviation: NDArray[Any] | None, draws: Draws | None
    ) -> NDArray[Any]:
        if draws is not None and deviation is not None:
            first = first + deviation * draw_normals(draws, first.shape[1])
        # In the library's own precision from here on.
        moved = torch.from_numpy(first.astype(np.float32))
        if self._network.kind == "squashed" and self._network.bound:
            moved = ACTIVATIONS[self._network.bound]()(moved)
        return in_bounds(moved.numpy(), self._actions, scaled=self._network.scaled)


def in_bounds(numbers: NDArray[np.float32], space: Any, *, scaled: bool) -> NDArray[Any]:
    """Actions (N, …) of a continuous space out of a network's numbers (N, outputs)."""
    low, high = np.asarray(space.low), np.asarray(space.high)
    moved = numbers.reshape(-1, *space.shape)
    if scaled:
        moved = low + 0.5 * (moved + 1.0) * (high - low)
    return np.clip(moved, low, high).astype(space.dtype)
