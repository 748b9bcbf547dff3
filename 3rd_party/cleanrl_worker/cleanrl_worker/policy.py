"""A loaded policy: observations in, actions and values out, the same for any batch."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray

from cleanrl_worker.checkpoint import PolicyDescription, read_checkpoint
from cleanrl_worker.network import ActorCritic, Architecture
from mosaic_worker.worker import LoadError

BATCH = 64
"""Rows of every forward call. A row's last bits depend on the number of rows it is multiplied
with, but not on its neighbours or its place, so calls are always filled up to this number."""


class Choices(NamedTuple):
    """What a policy chose for N observations.

    Attributes:
        actions: int64 (N,), counted from the action space's ``start``.
        values: float64 (N,), the value of each state; 0 where ``ok`` is false.
        ok: bool (N,), false where the network's output is no finite number or no action is legal.
    """

    actions: NDArray[np.int64]
    values: NDArray[np.float64]
    ok: NDArray[np.bool_]


class Policy:
    """Weights and their description, ready to play.

    Args:
        description: What the weights are.
        network: The network, its weights in place.
    """

    def __init__(self, description: PolicyDescription, network: ActorCritic) -> None:
        # More threads would make a row's bits depend on how the work was divided.
        torch.set_num_threads(1)
        self.description = description
        self._network = network.eval()
        self._inputs = network.architecture.inputs
        self._actions = network.architecture.actions
        self._padded = np.zeros((BATCH, self._inputs), np.float32)
        self._tensor = torch.from_numpy(self._padded)

    @classmethod
    def load(cls, checkpoint: str | Path) -> Policy:
        """Read a checkpoint, see :func:`cleanrl_worker.checkpoint.read_checkpoint`.

        Raises:
            LoadError: It cannot be played, with the way out.
        """
        description, data = read_checkpoint(checkpoint)
        architecture = architecture_of(description)
        try:
            weights = safetensors.torch.load(data)
        except safetensors.SafetensorError as error:
            raise LoadError(f"the weights of {checkpoint} are no safetensors file ({error})") from error
        wanted = architecture.shapes()
        found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
        if found != wanted:
            name = min(k for k in {**found, **wanted} if found.get(k) != wanted.get(k))
            raise LoadError(
                f"the weights of {checkpoint} do not fit their description: {name} has shape "
                f"{found.get(name)} where {wanted.get(name)} is needed. Train it again"
            )
        if not all(t.dtype == torch.float32 and bool(t.isfinite().all()) for t in weights.values()):
            raise LoadError(f"the weights of {checkpoint} are not all finite float32 numbers. Train it again")
        network = ActorCritic(architecture)
        network.load_state_dict(weights)
        return cls(description, network)

    def choose(
        self,
        observations: NDArray[np.generic],
        masks: NDArray[np.bool_] | None = None,
        uniforms: NDArray[np.float64] | None = None,
    ) -> Choices:
        """Choose an action for each observation.

        Args:
            observations: Shape (N, *observation_space.shape).
            masks: bool (N, actions), true where legal; ``None`` where every action is.
            uniforms: Numbers in [0, 1), shape (N,), to sample with; ``None`` for the most
                likely action.

        Returns:
            The choice for each row, whichever rows are with it.
        """
        rows = np.asarray(observations).reshape(len(observations), -1)
        parts = [
            self._choose(
                rows[i : i + BATCH],
                None if masks is None else masks[i : i + BATCH],
                None if uniforms is None else uniforms[i : i + BATCH],
            )
            for i in range(0, len(rows), BATCH)
        ]
        if len(parts) == 1:
            return parts[0]
        return Choices(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _choose(
        self,
        rows: NDArray[np.generic],
        masks: NDArray[np.bool_] | None,
        uniforms: NDArray[np.float64] | None,
    ) -> Choices:
        count = len(rows)
        self._padded[:count] = rows
        self._padded[count:] = 0.0
        with torch.inference_mode():
            logits_tensor, values_tensor = self._network(self._tensor)
        # All BATCH rows as far as numpy goes too: its vector loops may treat odd tails differently.
        logits, values = logits_tensor.numpy().astype(np.float64), values_tensor.numpy().astype(np.float64)
        ok = np.isfinite(logits).all(axis=1) & np.isfinite(values)
        if masks is not None:
            logits[:count][~masks] = -math.inf
            ok[:count] &= masks.any(axis=1)
        if not ok.all():
            logits[~ok], values[~ok] = 0.0, 0.0
        actions = logits.argmax(axis=1) if uniforms is None else _sample(logits, uniforms)
        return Choices(actions[:count] + self.description.action_space.start, values[:count], ok[:count])


def architecture_of(description: PolicyDescription) -> Architecture:
    """The network that a description asks for."""
    inputs = math.prod(description.observation_space.shape)
    return Architecture(inputs, description.action_space.n, description.hidden)


def _sample(logits: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Invert the cumulative distribution; an action of probability zero is never chosen."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    cumulative = weights.cumsum(axis=1)
    thresholds = np.zeros(len(logits))
    thresholds[: len(uniforms)] = uniforms
    thresholds *= cumulative[:, -1]
    return (cumulative <= thresholds[:, None]).sum(axis=1)
