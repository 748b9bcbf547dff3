"""Reads the data in a pickle without running any code that the pickle names.

A pickle is a program: loading it without restrictions runs any code that its author chose. This module
rebuilds only numbers, text, plain containers and numeric arrays. Objects of classes that the caller names
become :class:`Record`, which stores the object's data and runs no code. A pickle with any other content is
refused, and the error names that content.

NumPy's own unpickling trusts its input, so this module does not use it: dtypes are rebuilt from their names,
and arrays only if their bytes fit their shape.
"""

# What a pickle holds is untyped.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from __future__ import annotations

import io
import math
import pickle
import pickletools
import re
import threading
from collections import OrderedDict, deque
from typing import Any, Callable, Dict, Iterable, Iterator, NoReturn, Tuple

import numpy as np

from mosaic_worker.limits import Budget

_CONTAINERS: Dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.deque": deque,
    "builtins.dict": dict,
    "builtins.list": list,
    "builtins.tuple": tuple,
    "builtins.set": set,
    "builtins.frozenset": frozenset,
    "builtins.complex": complex,
}
_PY2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}
# A plain type code, or the name of a numeric type: neither objects ("O") nor structures.
_DTYPE = re.compile(r"[<>|=]?[?bBhHiIlLqQefdgFDG]|[<>|=]?[biufcSU]\d{1,4}|bool|u?int\d{1,2}|float\d{2,3}")
_SCALAR = re.compile(r"numpy\.(bool_?|u?int\d{1,2}|float\d{2,3}|complex\d{2,3}|str_|bytes_)")
_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
MOST_OBJECTS = 250_000
"""Largest number of instructions of a pickle; each may make an object of some hundred bytes."""
COPIES = 16 * 2**20
"""Bytes that calls in a pickle may copy, in addition to ``_TIMES`` the size of the pickle.

Without this limit, a few instructions could copy much data many times.
"""
_TIMES = 8
_EACH = 64
"""Approximate size in bytes of an entry of a container."""
_EMPTY = 512
"""Bytes that every call costs in addition to the size of its arguments."""


class UnpicklingRefused(ValueError):
    """A pickle contains more than plain data, or is damaged; the message is one sentence."""


class Record:
    """Data of an object in a pickle; the class of the object is neither imported nor run.

    Attributes:
        name: Full name of the object's class, or of the function that would have made the object.
        args: Arguments of the class or function.
        state: Attributes of the object by name; a state of another form is under ``""``.
    """

    name = ""

    def __new__(cls, *args: Any, **more: Any) -> Record:
        made = object.__new__(cls)
        made.args, made.state = args, dict(more)
        return made

    args: Tuple[Any, ...]
    state: Dict[str, Any]

    def __setstate__(self, state: Any) -> None:
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
        for part in parts:
            _charge(_size(part))
            if isinstance(part, dict) and all(isinstance(key, str) for key in part):
                self.state.update(part)
            elif part is not None:
                self.state[""] = state


class ClassName(str):
    """Full name of a class or function that the pickle mentions."""

    __slots__ = ()


def read_pickle(data: bytes, classes: Iterable[str] = ()) -> Any:
    """Return the data in a pickle.

    Args:
        data: The pickle.
        classes: Full names (``package.module.Class``) that may occur. Their objects become
            :class:`Record`; a class that is only mentioned becomes :class:`ClassName`. A name that
            ends in ``.`` stands for all names that begin with it.

    Returns:
        ``None``, booleans, numbers, text, bytes, lists, tuples, dicts, sets, deques, numeric
        arrays and dtypes, :class:`Record`, :class:`ClassName`.

    Raises:
        UnpicklingRefused: The pickle needs anything else, or is damaged; no code of it was run.
    """
    _survey(data)
    _left.room = Budget(COPIES + _TIMES * len(data), "the data that it would copy is")
    try:
        return _settled(_Reader(data, classes).load(), {})
    except UnpicklingRefused:
        raise
    except RecursionError:
        raise UnpicklingRefused("it is nested too deeply") from None
    except MemoryError:
        raise UnpicklingRefused("it asks for more memory than there is") from None
    except Exception as error:  # a damaged pickle may make any operation fail
        raise UnpicklingRefused(f"it is damaged ({type(error).__name__}: {error})") from error


_left = threading.local()
"""Budget of bytes that the pickle being read in this thread may still copy."""


def _charge(amount: int) -> None:
    """Take bytes from the budget of this thread's pickle; call this before memory is allocated.

    The budget is thread-local because an array or object that is being rebuilt has no argument for it.
    """
    try:
        _left.room.take(_EMPTY + amount)
    except ValueError as error:
        _refuse(str(error))


