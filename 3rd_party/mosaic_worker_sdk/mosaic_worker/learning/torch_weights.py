"""Weights of a network that learns, taken out of it to be kept or played."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any, Dict, Mapping

from numpy.typing import NDArray
from torch import Tensor


def copies(weights: Mapping[str, Tensor]) -> Dict[str, Tensor]:
    """Weights as a safetensors file can hold them: on the CPU, none sharing memory with another."""
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in weights.items()}


def arrays_of(weights: Mapping[str, Tensor]) -> Dict[str, NDArray[Any]]:
    """Weights as a policy that plays takes them."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in weights.items()}
