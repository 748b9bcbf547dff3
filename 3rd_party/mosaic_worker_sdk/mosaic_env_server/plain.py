"""Converts infos and other data of environments to JSON text and back."""

from __future__ import annotations

import base64
import json
from typing import Any, Dict, Mapping, cast

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.limits import dtype_of

LOST = "EnvironmentLost"
"""Kind of an error after which the simulation is lost and the episode must be restarted.

An exception has this kind if it has the attribute ``mosaic_lost``; otherwise its kind is its class name.
"""
_ARRAY = "__array__"


def dumps(value: Any) -> str:
    """Return JSON text; arrays keep their type, and values that JSON cannot represent become strings."""
    try:
        return json.dumps(value, default=_to_plain, skipkeys=True)
    except (ValueError, TypeError, RecursionError):  # a cyclic value, or keys that cannot be compared
        return json.dumps(str(value))


def info_text(info: Any) -> str:
    """Return an ``info`` as JSON text, or ``""`` if it is empty."""
    return dumps(info) if info else ""


def loads(text: str) -> Any:
    """Return the value from the text of :func:`dumps`, as far as JSON can represent it.

    Raises:
        ValueError: ``text`` is no JSON, or contains an invalid array.
    """
    try:
        return json.loads(text, object_hook=_from_plain)
    except (KeyError, TypeError) as exc:
        raise ValueError(f"not a valid value: {exc}") from exc


def _to_plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        array = cast("NDArray[Any]", value)
        if array.dtype.hasobject:
            return array.tolist()
        data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        return {_ARRAY: data, "dtype": array.dtype.str, "shape": list(array.shape)}
    if isinstance(value, np.generic):
        return cast("Any", value).item()
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    return str(value)


def _from_plain(found: Dict[str, Any]) -> Any:
    if _ARRAY not in found:
        return found
    dtype = dtype_of(found["dtype"], texts=True)
    return np.frombuffer(bytearray(base64.b64decode(found[_ARRAY])), dtype).reshape(found["shape"])
