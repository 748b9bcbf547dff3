"""The network, a policy of it, and the worker that plays policies in any slot that they fit."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import CheckpointWorker, Choices, Draws
from mosaic_worker.playing.drawn_actions import counted_actions, hide_illegal
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.torch_policy import TorchPolicy, put_weights


class Network(nn.Module):
    """A logit for each action, and beside it the baseline: the return that is expected.

    Args:
        inputs: Numbers of an observation.
        actions: How many there are.
        hidden: Widths of the hidden layers, of both alike.
    """

    def __init__(self, inputs: int, actions: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.inputs = inputs
        self.logits, self.baseline = (_perceptron([inputs, *hidden, outputs]) for outputs in (actions, 1))

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (N, actions) and expected returns (N,) of observations (N, inputs)."""
        return self.logits(rows), self.baseline(rows).squeeze(-1)


def _perceptron(widths: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Policy(TorchPolicy):
    """Weights and their description, ready to play."""

    worker = "reinforce_worker"

    def __init__(self, description: PolicyDescription, network: Network) -> None:
        super().__init__(description)
        self._network = network
        self._rows = np.zeros((BATCH, network.inputs), np.float32)

    @classmethod
    def build(cls, description: PolicyDescription, weights: Mapping[str, Tensor]) -> Policy:
        """Make it of a description and its weights.

        Raises:
            ValueError: The weights are not those of such a network.
        """
        acts, hidden = description.action_space, description.network["hidden"]
        if acts.kind != "Discrete":
            raise ValueError("its network is none of REINFORCE's")
        network = Network(math.prod(description.shown_space.shape), acts.n, hidden)
        put_weights(network, weights)
        return cls(description, network)

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Decide at most BATCH rows, always as BATCH of them: a row's last bits depend on their number."""
        count = len(rows)
        self._rows[:count], self._rows[count:] = rows, 0
        with torch.inference_mode():
            said = self._network(torch.from_numpy(self._rows))
        logits, values = (tensor.numpy().astype(np.float64) for tensor in said)
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
