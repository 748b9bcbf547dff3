"""Converts RLlib's connectors for observations to preprocessing steps."""

# The content of a pickle or a state of RLlib is untyped.

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import base64
import contextlib
import io
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.limits import inflated, size_of

_ARRAY = "_array"
_SMALL = 1e-6
"""Number that RLlib adds to a standard deviation before it divides by it."""
_LARGEST = 64 << 20
"""Largest size of one array in a state, in bytes."""
_NONE = 1e-30
"""Negligible epsilon for steps, which need a positive one; RLlib's epsilon is already in the deviation."""


def normalize_step(state: Mapping[Any, Any], agent: str | None) -> dict[str, Any]:
    """Convert the state of a ``MeanStdFilter`` to a ``normalize`` step.

    Args:
        state: State of the filter, or of a pipeline that contains one.
        agent: Agent of the statistics; ``None`` with one agent.

    Raises:
        KeyError: The state has no such filter.
    """
    filters = state.get("MeanStdFilter", state)
    found: Mapping[str, Any] = filters[agent]
    (statistics,) = found["running_stats"]
    count = int(statistics["num_pushes"])
    mean, squares = (array_of(statistics[key]) for key in ("mean_array", "sum_sq_diff_array"))
    variance = np.zeros_like(mean) if count <= 1 else squares / (count - 1.0)
    deviation = np.sqrt(np.maximum(0, variance.astype(np.float32))) + np.float32(_SMALL)
    if not found["de_std_to_one"]:
        deviation = np.ones_like(deviation)
    if not found["de_mean_to_zero"]:
        mean = np.zeros_like(mean)
    step: dict[str, Any] = {"step": "normalize", "mean": mean.tolist(), "epsilon": _NONE}
    step["var"] = np.square(deviation.astype(np.float64)).tolist()
    step["clip"] = None if not found["clip_by_value"] else float(found["clip_by_value"])
    return step


def array_of(packed: Any) -> NDArray[np.float64]:
    """Decode an array of RLlib's state: the bytes of a ``.npy`` file, compressed, in base 64.

    Raises:
        ValueError: The value is no array.
    """
    if isinstance(packed, np.ndarray):
        return np.asarray(packed, np.float64)
    raw = base64.b64decode(packed) if isinstance(packed, str) else bytes(packed)
    with contextlib.suppress(zlib.error):
        raw = inflated(raw, _LARGEST)
    with io.BytesIO(raw) as file:
        # NumPy would allocate the size that the header declares.
        shape, _, dtype = _read_header(file)
        if not dtype.hasobject and size_of(shape, dtype) > len(raw):
            raise ValueError(f"an array of shape {shape} in {len(raw)} bytes")
    return np.asarray(np.load(io.BytesIO(raw), allow_pickle=False), np.float64)


def _read_header(file: io.BytesIO) -> Any:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


def as_arrays(state: Any) -> Any:
    """Decode the arrays in a connector's state, because RLlib's own reader would run pickles in them."""
    if isinstance(state, Mapping):
        return {k: array_of(v) if str(k).endswith(_ARRAY) else as_arrays(v) for k, v in state.items()}
    return [as_arrays(each) for each in state] if isinstance(state, list | tuple) else state


def encode_arrays(state: Any) -> Any:
    """Encode the arrays that :func:`as_arrays` decoded; raise an error if a value is no array of numbers."""
    if isinstance(state, Mapping):
        return {k: _text_of(v) if str(k).endswith(_ARRAY) else encode_arrays(v) for k, v in state.items()}
    return [encode_arrays(each) for each in state] if isinstance(state, list | tuple) else state


def _text_of(array: Any) -> str:
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
        raise ValueError("its statistics are not numbers")
    content = io.BytesIO()
    np.save(content, array, allow_pickle=False)
    return base64.b64encode(zlib.compress(content.getvalue())).decode("ascii")
