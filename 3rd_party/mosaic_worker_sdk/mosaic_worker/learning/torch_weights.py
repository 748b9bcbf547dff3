"""Copies weights out of a network in training, to save or to play them."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any, Dict, Mapping

from numpy.typing import NDArray
from torch import Tensor


def copies(weights: Mapping[str, Tensor]) -> Dict[str, Tensor]:
    """Return copies of weights for a safetensors file: on the CPU, without shared memory."""
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in weights.items()}


def arrays_of(weights: Mapping[str, Tensor]) -> Dict[str, NDArray[Any]]:
    """Return weights as NumPy arrays, the form that a policy at play takes."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in weights.items()}
