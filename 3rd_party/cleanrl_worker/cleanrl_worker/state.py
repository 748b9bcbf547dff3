"""Packs learners' networks, optimizers and generators into a training state.

See :mod:`mosaic_worker.learning.training_state`.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from cleanrl_worker.algorithms.adam import Adam
from mosaic_worker.learning.training_state import State, entries_under


def pack_module(prefix: str, module: nn.Module, state: State) -> None:
    """Add every parameter of ``module`` to ``state``."""
    state.tensors.update({f"{prefix}.{name}": tensor for name, tensor in module.state_dict().items()})


def restore_module(prefix: str, module: nn.Module, state: State) -> None:
    """Restore what :func:`pack_module` added."""
    module.load_state_dict(_tensors_under(prefix, state.tensors))


def pack_optimizer(prefix: str, optimizer: Adam, state: State) -> None:
    """Add moments, step counts and learning rate of ``optimizer`` to ``state``."""
    state.values[prefix] = [{"lr": optimizer.lr}]
    for index, moments in optimizer.state().items():
        state.tensors.update({f"{prefix}.{index}.{name}": tensor for name, tensor in moments.items()})


def restore_optimizer(prefix: str, optimizer: Adam, state: State) -> None:
    """Restore what :func:`pack_optimizer` added, for an optimizer of the same parameters."""
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _tensors_under(prefix, state.tensors).items():
        index, _, key = name.partition(".")
        moments.setdefault(int(index), {})[key] = tensor
    optimizer.restore(moments)
    optimizer.lr = float(state.values[prefix][0]["lr"])


def pack_generator(name: str, generator: torch.Generator, state: State) -> None:
    """Add the state of ``generator`` to ``state``."""
    state.tensors[name] = generator.get_state()


def restore_generator(name: str, generator: torch.Generator, state: State) -> None:
    """Restore what :func:`pack_generator` added."""
    generator.set_state(state.tensors[name])


def _tensors_under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return entries_under(f"{prefix}.", tensors)
