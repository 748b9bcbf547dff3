"""A loaded policy, whose action for an observation does not depend on the other rows of the batch; needs no
Ray.
"""

# numpy annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Choices, Draws
from mosaic_worker.playing.drawn_actions import (
    choices_of,
    counted_actions,
    draw_normals,
    greedy_index,
    hide_illegal,
)
from mosaic_worker.playing.layers import ColumnBuffer, Weights, rows_of
from mosaic_worker.playing.network_policy import NetworkPolicy
from mosaic_worker.spaces import Space
from ray_worker.network import Network, PlayingNetwork

WORKER = "ray_worker"
_LOG_STD = (-5.0, 2.0)
"""Lower and upper limit of the log deviations of RLlib's squashed Gaussian."""


class Policy(NetworkPolicy):
    """A policy that is ready to play.

    Args:
        description: Description of the policy.
        network: Network with its weights.
    """

    worker, network_types = WORKER, frozenset({"rllib"})

    def __init__(self, description: PolicyDescription, network: PlayingNetwork) -> None:
        super().__init__(description)
        self._says, self._network = network, network.network
        self._space = description.action_space
        self._shown = ColumnBuffer(description.shown_space.shape)

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> Policy:
        """Build a policy from a description and its own weights.

        Raises:
            ValueError: The network cannot be built, or the weights do not fit it.
        """
        policy = cls(description, PlayingNetwork(Network.from_json(description.network), weights))
        policy.check()
        return policy

    def check(self) -> None:
        """Run the network once to check its input and its number of outputs.

        Raises:
            ValueError: The network does not fit the input space or the action space.
        """
        outputs, _ = self._says(self._shown.columns)
        if outputs.ndim != 2:
            raise ValueError("its network does not end with a vector")
        if len(outputs) != self._width():
            raise ValueError(f"its network gives {len(outputs)} numbers, but {self._width()} are needed")

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Choose actions for at most :data:`BATCH` rows; the policy has no memory."""
        count = len(rows)
        given, value = self._says(self._shown.fill(rows))
        outputs = np.ascontiguousarray(rows_of(given))
        ok = np.asarray(np.isfinite(outputs).all(axis=1))
        values = None if value is None else rows_of(value).astype(np.float64)
        if values is not None:
            ok &= np.isfinite(values)
            values[~ok] = 0.0
        outputs[~ok] = 0.0
        if masks is not None and self._space.kind != "Box":
            ok &= hide_illegal(outputs, masks, self._space)
        if self._network.outputs == "values":
            values = outputs.max(axis=1).astype(np.float64)
        actions = self._act(outputs, draws)
        return Choices(actions[:count], None if values is None else values[:count], ok[:count])

    def _act(self, outputs: NDArray[np.float32], draws: Draws | None) -> NDArray[Any]:
        space = self._space
        if space.kind == "Box":
            return self._continuous(outputs, draws)
        if self._network.outputs == "values":
            return (greedy_index(outputs, draws, self._network.epsilon) + space.start).astype(space.dtype)
        return counted_actions(outputs, space, draws)

    def _continuous(self, outputs: NDArray[np.float32], draws: Draws | None) -> NDArray[Any]:
        moved, log_deviation = np.split(outputs, 2, axis=1)
        squashed = self._network.outputs == "squashed"
        if draws is not None:
            normal = draw_normals(draws, moved.shape[1])
            deviation = np.exp(np.clip(log_deviation, *_LOG_STD) if squashed else log_deviation)
            moved = (moved + deviation * normal).astype(np.float32)
        if squashed:
            # The mode of the distribution that was learned; RLlib's own deterministic action omits the tanh.
            moved = np.tanh(moved)
        low, high = np.asarray(self._space.low), np.asarray(self._space.high)
        if self._network.scaling == "unsquash":
            moved = low + (moved + 1.0) * (high - low) / 2.0  # in RLlib's order, for the same bits
        return np.clip(moved, low, high).astype(self._space.dtype)

    def _width(self) -> int:
        space: Space = self._space
        if space.kind == "Box":
            if self._network.outputs not in ("gaussian", "squashed"):
                raise ValueError("its network gives no real-valued actions")
            return 2 * math.prod(space.shape)
        if space.kind not in ("Discrete", "MultiDiscrete") or self._network.outputs not in (
            "categorical",
            "values",
        ):
            raise ValueError(f"its network gives no actions of {space.kind}")
        return sum(choices_of(self._space))
