"""Secrets are named, never written: ``env:NAME`` or ``keyring:NAME``.

Run folders are shared and kept, so a key that stands in an experiment would be
published with it. Here is decided what counts as a reference; :mod:`mosaic_worker.secret_words` says what
counts as a secret, and :mod:`gym_gui.services.secrets` looks references up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gym_gui.core.validation import ConfigError, Plain, join, key_place
from mosaic_worker.secret_words import is_key, is_secret_key

__all__ = [
    "VALUE_PATTERN",
    "SecretRef",
    "is_secret_key",
    "parse_reference",
    "references",
    "refuse_literals",
    "without_references",
]

_REFERENCE_PATTERN: Final = r"(env|keyring):([A-Za-z_][A-Za-z0-9_.\-]{0,127})"
_REFERENCE: Final = re.compile(_REFERENCE_PATTERN)
_PLACEHOLDERS: Final = ("", "EMPTY")
"""Stand-ins that local servers ask for (vLLM documents ``EMPTY``)."""
VALUE_PATTERN: Final = "|".join((_REFERENCE_PATTERN, *_PLACEHOLDERS))
"""What may stand under the name of a secret."""


class SecretRef(NamedTuple):
    """Where a secret is found.

    Attributes:
        store: ``"env"`` or ``"keyring"``.
        name: Its name there.
    """

    store: str
    name: str


def parse_reference(value: object) -> SecretRef | None:
    """The reference that ``value`` is, or ``None``."""
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return SecretRef(match[1], match[2]) if match else None


def references(settings: Mapping[str, Plain], where: str = "") -> Iterator[tuple[str, SecretRef]]:
    """All references in a settings tree, each with its place (``"api_key"``)."""
    for place, _, value in _leaves(dict(settings), where, ""):
        ref = parse_reference(value)
        if ref is not None:
            yield place, ref


def without_references(settings: Mapping[str, Plain]) -> dict[str, Plain]:
    """A settings tree without its references, wherever they stand."""
    return {name: _without(value) for name, value in settings.items() if parse_reference(value) is None}


def _without(value: Plain) -> Plain:
    if isinstance(value, dict):
        return without_references(value)
    if isinstance(value, list):
        return [_without(item) for item in value if parse_reference(item) is None]
    return value


def refuse_literals(settings: Mapping[str, Plain], where: str, *, by_name: bool = True) -> None:
    """Refuse a settings tree in which a secret is written out.

    Args:
        settings: The tree.
        where: Its place.
        by_name: Also refuse any value under a key that :func:`is_secret_key` knows.

    Raises:
        ConfigError: With the place, never the value.
    """
    for place, key, value in _leaves(dict(settings), where, ""):
        if value is None or isinstance(value, bool) or value in _PLACEHOLDERS or parse_reference(value):
            continue
        named = by_name and is_secret_key(key)
        if named or (isinstance(value, str) and is_key(value)):
            variable = re.sub(r"\W+", "_", key).upper() or "NAME"
            raise ConfigError(
                "a secret must not be written in an experiment",
                where=place,
                fix=f"Put it in an environment variable and write 'env:{variable}' (or 'keyring:NAME')",
            )


def _leaves(value: Plain, where: str, key: str) -> Iterator[tuple[str, str, Plain]]:
    """(place, nearest key, value) of every leaf."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, join(where, key_place(name)), name)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _leaves(item, f"{where}[{i}]", key)
    else:
        yield where, key, value
