"""A loaded policy: observations in, actions and values out, the same for any batch."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cleanrl_worker.registry import player_class
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Choices, Draws
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.torch_policy import TorchPolicy, put_weights

WORKER = "cleanrl_worker"


class Player(Protocol):
    """A kind of network at play; always :data:`BATCH` rows.

    Attributes:
        module: Its state dict is ``model.safetensors``.
        memory: Numbers it remembers per row from one step to the next; 0 where it has no memory.
        rates_actions: Its outputs are the values of the actions; that of a state is the best legal one's.
    """

    module: nn.Module
    memory: int
    rates_actions: bool

    @classmethod
    def build(cls, description: PolicyDescription) -> Player:
        """The network that a description asks for, its weights unset.

        Raises:
            ValueError: It asks for none that this version can build; the message says why.
        """
        ...

    def forward(self, rows: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Outputs (BATCH, k), values (BATCH,) where there are any, and the memory after them.

        Args:
            rows: (BATCH, *shape), float32, or uint8 where the input space is of bytes.
            memory: (BATCH, memory), zeros where an episode begins; ``None`` without memory.
        """
        ...

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Actions in the action space, first dimension BATCH; the best ones where ``draws`` is ``None``."""
        ...


class Policy(TorchPolicy):
    """Weights and their description, ready to play.

    Args:
        description: What the weights are.
        player: The network, its weights in place.
    """

    worker = WORKER

    def __init__(self, description: PolicyDescription, player: Player) -> None:
        super().__init__(description)
        self._player = player
        player.module.eval()
        shown = description.shown_space
        dtype = np.uint8 if shown.dtype == np.uint8 else np.float32
        self._padded = np.zeros((BATCH, *shown.shape), dtype)
        self._rows = torch.from_numpy(self._padded)
        self._memory = np.zeros((BATCH, player.memory), np.float32) if player.memory else None

    @property
    def memory(self) -> int:
        """Numbers it remembers from one step of an episode to the next."""
        return self._player.memory

    @property
    def player(self) -> Player:
        """The network at play."""
        return self._player

    @classmethod
    def build(cls, description: PolicyDescription, weights: Mapping[str, Tensor]) -> Policy:
        """Make it of a description and the weights that are its own.

        Raises:
            ValueError: It asks for a network that cannot be built, or the weights are not those of it.
        """
        player = build_player(description)
        put_weights(player.module, weights)
        return cls(description, player)

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Decide at most :data:`BATCH` rows."""
        count = len(rows)
        self._padded[:count] = rows.reshape(count, *self._padded.shape[1:])
        self._padded[count:] = 0
        remembered = None
        if self._memory is not None:
            self._memory[:] = 0.0
            if memory is not None:
                self._memory[:count] = memory
            remembered = torch.from_numpy(self._memory)
        with torch.inference_mode():
            output_tensor, value_tensor, after = self._player.forward(self._rows, remembered)
        # All BATCH rows as far as numpy goes too: its vector loops may treat odd tails differently.
        outputs = output_tensor.numpy().astype(np.float64)
        ok = np.asarray(np.isfinite(outputs).all(axis=1))
        values = None if value_tensor is None else value_tensor.numpy().astype(np.float64)
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
            None if after is None else after[:count].numpy().copy(),
        )


def build_player(description: PolicyDescription) -> Player:
    """The network that a description asks for, its weights unset.

    Raises:
        ValueError: It asks for none that this version can build; the message says why.
    """
    try:
        return player_class(str(description.network["type"])).build(description)
    except KeyError as error:
        raise ValueError(f"the key {error} is missing in its network") from error
    except (TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"a value in its network has the wrong type ({error})") from error
