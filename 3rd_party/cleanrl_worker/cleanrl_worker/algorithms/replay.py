"""Replay buffer of off-policy algorithms: a ring of transitions in flat arrays.

A transition contains the true last observation of its episode, and only ``terminated`` stops the bootstrap:
an episode truncated by a time limit would have continued, so its last state still has a value (Pardo,
Tavakoli, Levdik and Kormushev, "Time Limits in Reinforcement Learning", 2018).
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from cleanrl_worker.vector_environments import PolicyInput, Transition

Kind = tuple[tuple[int, ...], DTypeLike]
"""Shape and dtype of one observation or action."""

KEPT_BYTES = 128 * 2**20
"""Largest size, in bytes, of a replay buffer that is saved in the training state."""


class Batch(NamedTuple):
    """B stored transitions.

    Attributes:
        observations: (B, *shape), in the observations' own dtype.
        next_observations: Observations one step later, of the same shape and dtype.
        actions: int64 (B,), or float32 (B, numbers of an action).
        rewards: float32 (B,).
        terminated: float32 (B,), 1 if the transition ends the episode.
        next_masks: bool (B, actions), the actions legal one step later; ``None`` if all are.
    """

    observations: Tensor
    next_observations: Tensor
    actions: Tensor
    rewards: Tensor
    terminated: Tensor
    next_masks: Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        """Return the batch on another device."""
        if device.type == "cpu":
            return self
        return Batch._make(None if x is None else x.to(device) for x in self)


class ReplayBuffer:
    """Replay buffer with the last ``capacity`` transitions; new ones replace the oldest.

    Images are stored as bytes and converted only when a batch reaches the network. Memory is used only as
    transitions arrive.

    Args:
        capacity: Largest number of transitions.
        observation: Shape and dtype of one observation.
        action: Shape and dtype of one action as it is stored.
    """

    def __init__(self, capacity: int, observation: Kind, action: Kind) -> None:
        self.capacity = capacity
        number: Kind = ((), np.float32)
        columns = {
            "observations": observation,
            "next_observations": observation,
            "actions": action,
            "rewards": number,
            "terminated": number,
        }
        self._rows = {name: np.zeros((capacity, *shape), kind) for name, (shape, kind) in columns.items()}
        self._place = 0
        self._size = 0

    def __len__(self) -> int:
        """Return the number of stored transitions."""
        return self._size

    def add(self, seen: PolicyInput, actions: NDArray[Any], transition: Transition) -> None:
        """Store one step of N environments.

        Args:
            seen: Observations for which the actions were chosen.
            actions: Actions as they are stored, (N, *action shape).
            transition: The transitions that the actions led to.
        """
        reached = transition.reached
        rows: dict[str, NDArray[Any]] = {
            "observations": seen.observations,
            "next_observations": reached.observations,
            "actions": actions,
            "rewards": transition.rewards,
            "terminated": transition.terminated,
        }
        if reached.masks is not None and "next_masks" not in self._rows:
            # The first masks may arrive late; for earlier transitions every action was legal.
            self._rows["next_masks"] = np.ones((self.capacity, *reached.masks.shape[1:]), np.bool_)
        if "next_masks" in self._rows:
            rows["next_masks"] = np.array(True) if reached.masks is None else reached.masks
        self._write(rows, len(actions))

    def sample(self, count: int, generator: np.random.Generator) -> Batch:
        """Draw ``count`` transitions uniformly and with replacement."""
        places = generator.integers(self._size, size=count)
        return Batch(**{name: torch.from_numpy(kept[places]) for name, kept in self._rows.items()})

    def state(self) -> dict[str, Tensor]:
        """Return the buffer without copying it, by names that begin with ``ring.``.

        The result is empty if the buffer is larger than :data:`KEPT_BYTES`.
        """
        rows = {f"ring.{name}": torch.from_numpy(kept[: self._size]) for name, kept in self._rows.items()}
        if sum(tensor.nbytes for tensor in rows.values()) > KEPT_BYTES:
            return {}
        return {**rows, "ring.place": torch.tensor([self._place])}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore a result of :meth:`state`, so that the same draws find the same transitions.

        A buffer that was too large to save stays empty, and is filled again by playing.
        """
        if "ring.place" not in state:
            return
        rows = {
            name.removeprefix("ring."): x.numpy() for name, x in state.items() if name.startswith("ring.")
        }
        self._place, place = 0, int(rows.pop("place")[0])
        if "next_masks" in rows and "next_masks" not in self._rows:
            self._rows["next_masks"] = np.ones((self.capacity, *rows["next_masks"].shape[1:]), np.bool_)
        self._write(rows, len(rows["rewards"]))
        self._place = place

    def _write(self, rows: Mapping[str, NDArray[Any]], count: int) -> None:
        end = self._place + count
        places = (
            slice(self._place, end) if end <= self.capacity else np.arange(self._place, end) % self.capacity
        )
        for name, kept in self._rows.items():
            kept[places] = rows[name]
        self._place = end % self.capacity
        self._size = min(self._size + count, self.capacity)
