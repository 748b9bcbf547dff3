"""Checks that convert what a user wrote to exact values, or raise an error with the path of the value.

Every check accepts a value of any type and returns a valid one, or raises :class:`ConfigError`. Errors
contain the place (``operators[1].workers.agent.seed``); a caller that knows an outer part of the place adds
it with :func:`under`.
"""

from __future__ import annotations

import difflib
import math
import operator
import unicodedata
import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Final, TypeAlias, cast

from gym_gui.core.errors import ExperimentError

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
"""A JSON value, the only kind of value that settings may contain."""

MAX_DEPTH: Final = 32
MAX_VALUES: Final = 200_000
"""Largest number of values in a settings tree; needed because YAML aliases can make a tree of any size."""

_ENDLESS: Final = 2**53

_RESERVED_NAMES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{i}" for i in range(10)), *(f"lpt{i}" for i in range(10))}
)
"""Names that Windows reserves for devices; refused because run folders are copied between machines."""


class ConfigError(ExperimentError):
    """Error for a value that cannot be used, with the value's path in the file.

    Args:
        problem: What is wrong, without a trailing full stop.
        where: Path of the value, for example ``"workers.agent.seed"``; may be empty.
        fix: What to write instead.
    """

    def __init__(self, problem: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(f"{where}: {problem}" if where else problem, fix=fix)
        self.problem = problem
        self.where = where


@contextmanager
def under(prefix: str) -> Generator[None]:
    """Put ``prefix`` before the path in a :class:`ConfigError` that is raised inside the context."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(error.problem, where=join(prefix, error.where), fix=error.fix) from None


def join(prefix: str, rest: str) -> str:
    """Join two parts of a path to a value: ``operators`` + ``[1]``, ``operators[1]`` + ``id``."""
    return prefix + rest if not prefix or not rest or rest.startswith("[") else f"{prefix}.{rest}"


def freeze(target: object, **values: object) -> None:
    """Set the attributes of a frozen dataclass from within its own ``__init__``."""
    vars(target).update(values)


def key_place(key: object) -> str:
    """Return a mapping's key as it is written in the path to a value: ``agent_0`` or ``['a key']``."""
    if isinstance(key, str) and key.replace("/", "_").isidentifier() and len(key) <= 64:
        return key
    return f"[{shown(key)}]"


def shown(value: object) -> str:
    """Return a short text for any value, on one line, for an error message."""
    if isinstance(value, str):
        text = str(value)
        return repr(text if len(text) <= 60 else text[:57] + "...")
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, int):
        # repr() of an int of more than 4300 digits raises.
        return repr(value) if value.bit_length() <= 128 else f"a number of {value.bit_length()} bits"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"an object of type {type(value).__name__}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the fix for a wrong name: the nearest known name, or the list of all."""
    choices = sorted({str(name) for name in known})
    near = difflib.get_close_matches(name[:80], choices, n=1, cutoff=0.6)
    return f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(choices)}"


def text(value: object, where: str, *, max_length: int = 512, empty: bool = False) -> str:
    """Check that the value is printable text and return it; ``empty`` allows ``""``."""
    if not isinstance(value, str):
        raise ConfigError(f"must be text, not {shown(value)}", where=where)
    result = str(value.value) if isinstance(value, Enum) else str(value)
    if not result.strip() and not empty:
        raise ConfigError("must not be empty", where=where)
    if len(result) > max_length:
        raise ConfigError(f"has {len(result)} characters, at most {max_length} are allowed", where=where)
    if not result.isprintable():
        raise ConfigError(f"contains unprintable characters: {shown(result)}", where=where)
    return result


def choice(value: object, where: str, choices: Iterable[str]) -> str:
    """Check that the value is one of ``choices`` and return it."""
    known = tuple(choices)
    result = text(value, where)
    if result not in known:
        raise ConfigError(f"unknown value {shown(result)}", where=where, fix=nearest(result, known))
    return result


def boolean(value: object, where: str) -> bool:
    """Check that the value is ``True`` or ``False`` and return it; numbers are refused."""
    if not isinstance(value, bool):
        raise ConfigError(f"must be true or false, not {shown(value)}", where=where)
    return value


def integer(value: object, where: str, *, low: int, high: int) -> int:
    """Check that the value is an integer (NumPy's too) from ``low`` to ``high`` inclusive, and return it."""
    try:
        if isinstance(value, bool):
            raise TypeError
        result = operator.index(cast(int, value))
    except TypeError:
        raise ConfigError(f"must be a whole number, not {shown(value)}", where=where) from None
    if not low <= result <= high:
        # An upper bound that comes only from the size of a machine word does not help the user.
        bounds = f"be at least {low}" if result < low and high > _ENDLESS else f"lie between {low} and {high}"
        raise ConfigError(f"must {bounds}, not {shown(result)}", where=where)
    return result


