"""Types and shapes that came over a wire are names from a closed list, and never evaluated."""

from __future__ import annotations

import base64
import json
import struct

import numpy as np
import pytest

from mosaic_env_server.plain import loads
from mosaic_worker.codec import Codec, NotInSpace
from mosaic_worker.spaces import Space

NO_TYPES = ["(2", "f4,,(", "{'names'", "O", "V8", "i4,f8", "3i4", "a" * 10_000, "U4", ""]


@pytest.mark.parametrize("name", NO_TYPES)
def test_a_space_of_no_type(name: str) -> None:
    with pytest.raises(ValueError, match="is not a numeric dtype"):
        Space.from_json({"kind": "Box", "dtype": name, "shape": [1], "low": 0, "high": 1})


@pytest.mark.parametrize("name", NO_TYPES[:8])
def test_an_array_of_no_type(name: str) -> None:
    codec = Codec(Space("Graph", spaces={"node": Space("Discrete", np.dtype(np.int64), n=2)}))
    short = name[:200].encode()
    with pytest.raises(NotInSpace):
        codec.decode((bytes([len(short)]) + short + b"\x01" + struct.pack("<I", 1) + bytes(64),))
    told = {"__array__": base64.b64encode(bytes(64)).decode(), "dtype": name, "shape": [1]}
    with pytest.raises(ValueError, match="is not a numeric dtype"):
        loads(json.dumps(told))


@pytest.mark.parametrize("shape", [[-1], ["1"], [1.5], [True], [2**63], [1] * 33, {"a": 1}, "12"])
def test_no_shape(shape: object) -> None:
    with pytest.raises(ValueError, match=r"no shape|space description"):
        Space.from_json({"kind": "MultiBinary", "dtype": "int8", "shape": shape})


def test_usual_types_are_read() -> None:
    names = [
        "bool",
        "int8",
        "uint8",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex64",
        ">f4",
        "<i2",
        "|u1",
    ]
    for name in names:
        data = {"kind": "Box", "dtype": name, "shape": [2], "low": 0, "high": 1}
        assert Space.from_json(data).dtype == np.dtype(name)