def _survey(data: bytes) -> None:
    """Check that a pickle is complete and that its instructions cannot allocate excessive memory."""
    count = 0
    try:
        for opcode, argument, _ in pickletools.genops(data):
            count += 1
            if count > MOST_OBJECTS:
                _refuse(f"it has more than {MOST_OBJECTS:,} instructions")
            # A single number as large as 2^32 here makes the reader fill 64 GB.
            if opcode.name in _PUTS and not 0 <= int(argument) <= count:
                _refuse("its memory slots are out of order")
            if opcode.name in ("PERSID", "BINPERSID", "EXT1", "EXT2", "EXT4", "NEXT_BUFFER"):
                _refuse(f"it refers to data outside the file ({opcode.name})")
    except UnpicklingRefused:
        raise
    except Exception as error:
        raise UnpicklingRefused(f"it is not a complete pickle ({error})") from error


class _Reader(pickle.Unpickler):
    def __init__(self, data: bytes, classes: Iterable[str]) -> None:
        super().__init__(io.BytesIO(data), encoding="latin1")
        names = tuple(classes)
        self._exact = {name for name in names if not name.endswith(".")}
        self._prefixes = tuple(name for name in names if name.endswith("."))
        self._records: Dict[str, Any] = {}

    def find_class(self, module_name: str, global_name: str) -> Any:
        name = f"{_PY2.get(module_name, module_name)}.{global_name}"
        found = _MAKERS.get(name)
        if found is not None:
            return found
        mentioned = name in self._exact or (self._prefixes and name.startswith(self._prefixes))
        if not mentioned and not _SCALAR.fullmatch(name):
            _refuse(f"it needs {name}, which is not part of plain data or arrays")
        if name not in self._records:
            self._records[name] = type("Record", (Record,), {"name": name})
        return self._records[name]


def _size(value: Any) -> int:
    """Return the approximate number of bytes of a copy of ``value``."""
    if isinstance(value, (bytes, bytearray, str)):
        return len(value)
    return _EACH * len(value) if isinstance(value, (list, tuple, dict, set, frozenset, deque)) else 0


class _Maker:
    """Stand-in for one of the few functions that a pickle may call.

    It is a separate object so that no instruction can set an attribute of the real function.
    """

    __slots__ = ("_make", "_name")

    def __init__(self, name: str, make: Callable[..., Any]) -> None:
        self._name, self._make = name, make

    def __call__(self, *args: Any, **more: Any) -> Any:
        _charge(sum(_size(arg) for arg in args))
        return self._make(*args, **more)

    def __setstate__(self, state: Any) -> None:
        _refuse(f"it changes {self._name}")


class _DType:
    """A dtype in the pickle, made from its name; ``__setstate__`` sets its byte order."""

    def __init__(self, code: Any, align: Any = False, copy: Any = False) -> None:
        if isinstance(code, type) and issubclass(code, Record):
            code = code.name.rpartition(".")[2].rstrip("_")
        if not isinstance(code, str) or not _DTYPE.fullmatch(code):
            what = code if isinstance(code, str) and len(code) < 40 else type(code).__name__
            _refuse(f"it needs an array of dtype {what}, which is no plain number or text")
        self.dtype: Any = np.dtype(code)

    def __setstate__(self, state: Any) -> None:
        version, order, subarray, names, fields = state[:5]
        if version not in (3, 4) or order not in ("<", ">", "|", "=") or subarray or names or fields:
            _refuse("it needs an array of structures")
        if order in "<>":
            self.dtype = self.dtype.newbyteorder(order)


class _Array(np.ndarray):
    """An array in the pickle; ``__setstate__`` sets its content."""

    def __new__(cls, *_: Any, **__: Any) -> _Array:
        _refuse("it makes an array of an unusual kind")

    def __setstate__(self, state: Any) -> None:
        _version, shape, dtype, fortran, raw = state
        kind = _dtype(dtype)
        _check_size(shape, kind, raw)
        _charge(2 * len(raw))  # once more when it becomes an array of NumPy's own class
        super().__setstate__((1, shape, kind, bool(fortran), bytes(raw)))


def _reconstruct(kind: Any, shape: Any, _code: Any) -> Any:
    if kind is not _Array or shape != (0,):
        _refuse("it makes an array of an unusual kind")
    return np.ndarray.__new__(_Array, (0,), np.int8)


def _from_buffer(raw: Any, dtype: Any, shape: Any, order: Any, *_: Any) -> Any:
    kind = _dtype(dtype)
    _check_size(shape, kind, raw)
    return np.frombuffer(bytes(raw), kind).reshape(shape, order="F" if order == "F" else "C").copy(order="K")


