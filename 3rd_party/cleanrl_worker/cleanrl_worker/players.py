"""Playing actor-critic networks in batches of a fixed size, with or without a memory."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from cleanrl_worker.heads import Draws, Head, head_of
from cleanrl_worker.network import ActorCritic, Architecture, Encoding, RecurrentActorCritic
from mosaic_worker.checkpoint import PolicyDescription


class ActorCriticPlayer:
    """Plays the networks of PPO, see :class:`cleanrl_worker.policy.Player`."""

    memory = 0
    rates_actions = False

    def __init__(self, head: Head, module: nn.Module) -> None:
        self._head = head
        self.module = module

    @classmethod
    def build(cls, description: PolicyDescription) -> ActorCriticPlayer:
        """The network that a description asks for, its weights unset.

        Raises:
            ValueError: It asks for none that this version can build.
        """
        head, architecture = _head_and_architecture(description)
        return cls(head, ActorCritic(architecture))

    def forward(self, rows: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Distribution parameters and values."""
        params, values = self.module(rows)
        return params, values, None

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Actions in the action space."""
        return self._head.play(outputs, masks, draws)


class RecurrentPlayer(ActorCriticPlayer):
    """Plays the networks of recurrent PPO."""

    @classmethod
    def build(cls, description: PolicyDescription) -> RecurrentPlayer:
        """See :meth:`ActorCriticPlayer.build`."""
        head, architecture = _head_and_architecture(description)
        found = cls(head, RecurrentActorCritic(architecture))
        found.memory = 2 * architecture.lstm_size
        return found

    def forward(self, rows: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Distribution parameters, values and the memory after them."""
        return self.module(rows, memory)


def _head_and_architecture(description: PolicyDescription) -> tuple[Head, Architecture]:
    shown = description.shown_space
    if shown.kind != "Box":
        raise ValueError(f"it needs a Box to look at where it has {shown.kind}")
    head = head_of(description.action_space)
    encoding = (
        Encoding("mlp", shown.shape) if "encoder" not in description.network else _encoding(description)
    )
    return head, Architecture.from_json(description.network, encoding, head.outputs, head.continuous)


def _encoding(description: PolicyDescription) -> Encoding:
    shown = description.shown_space
    return Encoding.of(shown.shape, shown.dtype == np.uint8)