def number(value: object, where: str, *, low: float, high: float) -> float:
    """Check that the value is a finite number from ``low`` to ``high``, both included, and return it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"must be a number, not {shown(value)}", where=where)
    if not low <= value <= high:  # NaN compares false and is refused here, too
        raise ConfigError(f"must lie between {low:g} and {high:g}, not {shown(value)}", where=where)
    return float(value)


def mapping(value: object, where: str) -> dict[str, object]:
    """Check that the value is a mapping whose keys are text and return it."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"must be a mapping, not {shown(value)}", where=where)
    items = cast("Mapping[object, object]", value)
    for key in items:
        if not isinstance(key, str):
            raise ConfigError(f"keys must be text, not {shown(key)}", where=where)
    return dict(cast("Mapping[str, object]", items))


def sequence(value: object, where: str) -> list[object]:
    """Check that the value is a list or tuple and return it as a list."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise ConfigError(f"must be a list, not {shown(value)}", where=where)
    return list(cast("Sequence[object]", value))


def keys(value: object, where: str, known: Mapping[str, str]) -> dict[str, object]:
    """Check that a mapping has only known keys, and return it with other spellings replaced.

    Args:
        value: The value that the user wrote.
        where: Place of the value.
        known: Stored name by accepted spelling.

    Raises:
        ConfigError: The value is not a mapping, a key is unknown, or two spellings of a key have different
            values.
    """
    found: dict[str, object] = {}
    for key, item in mapping(value, where).items():
        place = join(where, key_place(key))
        if key not in known:
            raise ConfigError("unknown key", where=place, fix=nearest(key, known))
        name = known[key]
        if name in found and found[name] != item:
            raise ConfigError(f"differs from another spelling of {name!r}", where=place)
        found[name] = item
    return found


def folder_name(value: object, where: str) -> str:
    """Check that the value is a safe, portable folder name (1 to 64 characters) and return it."""
    name = text(value, where, max_length=64)
    bad = sorted(set(name) & set('/\\<>:"|?*'))
    if bad:
        problem = f"{shown(name)} contains {' '.join(bad)}"
    elif name[0] in ".- " or name[-1] in ". ":
        problem = f"{shown(name)} begins or ends with {name[0] if name[0] in '.- ' else name[-1]!r}"
    elif name.split(".")[0].casefold() in _RESERVED_NAMES:
        problem = f"{shown(name)} is a reserved name"
    elif len(name.encode()) > 200:
        problem = f"{shown(name)} is too long for a file system"
    else:
        return name
    raise ConfigError(
        f"{problem}; it names a folder of the run", where=where, fix="Use letters, digits, '_' and '-'"
    )


def refuse_shared_folders(ids: Sequence[str], where: str) -> None:
    """Refuse ids that differ only in case, because they would share a folder on some file systems.

    Raises:
        ConfigError: Two ids collide; the error names the place of the second.
    """
    seen: dict[str, str] = {}
    for i, name in enumerate(ids):
        folded = unicodedata.normalize("NFC", name).casefold()
        if folded in seen:
            raise ConfigError(
                f"{shown(name)} is used by an earlier operator ({shown(seen[folded])})",
                where=f"{where}[{i}].id",
                fix="Give each operator its own id",
            )
        seen[folded] = name


def short_id(name: str) -> str:
    """Return the name, cut to the 64 characters of a folder name with a checksum if it is longer."""
    return name if len(name) <= 64 else f"{name[:55]}_{zlib.crc32(name.encode()):08x}"


def plain(value: object, where: str) -> Plain:
    """Return a copy of ``value`` that contains only JSON types; tuples and ranges become lists.

    Raises:
        ConfigError: A value is of another type, a number is not finite or beyond 64 bits, or there are
            more than :data:`MAX_DEPTH` levels or :data:`MAX_VALUES` values.
    """
    return _PlainCopy().copy(value, where, 0)


def plain_mapping(value: object, where: str) -> dict[str, Plain]:
    """Return a copy of a mapping that contains only JSON types, as :func:`plain` does."""
    return cast("dict[str, Plain]", plain(mapping(value, where), where))


class _PlainCopy:
    """Copies one tree and counts its values."""

    def __init__(self) -> None:
        self._seen = 0

    def copy(self, value: object, where: str, depth: int) -> Plain:
        self._seen += 1
        if depth > MAX_DEPTH or self._seen > MAX_VALUES:
            raise ConfigError("is nested too deeply or too large", where=where[:200])
        if isinstance(value, Mapping):
            items = mapping(cast(object, value), where)
            return {
                k: self.copy(v, join(where, key_place(k)), depth + 1)
                for k, v in items.items()
                if self._encodable(k, where)
            }
        if isinstance(value, (list, tuple, range)):
            elements = cast("Sequence[object]", value)
            return [self.copy(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(elements)]
        return self._scalar(value, where)

    def _scalar(self, value: object, where: str) -> Plain:
        if isinstance(value, Enum):
            return self._scalar(cast(object, value.value), where)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str) and self._encodable(value, where):
            return str(value)
        if isinstance(value, int):
            return integer(value, where, low=-(2**63), high=2**64 - 1)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ConfigError(f"must be finite, not {value}", where=where)
            return float(value)
        raise ConfigError(
            f"{shown(value)} is not plain data",
            where=where,
            fix="Use text, numbers, true or false, lists and mappings",
        )

    @staticmethod
    def _encodable(value: str, where: str) -> bool:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ConfigError("contains a lone surrogate (half of a character)", where=where) from None
        return True
