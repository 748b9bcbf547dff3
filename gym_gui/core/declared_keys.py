"""Declarations of the keys in files that people write: allowed values, default and description.

Reading, suggestions for misspelled keys, records, ``--dry-run``, completion and the tables of the
documentation use the declaration. The keys of ``worker.toml`` are instances of :class:`Key`; the keys of an
experiment file are the fields of a :func:`declared` class, each made by :func:`key`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast, dataclass_transform

from gym_gui.core.validation import (
    ConfigError,
    Plain,
    boolean,
    choice,
    integer,
    join,
    keys,
    number,
    text,
)

_Check = TypeVar("_Check")
_Config = TypeVar("_Config")
_Given = TypeVar("_Given")
_Value = TypeVar("_Value")
_KEY: Final = "key"
_LEFT_OUT: Final[Any] = MISSING


@dataclass(frozen=True)
class Key(Generic[_Check]):
    """One key of a file.

    Attributes:
        check: Function that checks a value.
        meaning: Description of the key in the documentation, as Markdown.
        required: Whether a file must contain the key.
        usual: Description of the default, as Markdown.
        unit: Unit of a number, for example ``s``.
        name: Name of the key in files.
        spellings: Other names that files may use.
        write: Converts a value to the form in records; ``None``: records contain the value itself.
        kept: Whether records contain the key even if its value is the default.
        said: What ``--dry-run`` prints for a value that is not the default: a format string, or a function
            of the value; empty: nothing.
        budget: Whether the key limits what a run may spend.
        pace: Whether the key changes only how fast a run is done.
        within: The declared class, or the keys, of the mapping that is the value.
        each: The declared class, or the keys, of each value in the mapping, or each item in the list, that
            is the value.
        words: The allowed values, if these are few; default: those of the check.
        environment: Whether the key defines the environment rather than the players.
    """

    check: _Check
    meaning: str
    required: bool = False
    usual: str = ""
    unit: str = ""
    name: str = ""
    spellings: tuple[str, ...] = ()
    write: Callable[[Any], Plain] | None = None
    kept: bool = False
    said: str | Callable[[Any], str] = ""
    budget: bool = False
    pace: bool = False
    environment: bool = False
    within: type[Any] | Mapping[str, Key[Any]] | None = None
    each: type[Any] | Mapping[str, Key[Any]] | None = None
    words: tuple[Plain, ...] = ()


Checked = Key[Callable[[Any], object]]
"""A key whose check returns the exact value, or raises :class:`ConfigError`."""


def key(
    *,
    converter: Callable[[_Given], _Value],
    meaning: str,
    default: _Given = _LEFT_OUT,
    kw_only: bool = True,
    write: Callable[[_Value], Plain] | None = None,
    **more: Any,
) -> _Value:
    """Declare a field of a :func:`declared` class.

    Args:
        converter: Converts the value in a file to the value of the attribute; raises :class:`ConfigError`
            with a place within the value.
        meaning: See :class:`Key`.
        default: Value that is converted if the key is absent; without a default the key is required.
        kw_only: Whether the constructor accepts the field only as a keyword argument.
        write: See :class:`Key`.
        more: See :class:`Key`.
    """
    about = Key(converter, meaning, required=default is MISSING, write=write, **more)
    return cast("Any", field(default=default, kw_only=kw_only, metadata={_KEY: about}))


@dataclass_transform(frozen_default=True, field_specifiers=(key, field))
def declared(cls: type[_Config]) -> type[_Config]:
    """Make a frozen dataclass of file keys. Its ``__post_init__`` must call :func:`check_keys`."""
    made = dataclass(frozen=True)(cls)
    if made.__doc__:
        lines = [f"    {attribute}: {about.meaning}" for attribute, about in keys_of(made).items()]
        made.__doc__ = "\n".join([made.__doc__.rstrip(), "", "Attributes:", *lines])
    return made


@cache
def keys_of(cls: type[Any]) -> Mapping[str, Checked]:
    """Return the keys of a declared class by attribute, in the order of the documentation."""
    return {each.name: each.metadata[_KEY] for each in fields(cls) if _KEY in each.metadata}


def name_of(attribute: str, about: Key[Any]) -> str:
    """Return the name that files use for a key of a declared class."""
    return about.name or attribute


def names_of(cls: type[Any], *, of: Callable[[Checked], bool]) -> tuple[str, ...]:
    """Return the names of the keys that fulfill a condition, such as ``of=lambda key: key.budget``."""
    return tuple(name_of(attribute, about) for attribute, about in keys_of(cls).items() if of(about))


@cache
def spellings_of(cls: type[Any]) -> Mapping[str, str]:
    """Return each spelling that files may use, with the name of the key."""
    listed = ((name_of(attribute, about), about) for attribute, about in keys_of(cls).items())
    return {spelling: name for name, about in listed for spelling in (name, *about.spellings)}


@cache
def _attributes(cls: type[Any]) -> Mapping[str, tuple[str, bool]]:
    return {name_of(each, about): (each, about.required) for each, about in keys_of(cls).items()}


@cache
def _checks(cls: type[Any]) -> tuple[tuple[str, Callable[[Any], object]], ...]:
    return tuple((attribute, about.check) for attribute, about in keys_of(cls).items())


@cache
def usual_values(cls: type[Any]) -> Mapping[str, object]:
    """Return the defaults of a declared class by attribute, after conversion."""
    given = {each.name: each.default for each in fields(cls) if each.default is not MISSING}
    return {each: about.check(given[each]) for each, about in keys_of(cls).items() if each in given}


def check_keys(config: object) -> None:
    """Replace each value of a declared object by the value that its check returns.

    Raises:
        ConfigError: A value is wrong; the place begins with the key.
    """
    values = vars(config)  # a frozen dataclass refuses setattr
    attribute = ""
    try:
        for attribute, check in _checks(type(config)):
            values[attribute] = check(values[attribute])
    except ConfigError as error:
        place = name_of(attribute, keys_of(type(config))[attribute])
        raise ConfigError(error.problem, where=join(place, error.where), fix=error.fix) from None


def construct(make: type[_Config], given: Mapping[str, object], where: str, **more: object) -> _Config:
    """Make an instance of a declared class from the values in a file; ``null`` means that the key is absent.

    Args:
        make: The class.
        given: Values by key.
        where: Place of the mapping in the file.
        more: Further arguments of the class.

    Raises:
        ConfigError: A value is wrong; the error names the place.
    """
    attributes = _attributes(make)
    arguments: dict[str, Any] = {}
    for name, value in given.items():
        attribute, required = attributes[name]
        if value is not None or required:
            arguments[attribute] = value
    try:
        return make(**arguments, **more)
    except ConfigError as error:
        raise ConfigError(error.problem, where=join(where, error.where), fix=error.fix) from None


def read_keys(make: type[_Config], data: object, where: str) -> _Config:
    """Make an instance of a declared class from a mapping in a file.

    Raises:
        ConfigError: A value is wrong or a key is unknown; the error names the place and the nearest known
            key.
    """
    return construct(make, keys(data, where, spellings_of(make)), where)


def _written(about: Checked, value: Any) -> Plain:
    return value if about.write is None else about.write(value)


class _Entry(NamedTuple):
    """A key of a declared class; ``usual`` is its default, or :data:`~dataclasses.MISSING` if required."""

    attribute: str
    name: str
    about: Checked
    usual: object


@cache
def _entries(cls: type[Any]) -> tuple[_Entry, ...]:
    usual = usual_values(cls)
    return tuple(
        _Entry(attribute, name_of(attribute, about), about, usual.get(attribute, MISSING))
        for attribute, about in keys_of(cls).items()
    )


def record_of(config: object) -> tuple[dict[str, Plain], dict[str, Plain]]:
    """Return the record of a declared object in two parts: keys always written, and keys not at their
    default."""
    values = vars(config)
    always: dict[str, Plain] = {}
    chosen: dict[str, Plain] = {}
    for attribute, name, about, usual in _entries(type(config)):
        value = values[attribute]
        if about.kept or usual is MISSING:
            always[name] = _written(about, value)
        elif value != usual:
            chosen[name] = _written(about, value)
    return always, chosen


@cache
def usual_record(cls: type[Any]) -> Mapping[str, Plain]:
    """Return the defaults of the keys that each record contains."""
    return {
        name: _written(about, usual)
        for _, name, about, usual in _entries(cls)
        if about.kept and usual is not MISSING
    }


def chosen_of(config: object) -> dict[str, Plain]:
    """Return, in the form of records, the keys whose value is not the default."""
    values = vars(config)
    return {
        name: _written(about, values[attribute])
        for attribute, name, about, usual in _entries(type(config))
        if values[attribute] != usual
    }


def said_of(config: object) -> list[str]:
    """Return the lines that ``--dry-run`` prints for keys whose value is not the default."""
    values = vars(config)
    found: list[str] = []
    for attribute, _, about, usual in _entries(type(config)):
        value = values[attribute]
        if isinstance(about.within, type) and isinstance(value, about.within):
            found += said_of(value)
        elif about.said and value != usual:
            found.append(about.said(value) if callable(about.said) else about.said.format(value))
    return found


def table(listed: Mapping[str, Key[Any]]) -> list[str]:
    """Return keys as a Markdown table, with a column of defaults if one of the keys describes its default."""
    defaults = any(about.usual for about in listed.values())
    columns = ["key", "meaning", *(["default"] if defaults else [])]
    return [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}", *_rows(listed, "", defaults)]


def _rows(listed: Mapping[str, Key[Any]], before: str, defaults: bool) -> list[str]:
    found: list[str] = []
    for attribute, about in listed.items():
        name = before + name_of(attribute, about)
        also = [f"`{before}{spelling}`" for spelling in about.spellings]
        notes = [about.unit] * bool(about.unit) + [f"also {', '.join(also)}"] * bool(also)
        cells = [f"`{name}`", f"{about.meaning} ({'; '.join(notes)})" if notes else about.meaning]
        cells += [about.usual or ("required" if about.required else "none")] if defaults else []
        found.append(f"| {' | '.join(cells)} |")
        if isinstance(about.within, type):
            found += _rows(keys_of(about.within), f"{name}.", defaults)
    return found


def key_called(listed: Mapping[str, Key[Any]], spelling: object) -> Key[Any] | None:
    """Return the key with this name or spelling, or ``None``."""
    found = (about for each, about in listed.items() if spelling in (name_of(each, about), *about.spellings))
    return next(found, None)


def keys_at(listed: Mapping[str, Key[Any]], path: Sequence[str | int]) -> Mapping[str, Key[Any]]:
    """Return the keys of a mapping within a file, by attribute; empty if no declared class reads the mapping.

    Args:
        listed: The keys of the file.
        path: Path of the mapping: keys in any spelling, and indices in lists.
    """
    steps = iter(path)
    for step in steps:
        about = key_called(listed, step)
        inner = about and about.within
        if inner is None and about is not None and next(steps, None) is not None:
            inner = about.each
        if inner is None:
            return {}
        listed = keys_of(inner) if isinstance(inner, type) else inner
    return listed


def words_of(about: Key[Any]) -> tuple[Plain, ...]:
    """Return the allowed values of a key if these are few, else an empty tuple."""
    return about.words or getattr(about.check, "words", ())


# -- checks that several keys share ------------------------------------------------------


@dataclass(frozen=True)
class OneOf(Generic[_Value]):
    """A check that accepts one of a few values.

    Attributes:
        words: The values, as they are written in files.
        check: Function that checks a value.
    """

    words: tuple[Plain, ...]
    check: Callable[[Any], _Value]

    def __call__(self, value: Any) -> _Value:
        """Check a value with ``check``."""
        return self.check(value)


def optional(check: Callable[[_Given], _Value]) -> Callable[[_Given | None], _Value | None]:
    """Return a check that also accepts ``None``."""

    def found(value: _Given | None) -> _Value | None:
        return None if value is None else check(value)

    return OneOf(check.words, found) if isinstance(check, OneOf) else found


def whole(low: int, high: int) -> Callable[[int], int]:
    """Return a check for a whole number from ``low`` to ``high``, both included."""
    return lambda value: integer(value, "", low=low, high=high)


def real(low: float, high: float) -> Callable[[float], float]:
    """Return a check for a finite number from ``low`` to ``high``, both included."""
    return lambda value: number(value, "", low=low, high=high)


def member_of(*words: _Value) -> Callable[[str], _Value]:
    """Return a check that accepts one of these words."""
    known = cast("tuple[str, ...]", words)
    return OneOf(known, lambda value: cast("_Value", choice(value, "", known)))


flag: Final[Callable[[bool], bool]] = OneOf((True, False), lambda value: boolean(value, ""))
"""Check that accepts ``True`` or ``False``."""


def printable(*, empty: bool = False, longest: int = 512) -> Callable[[str], str]:
    """Return a check for printable text; ``empty`` allows ``""``."""
    return lambda value: text(value, "", max_length=longest, empty=empty)