def _scalar(dtype: Any, raw: Any) -> Any:
    kind = _dtype(dtype)
    raw = raw.encode("latin1") if isinstance(raw, str) else raw
    _check_size((), kind, raw)
    return np.frombuffer(bytes(raw), kind)[0]


def _dtype(value: Any) -> Any:
    if not isinstance(value, _DType):
        _refuse("it makes an array of an unknown dtype")
    return value.dtype


def _check_size(shape: Any, dtype: Any, raw: Any) -> None:
    if isinstance(raw, str):
        _refuse("it holds an array written by Python 2; write the file anew")
    if not isinstance(raw, (bytes, bytearray)):
        _refuse("it holds an array of Python objects, which is not plain data")
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        _refuse("it holds an array of an impossible shape")
    if math.prod(shape) * dtype.itemsize != len(raw):
        _refuse("it holds an array that does not fit its shape")


def _encode(text: str, codec: str = "latin1") -> bytes:
    if codec not in ("latin1", "latin-1", "utf-8", "utf8"):
        _refuse(f"it needs the codec {codec!r:.40}")
    return text.encode(codec)


def _byte_array(*args: Any) -> bytearray:
    return bytearray(_bytes(*args))


def _bytes(*args: Any) -> bytes:
    # A number as argument would allocate that many bytes.
    if len(args) > 2 or not all(isinstance(arg, (bytes, bytearray, str)) for arg in args):
        _refuse("it holds a bytearray of an unusual kind")
    return bytes(args[0]) if len(args) == 1 and not isinstance(args[0], str) else _encode(*args or ("",))


def _new_object(kind: Any, *rest: Any) -> Any:
    if not (isinstance(kind, type) and issubclass(kind, Record)):
        _refuse("it makes an object in an unusual way")
    return kind(*rest)


def _old_object(kind: Any, *_: Any) -> Any:
    return _new_object(kind)


_MAKERS: Dict[str, Any] = {
    "numpy.ndarray": _Array,
    "numpy.dtype": _DType,
    "builtins.bytearray": _Maker("bytearray", _byte_array),
    "builtins.bytes": _Maker("bytes", _bytes),
    "_codecs.encode": _Maker("encode", _encode),
    "copyreg.__newobj__": _Maker("copyreg", _new_object),
    "copyreg._reconstructor": _Maker("copyreg", _old_object),
}
_MAKERS.update({name: _Maker(name.rpartition(".")[2], kind) for name, kind in _CONTAINERS.items()})
for _core in ("numpy.core", "numpy._core"):
    _MAKERS[f"{_core}.multiarray._reconstruct"] = _Maker("numpy", _reconstruct)
    _MAKERS[f"{_core}.multiarray.scalar"] = _Maker("numpy", _scalar)
    _MAKERS[f"{_core}.numeric._frombuffer"] = _Maker("numpy", _from_buffer)

_ATOMS = (type(None), bool, int, float, complex, str, bytes, bytearray, np.generic)


def _settled(value: Any, seen: Dict[int, Any]) -> Any:
    """Return ``value`` with the stand-ins for arrays, dtypes and classes replaced by the real values."""
    if isinstance(value, _ATOMS) or type(value) is np.ndarray:
        return value
    if isinstance(value, _Array):
        return seen.setdefault(id(value), np.array(value, subok=False))
    if isinstance(value, _DType):
        return value.dtype
    if isinstance(value, type) and issubclass(value, Record):
        return ClassName(value.name)
    # Visit each object once; otherwise, shared parts of a small file could be visited billions of times.
    if id(value) in seen:
        return seen[id(value)]
    if isinstance(value, (tuple, set, frozenset)):
        return seen.setdefault(id(value), type(value)(_settled(item, seen) for item in value))
    seen[id(value)] = value
    if isinstance(value, (list, deque)):
        for i, item in enumerate(value):
            value[i] = _settled(item, seen)
    elif isinstance(value, dict):
        if getattr(value, "__dict__", None):
            _refuse("it sets attributes of a plain container")
        for key, item in _entries(value):
            dict.__setitem__(value, _key(key), _settled(item, seen))
    elif isinstance(value, Record):
        value.args = _settled(value.args, seen)
        value.state = _settled(value.state, seen)
    else:
        _refuse(f"it holds {getattr(value, '_name', type(value).__name__)} itself, which is not plain data")
    return value


def _entries(value: Dict[Any, Any]) -> Iterator[Tuple[Any, Any]]:
    # Not value.items: the pickle may have set an attribute of that name.
    return iter(list(dict.items(value)))


def _key(key: Any) -> Any:
    if not isinstance(key, (*_ATOMS, tuple)):
        _refuse(f"it has a key of type {type(key).__name__} in a dict")
    return key


def _refuse(reason: str) -> NoReturn:
    raise UnpicklingRefused(reason)
