"""A policy at play, and the worker that plays policies in any slot that they fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import CheckpointWorker, Choices, Draws
from mosaic_worker.playing.drawn_actions import counted_actions, hide_illegal
from mosaic_worker.playing.layers import ColumnBuffer, Layer, Weights, perceptron, rows_of
from mosaic_worker.playing.network_policy import NetworkPolicy


class Policy(NetworkPolicy):
    """Weights and their description, ready to play: the same network in NumPy, which needs no torch."""

    worker = "reinforce_worker"

    def __init__(self, description: PolicyDescription, logits: Layer, baseline: Layer) -> None:
        super().__init__(description)
        self._logits, self._baseline = logits, baseline
        self._shown = ColumnBuffer((math.prod(description.shown_space.shape),))

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> Policy:
        """Make it of a description and its weights.

        Raises:
            ValueError: The weights are not those of such a network.
        """
        acts, hidden = description.action_space, description.network["hidden"]
        if acts.kind != "Discrete":
            raise ValueError("its network is none of REINFORCE's")
        inputs = math.prod(description.shown_space.shape)
        logits, baseline = (
            perceptron(weights.under(name), (inputs, *hidden, outputs), "tanh")
            for name, outputs in (("logits", acts.n), ("baseline", 1))
        )
        return cls(description, logits, baseline)

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Decide at most BATCH rows, always as BATCH of them: a row's last bits depend on their number."""
        count, shown = len(rows), self._shown.fill(rows)
        said = self._logits(shown), self._baseline(shown)[0]
        logits, values = (rows_of(columns).astype(np.float64, order="C") for columns in said)
        ok = np.isfinite(logits).all(axis=1) & np.isfinite(values)
        logits[~ok], values[~ok] = 0.0, 0.0
        if masks is not None:
            ok &= hide_illegal(logits, masks, self.description.action_space)
        actions = counted_actions(logits, self.description.action_space, draws)
        return Choices(actions[:count], values[:count], ok[:count])


class ReinforceWorker(CheckpointWorker):
    """Plays what ``reinforce_worker.train`` has trained."""

    name = "reinforce_worker"

    def read(self, checkpoint: str, agent: str = "") -> Policy:
        """Read a checkpoint."""
        return Policy.load(checkpoint, agent)
