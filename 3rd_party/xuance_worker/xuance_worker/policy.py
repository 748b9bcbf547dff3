"""A loaded policy, whose action for an observation does not depend on the other rows of the batch."""

# numpy annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Choices, Draws
from mosaic_worker.playing.drawn_actions import counted_actions, draw_normals, hide_illegal
from mosaic_worker.playing.joint_policy import JointPolicy
from mosaic_worker.playing.layers import ACTIVATIONS, ColumnBuffer, Weights, rows_of
from mosaic_worker.playing.network_policy import NetworkPolicy
from xuance_worker.network import TYPE, Network, PlayingNetwork

WORKER = "xuance_worker"


class Policy(NetworkPolicy):
    """The network of one agent, or of agents that share it, ready to play.

    Args:
        description: Description of the policy; for a joint policy, of one part.
        network: Network with its weights.
    """

    worker, network_types = WORKER, frozenset({TYPE})

    def __init__(self, description: PolicyDescription, network: PlayingNetwork) -> None:
        super().__init__(description)
        self._says, self._network, self._actions = network, network.network, description.action_space
        self._shown = ColumnBuffer((self._network.inputs + self._network.agents,))
        self._memory = ColumnBuffer((self._network.remembered,))

    @property
    def memory(self) -> int:
        """Size of the memory from step to step of an episode."""
        return self._network.remembered

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> Policy:
        """Build a policy from a description and its own weights.

        Raises:
            ValueError: The network cannot be built, or the weights do not fit it.
        """
        network = Network.from_json(description.network)
        shown, acts = description.shown_space, description.action_space
        if math.prod(shown.shape) != network.inputs + network.agents:
            raise ValueError("the number of inputs of its network differs from that of its input_space")
        if (acts.n if acts.kind == "Discrete" else math.prod(acts.shape)) != network.outputs:
            raise ValueError("the number of outputs of its network differs from that of its action_space")
        return cls(description, PlayingNetwork(network, weights))

    @classmethod
    def whole(
        cls, description: PolicyDescription, weights: Mapping[str, NDArray[Any]]
    ) -> JointPolicy[Policy]:
        """Return one player for all agents of a team, also for a team of one.

        Raises:
            LoadError: The weights do not fit.
        """
        return JointPolicy(description, lambda part: cls.of(part, weights))

    def rows(self, observations: Any) -> NDArray[Any]:
        """Return observations as vectors."""
        return np.asarray(observations).reshape(len(observations), -1)

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Choose actions for at most :data:`BATCH` rows."""
        count = len(rows)
        before = np.zeros((count, self.memory), np.float32)
        if memory is not None and self.memory:
            before[:] = memory
        outputs, deviation, after = self._says(self._shown.fill(rows), self._memory.fill(before))
        first = rows_of(outputs).astype(np.float64, order="C")
        ok = np.asarray(np.isfinite(first).all(axis=1))
        first[~ok] = 0.0
        values = None
        if self._actions.kind == "Discrete":
            if masks is not None:
                ok &= hide_illegal(first, masks, self._actions)
            values = first.max(axis=1)[:count] if self._network.kind == "values" else None
            # The library's greedy policies explore only during training.
            asked = None if self._network.kind == "values" else draws
            actions = counted_actions(first, self._actions, asked)
        else:
            actions = self._continuous(first, None if deviation is None else rows_of(deviation), draws)
        kept = np.ascontiguousarray(rows_of(after)[:count]) if self.memory else None
        return Choices(actions[:count], values, ok[:count], kept)

    def _continuous(
        self, first: NDArray[np.float64], deviation: NDArray[Any] | None, draws: Draws | None
    ) -> NDArray[Any]:
        if draws is not None and deviation is not None:
            first = first + deviation * draw_normals(draws, first.shape[1])
        # The following steps use the library's own precision.
        moved = first.astype(np.float32)
        if self._network.kind == "squashed" and self._network.bound:
            moved = ACTIVATIONS[self._network.bound](moved)
        return in_bounds(moved, self._actions, scaled=self._network.scaled)


def in_bounds(numbers: NDArray[np.float32], space: Any, *, scaled: bool) -> NDArray[Any]:
    """Convert a network's numbers (N, outputs) to actions (N, …) of a continuous space."""
    low, high = np.asarray(space.low), np.asarray(space.high)
    moved = numbers.reshape(-1, *space.shape)
    if scaled:
        moved = low + 0.5 * (moved + 1.0) * (high - low)
    return np.clip(moved, low, high).astype(space.dtype)
