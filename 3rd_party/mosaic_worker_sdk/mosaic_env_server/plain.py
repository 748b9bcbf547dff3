"""Whatever an environment tells beside its observations, as JSON and back."""

from __future__ import annotations

import base64
import json
from typing import Any, Dict, Mapping, cast

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.limits import dtype_of

LOST = "EnvironmentLost"
"""Kind of what a step reports whose world is gone (``mosaic_lost`` of the exception): the episode is to be
begun again. Of any other the kind is the exception's name."""
_ARRAY = "__array__"


def dumps(value: Any) -> str:
    """JSON text; arrays keep their type, and what JSON cannot say is said as ``str(value)``."""
    try:
        return json.dumps(value, default=_said, skipkeys=True)
    except (ValueError, TypeError, RecursionError):  # a ring, or keys that cannot be compared
        return json.dumps(str(value))


def info_text(info: Any) -> str:
    """An ``info``; ``""`` for an empty one."""
    return dumps(info) if info else ""


def loads(text: str) -> Any:
    """What :func:`dumps` was given, as far as JSON could say it.

    Raises:
        ValueError: ``text`` is no JSON, or says an array that is none.
    """
    try:
        return json.loads(text, object_hook=_heard)
    except (KeyError, TypeError) as exc:
        raise ValueError(f"no value: {exc}") from exc


def _said(value: Any) -> Any:
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


def _heard(found: Dict[str, Any]) -> Any:
    if _ARRAY not in found:
        return found
    dtype = dtype_of(found["dtype"], texts=True)
    return np.frombuffer(bytearray(base64.b64decode(found[_ARRAY])), dtype).reshape(found["shape"])
