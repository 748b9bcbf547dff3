"""A loaded policy, whose actions and values for an observation do not depend on the other rows of the
batch.
"""

# numpy annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.players import Player
from cleanrl_worker.registry import player_class
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Choices, Draws
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.layers import ColumnBuffer, Weights, rows_of
from mosaic_worker.playing.network_policy import NetworkPolicy

WORKER = "cleanrl_worker"


class Policy(NetworkPolicy):
    """A policy that is ready to play.

    Args:
        description: Description of the policy.
        player: Network with its weights.
    """

    worker = WORKER

    def __init__(self, description: PolicyDescription, player: Player) -> None:
        super().__init__(description)
        self._player = player
        self._shown = ColumnBuffer(description.shown_space.shape)
        self._memory = ColumnBuffer((player.memory,))

    @property
    def memory(self) -> int:
        """Numbers that the policy keeps from one step of an episode to the next."""
        return self._player.memory

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> Policy:
        """Build a policy from a description and its own weights.

        Raises:
            ValueError: The network cannot be built; the message says why.
        """
        return cls(description, player_class(str(description.network["type"])).build(description, weights))

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Choose actions for at most :data:`BATCH` rows."""
        count, remembered = len(rows), None
        if self.memory:
            before = np.zeros((count, self.memory), np.float32) if memory is None else memory
            remembered = self._memory.fill(before)
        said, value_columns, after = self._player.forward(self._shown.fill(rows), remembered)
        # numpy computes all BATCH rows too, because its vector loops may treat the last rows of odd sizes
        # differently.
        outputs = rows_of(said).astype(np.float64, order="C")
        ok = np.asarray(np.isfinite(outputs).all(axis=1))
        values = None if value_columns is None else rows_of(value_columns).astype(np.float64)
        if values is not None:
            ok &= np.isfinite(values)
        full = None
        if masks is not None:
            full = np.ones((BATCH, masks.shape[1]), np.bool_)
            full[:count] = masks
            ok &= full.any(axis=1)
        if not ok.all():
            outputs[~ok] = 0.0
            if full is not None:
                full[~ok] = True
            if values is not None:
                values[~ok] = 0.0
        if self._player.rates_actions:
            values = (outputs if full is None else np.where(full, outputs, -np.inf)).max(axis=1)
        actions = self._player.act(outputs, full, draws)
        return Choices(
            actions[:count],
            None if values is None else values[:count],
            ok[:count],
            None if after is None else np.ascontiguousarray(rows_of(after)[:count]),
        )
