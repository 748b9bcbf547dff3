"""What RLlib's connectors did to observations, as steps of preprocessing."""

# What a pickle or a state of RLlib's holds is untyped.
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
_LARGEST = 64 << 20
"""Bytes of one array of a state."""
"""What RLlib adds to a deviation before it divides."""
_NONE = 1e-30
"""Nothing, for a step that wants a positive number: the deviation has it already."""


def normalize_step(state: Mapping[Any, Any], agent: str | None) -> dict[str, Any]:
    """The ``normalize`` step that a ``MeanStdFilter`` stands for.

    Args:
        state: Of a pipeline with one in it, or of itself.
        agent: Whose statistics; ``None`` where there is one agent.

    Raises:
        KeyError: There is none.
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
    """An array as RLlib keeps it in a state: the bytes of a ``.npy`` file, deflated, in base 64.

    Raises:
        ValueError: It is none.
    """
    if isinstance(packed, np.ndarray):
        return np.asarray(packed, np.float64)
    raw = base64.b64decode(packed) if isinstance(packed, str) else bytes(packed)
    with contextlib.suppress(zlib.error):
        raw = inflated(raw, _LARGEST)
    with io.BytesIO(raw) as file:
        # NumPy makes room for what the head of a file promises.
        shape, _, dtype = _head(file)
        if not dtype.hasobject and size_of(shape, dtype) > len(raw):
            raise ValueError(f"an array of shape {shape} in {len(raw)} bytes")
    return np.asarray(np.load(io.BytesIO(raw), allow_pickle=False), np.float64)


def _head(file: io.BytesIO) -> Any:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


def as_arrays(state: Any) -> Any:
    """A connector's state with its arrays as arrays: RLlib's form of them may hold pickles, which it runs."""
    if isinstance(state, Mapping):
        return {k: array_of(v) if str(k).endswith(_ARRAY) else as_arrays(v) for k, v in state.items()}
    return [as_arrays(each) for each in state] if isinstance(state, list | tuple) else state


def as_rllib_has_them(state: Any) -> Any:
    """The reverse of :func:`as_arrays`; what is no array where one has to be is refused."""
    if isinstance(state, Mapping):
        return {k: _text_of(v) if str(k).endswith(_ARRAY) else as_rllib_has_them(v) for k, v in state.items()}
    return [as_rllib_has_them(each) for each in state] if isinstance(state, list | tuple) else state


def _text_of(array: Any) -> str:
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
        raise ValueError("its statistics are no numbers")
    content = io.BytesIO()
    np.save(content, array, allow_pickle=False)
    return base64.b64encode(zlib.compress(content.getvalue())).decode("ascii")
