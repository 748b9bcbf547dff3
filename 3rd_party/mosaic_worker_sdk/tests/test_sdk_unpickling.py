"""Pickles are read as data: what they hold comes back, and nothing of them ever runs."""

from __future__ import annotations

import io
import os
import pickle
import struct
import subprocess
import zipfile
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mosaic_worker.unpickling import ClassName, Record, UnpicklingRefused, read_pickle

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
DTYPES = st.one_of(
    hnp.floating_dtypes(), hnp.integer_dtypes(), hnp.boolean_dtypes(), hnp.complex_number_dtypes()
)
KEYS = st.one_of(st.text(max_size=8), st.integers(), st.booleans(), st.none())
PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4),
        st.tuples(inner, inner),
    ),
    max_leaves=12,
)


class Runs:
    """Its pickle calls whatever it was given."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = (function, args)

    def __reduce__(self) -> Any:
        return self.call


class Point:
    def __init__(self, x: int) -> None:
        self.x = x


class Slotted:
    __slots__ = ("x",)


@given(PLAIN, st.sampled_from(PROTOCOLS))
def test_plain_data_comes_back(value: Any, protocol: int) -> None:
    assert read_pickle(pickle.dumps(value, protocol)) == value


@given(
    hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, min_side=0)), st.sampled_from(PROTOCOLS), st.booleans()
)
def test_arrays_come_back_bit_for_bit(array: Any, protocol: int, fortran: bool) -> None:
    array = np.asfortranarray(array) if fortran else array
    found = read_pickle(pickle.dumps({"a": array, "again": [array]}, protocol))
    assert type(found["a"]) is np.ndarray
    native = array.astype(array.dtype.newbyteorder("="))  # as NumPy itself reads them
    read = found["a"].astype(native.dtype)
    assert (found["a"].dtype.kind, found["a"].dtype.itemsize) == (array.dtype.kind, array.dtype.itemsize)
    assert (read.shape, read.tobytes()) == (native.shape, native.tobytes())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scalars_dtypes_containers_and_text_arrays_come_back(protocol: int) -> None:
    value = {
        "scalar": np.float32(1.5),
        "dtype": np.dtype(">i4"),
        "words": np.array(["left", "right"]),
        "ordered": OrderedDict(a=1),
        "recent": deque([1, 2], maxlen=5),
        "set": {1, 2},
        "frozen": frozenset({3}),
        "bytes": bytearray(b"xy"),
        "z": 1 + 2j,
    }
    found = read_pickle(pickle.dumps(value, protocol))
    assert found.pop("words").tolist() == value.pop("words").tolist()
    assert found == value
    assert found["recent"].maxlen == 5
    assert isinstance(found["scalar"], np.float32)


def test_objects_of_named_classes_become_records() -> None:
    name = f"{Point.__module__}.Point"
    found = read_pickle(pickle.dumps([Point(3), Point]), [name])
    assert isinstance(found[0], Record)
    assert (found[0].name, found[0].state) == (name, {"x": 3})
    assert found[1] == name
    assert isinstance(found[1], ClassName)
    slotted = Slotted()
    slotted.x = np.arange(2)
    record = read_pickle(pickle.dumps(slotted), [f"{Slotted.__module__}."])
    assert record.state["x"].tolist() == [0, 1]


def test_containers_that_hold_themselves_and_shared_parts_are_walked_once() -> None:
    loop: list[Any] = [np.arange(3)]
    loop.append(loop)
    found = read_pickle(pickle.dumps(loop))
    assert found[1] is found
    shared: Any = ()
    for _ in range(200):  # 2^200 leaves
        shared = (shared, shared)
    found = read_pickle(pickle.dumps(shared))
    assert found[0] is found[1]


def bombs(mark: Path) -> dict[str, bytes]:
    """Pickles that would make ``mark``, each another way."""
    command = f"touch {mark}"
    objects = np.empty(1, object)
    objects[0] = Runs(os.system, command)
    by_hand = pickle.PROTO + b"\x02" + b"cos\nsystem\n(X{}tR."
    del by_hand
    text = command.encode()
    unicode = b"X" + struct.pack("<I", len(text)) + text
    return {
        "os.system": pickle.dumps(Runs(os.system, command)),
        "subprocess": pickle.dumps(Runs(subprocess.getoutput, command)),
        "eval": pickle.dumps(Runs(eval, f"__import__('os').system({command!r})")),
        "nested": pickle.dumps({"a": [1, (2, {"b": Runs(os.system, command)})]}),
        "object array": pickle.dumps(objects),
        "object array, old protocol": pickle.dumps(objects, 2),
        "dict key": pickle.dumps({(1, Runs(os.system, command)): 0}),
        "protocol 0": pickle.dumps(Runs(os.system, command), 0),
        "by hand": b"\x80\x02cos\nsystem\n(" + unicode + b"tR.",
        "inst": b"(S'" + text + b"'\nios\nsystem\n.",
        "obj": b"(cos\nsystem\n" + unicode + b"o.",
        "getattr": b"\x80\x02cbuiltins\ngetattr\n(cnumpy\nndarray\nX\x08\x00\x00\x00__init__tR.",
        "dotted name": b"\x80\x04\x8c\x05numpy\x8c\x12ndarray.__reduce__\x93.",
        "inside bytes": pickle.dumps(Runs(pickle.loads, pickle.dumps(Runs(os.system, command)))),
        "numpy reaching out": pickle.dumps(Runs(np.loads if hasattr(np, "loads") else np.load, str(mark))),
    }


@pytest.mark.parametrize("kind", list(bombs(Path("x"))))
def test_nothing_of_a_bomb_runs(kind: str, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    bomb = bombs(mark)[kind]
    with pytest.raises(UnpicklingRefused, match=r"it (needs|holds)|damaged"):
        read_pickle(bomb)
    # Named classes of other packages open no door either.
    with pytest.raises(UnpicklingRefused):
        read_pickle(bomb, ["gymnasium.spaces.", "numpy.random."])
    assert not mark.exists()
    if kind in ("os.system", "nested", "dict key", "protocol 0"):
        pickle.loads(bomb)
        assert mark.exists()  # it is a real one


def test_the_reason_names_the_class() -> None:
    with pytest.raises(UnpicklingRefused, match=r"it needs (posix|nt)\.system"):
        read_pickle(pickle.dumps(os.system))
    with pytest.raises(UnpicklingRefused, match=r"it needs .*\.Point, which"):
        read_pickle(pickle.dumps(Point(1)))


def test_a_function_that_is_named_is_not_called(tmp_path: Path) -> None:
    """Naming it makes it a record: even then nothing of it runs."""
    mark = tmp_path / "ran"
    found = read_pickle(pickle.dumps(Runs(os.system, f"touch {mark}")), ["posix.system", "nt.system"])
    assert isinstance(found, Record)
    assert found.args == (f"touch {mark}",)
    assert not mark.exists()


def _array_state(dtype: str, shape: tuple[int, ...], raw: Any) -> bytes:
    """A pickle of an array with any state, as an attacker would write it."""
    reduce = (np.zeros(0).__reduce__()[0], (np.ndarray, (0,), b"b"), (1, shape, np.dtype(dtype), False, raw))
    return pickle.dumps(_Reduced(reduce), 2)


class _Reduced:
    def __init__(self, reduce: Any) -> None:
        self.reduce = reduce

    def __reduce__(self) -> Any:
        return self.reduce


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (_array_state("f8", (1000,), b"12345678"), "does not fit its shape"),
        (_array_state("f8", (-1,), b""), "impossible shape"),
        (_array_state("f8", (1,), [1.0]), "array of Python objects"),
        (_array_state("O", (2,), [1, 2]), "dtype O8?"),
        (_array_state("i4,f4", (1,), b"12345678"), "dtype V8|structures"),
        (pickle.dumps(_Reduced((np.ndarray, ((1 << 50,), np.dtype("b"))))), "unusual kind"),
        (pickle.dumps(_Reduced((bytearray, (1 << 50,)))), "bytearray"),
        (b"\x80\x02]r\xff\xff\xff\xff.", "memory slots"),
        (b"\x80\x02]p4294967295\n.", "memory slots"),
        (pickle.dumps([1, 2, 3])[:-4], "not a complete pickle"),
        (b"", "not a complete pickle"),
        (b"not a pickle", "not a complete pickle"),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7fabc.", "not a complete pickle"),
        (b"\x80\x02Pid\n.", "outside the file"),
        (b"\x80\x02\x82\x01.", "outside the file"),
        (b"\x80\x02ccollections\nOrderedDict\n)R}X\x05\x00\x00\x00itemsK\x01sb.", "of a plain container"),
        (b"\x80\x02c_codecs\nencode\n}X\x05\x00\x00\x00_makeK\x01sb.", "it changes encode"),
        (b"\x80\x02c_codecs\nencode\n.", "holds encode itself"),
        (b"\x80\x02cnumpy\nndarray\n.", "type itself"),
    ],
)
def test_damaged_and_greedy_pickles_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(UnpicklingRefused, match=words):
        read_pickle(data)


def test_depth_is_no_crash() -> None:
    deep = b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b"."
    with pytest.raises(UnpicklingRefused, match="nested too deeply"):
        read_pickle(deep)


@settings(max_examples=400)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read_pickle(b"\x80\x04" + data)
    except UnpicklingRefused as refused:
        assert str(refused)


@settings(max_examples=400)
@given(st.data())
def test_a_flipped_byte_is_read_or_refused(data: Any) -> None:
    whole = bytearray(pickle.dumps({"mean": np.arange(4.0), "deep": [(1, "x"), {"b": np.float32(2)}]}, 4))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        read_pickle(bytes(whole))
    except UnpicklingRefused as refused:
        assert str(refused)


def test_a_bomb_in_a_zip_member_is_refused_as_well(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Runs(os.system, f"touch {mark}")))
    with zipfile.ZipFile(file) as archive, pytest.raises(UnpicklingRefused, match="system"):
        read_pickle(archive.read("data.pkl"))
    assert not mark.exists()
