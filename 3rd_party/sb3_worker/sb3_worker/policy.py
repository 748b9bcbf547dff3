"""A loaded policy, whose action for an observation does not depend on the other rows of the batch."""

# numpy annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker import gymnasium_spaces
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Choices, Draws
from mosaic_worker.playing.drawn_actions import counted_actions, draw_normals, greedy_index, hide_illegal
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.layers import ColumnBuffer, Weights, rows_of
from mosaic_worker.playing.network_policy import NetworkPolicy
from mosaic_worker.spaces import Space
from sb3_worker.network import Network
from sb3_worker.playing import PlayingNetwork

WORKER = "sb3_worker"


class Policy(NetworkPolicy):
    """A policy that is ready to play.

    Args:
        description: Description of the policy.
        network: Description of the network.
        plays: Network with its weights.
    """

    worker, network_types = WORKER, frozenset({"sb3"})

    def __init__(self, description: PolicyDescription, network: Network, plays: PlayingNetwork) -> None:
        super().__init__(description)
        self._network, self._plays, self._actions = network, plays, description.action_space
        self._leaves = {path: ColumnBuffer(_shape(leaf)) for path, leaf in network.observation_space.leaves}
        self._remembered = ColumnBuffer((plays.memory,))

    @property
    def memory(self) -> int:
        """Size of the memory from step to step of an episode; 0 for most policies."""
        return self._plays.memory

    @property
    def training_only(self) -> tuple[str, ...]:
        """Prefixes of the names of weights that are needed only for learning."""
        return self._plays.training_only

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> Policy:
        """Build a policy from a description and its own weights.

        Raises:
            ValueError: The network cannot be built, or the weights do not fit it.
        """
        network = Network.from_json(description.network, from_zero(description.action_space))
        if _count(network.observation_space) != _count(description.shown_space):
            raise ValueError("the number of inputs of its network differs from that of its input_space")
        return cls(description, network, PlayingNetwork(network, weights))

    def rows(self, observations: Any) -> dict[str, NDArray[Any]]:
        """Return the leaves of observations, by path."""
        return {path: _leaf(observations, path) for path in self._leaves}

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Choose actions for at most :data:`BATCH` rows, given by path of the leaf."""
        count = len(next(iter(rows.values())))
        seen = {path: self._leaves[path].fill(leaf) for path, leaf in rows.items()}
        before = np.zeros((count, self.memory), np.float32)
        if memory is not None and self.memory:
            before[:] = memory
        outputs, after = self._plays(seen, self._remembered.fill(before))
        first, value = _rows(outputs.first), None if outputs.value is None else rows_of(outputs.value)
        deviation = None if outputs.deviation is None else _rows(outputs.deviation)
        ok = np.ones(BATCH, np.bool_)
        for found in (*(rows_of(columns) for columns in seen.values()), first, deviation, value):
            if found is not None:
                ok &= np.isfinite(found).reshape(BATCH, -1).all(axis=1)
        first[~ok] = 0.0
        if masks is not None and outputs.kind in ("logits", "values"):
            ok &= hide_illegal(first, masks, self._actions)
        actions = self._act(outputs.kind, first, deviation, draws)
        values = first.max(axis=1) if outputs.kind == "values" else value
        return Choices(
            actions[:count],
            None if values is None else np.where(ok, values, 0.0).astype(np.float64)[:count],
            ok[:count],
            np.ascontiguousarray(rows_of(after)[:count]) if self.memory else None,
        )

    # -- acting --------------------------------------------------------------------------

    def _act(
        self,
        kind: str,
        first: NDArray[np.float64],
        deviation: NDArray[np.float64] | None,
        draws: Draws | None,
    ) -> NDArray[Any]:
        space = self._actions
        if kind == "values":
            return greedy_index(first, draws, self._network.exploration) + space.start
        if kind == "logits":
            return counted_actions(first, space, draws)
        if kind == "bits":
            share = 1.0 / (1.0 + np.exp(-first))
            at = 0.5 if draws is None else np.stack([draws(j) for j in range(share.shape[1])], 1)
            # At exactly one half, the library rounds to even: 0.
            return (share > at).reshape(BATCH, *space.shape).astype(space.dtype)
        moved = first
        if draws is not None and deviation is not None:
            moved = moved + deviation * draw_normals(draws, moved.shape[1])
        return self._within(kind, moved.astype(np.float32))

    def _within(self, kind: str, moved: NDArray[np.float32]) -> NDArray[Any]:
        """Convert real-valued actions to the action space, in its own precision, as the library does."""
        space: Any = self._actions
        low, high = np.asarray(space.low), np.asarray(space.high)
        if kind == "squashed":
            moved = np.tanh(moved)
        moved = moved.reshape(BATCH, *space.shape)
        if kind != "normal":
            moved = low + (0.5 * (moved + 1.0) * (high - low))
        return np.clip(moved, low, high).astype(space.dtype)


def from_zero(space: Space) -> Space:
    """Return the space with integers counted from zero, as the library requires."""
    if space.kind == "Discrete":
        return Space("Discrete", space.dtype, n=space.n)
    if space.kind == "MultiDiscrete":
        return Space(space.kind, space.dtype, space.shape, nvec=space.nvec, starts=np.zeros_like(space.nvec))
    return space


def _shape(leaf: Space) -> tuple[int, ...]:
    """Return the shape of one observation."""
    if not leaf.fixed:
        raise ValueError(f"it observes a {leaf.kind}, which networks of this worker cannot take")
    return leaf.shape if leaf.kind != "Discrete" else ()


def _leaf(observations: Any, path: str) -> NDArray[Any]:
    found = observations
    for key in path.split(".") if path else ():
        found = found[key]
    return np.asarray(found)


def _count(space: Space) -> int:
    return sum(math.prod(leaf.shape) if leaf.kind != "Discrete" else 1 for _, leaf in space.leaves)


def _rows(columns: NDArray[Any]) -> NDArray[np.float64]:
    return rows_of(columns).astype(np.float64, order="C")


def input_space(policy: Policy) -> Any:
    """Return the Gymnasium space of the policy's input."""
    return gymnasium_spaces.build(policy.description.shown_space)
