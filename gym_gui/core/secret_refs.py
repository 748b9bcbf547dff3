"""References to secrets (``env:NAME`` or ``keyring:NAME``), which experiments contain instead of secrets.

Run folders are shared and kept, so a key in an experiment would be published with it. This module decides
what counts as a reference; :mod:`mosaic_worker.secret_words` decides what counts as a secret, and
:mod:`gym_gui.services.secrets` looks references up.
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
"""Placeholder keys that local servers require (vLLM documents ``EMPTY``)."""
VALUE_PATTERN: Final = "|".join((_REFERENCE_PATTERN, *_PLACEHOLDERS))
"""Regular expression of the values that the key of a secret may have."""


class SecretRef(NamedTuple):
    """Store and name of a secret.

    Attributes:
        store: ``"env"`` or ``"keyring"``.
        name: Name of the secret in the store.
    """

    store: str
    name: str


def parse_reference(value: object) -> SecretRef | None:
    """Return ``value`` as a reference, or ``None`` if it is none."""
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return SecretRef(match[1], match[2]) if match else None


def references(settings: Mapping[str, Plain], where: str = "") -> Iterator[tuple[str, SecretRef]]:
    """Yield each reference in a settings tree with its path (``"api_key"``)."""
    for place, _, value in _leaves(dict(settings), where, ""):
        ref = parse_reference(value)
        if ref is not None:
            yield place, ref


def without_references(settings: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return a copy of a settings tree without the references in mappings and lists."""
    return {name: _without(value) for name, value in settings.items() if parse_reference(value) is None}


def _without(value: Plain) -> Plain:
    if isinstance(value, dict):
        return without_references(value)
    if isinstance(value, list):
        return [_without(item) for item in value if parse_reference(item) is None]
    return value


def refuse_literals(settings: Mapping[str, Plain], where: str, *, by_name: bool = True) -> None:
    """Refuse a settings tree that contains a literal secret.

    Args:
        settings: The tree.
        where: Place of the tree.
        by_name: Also refuse any text or number under a key that :func:`is_secret_key` recognizes.

    Raises:
        ConfigError: The tree contains a secret; the error names the place, never the value.
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
    """Yield (path, nearest key, value) for each leaf."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, join(where, key_place(name)), name)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _leaves(item, f"{where}[{i}]", key)
    else:
        yield where, key, value
