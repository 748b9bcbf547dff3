"""Secrets are named, never written: ``env:NAME`` or ``keyring:NAME``.

Run folders are shared and kept, so a key that stands in an experiment would be
published with it. Here is decided what counts as a secret and as a reference;
:mod:`gym_gui.services.secrets` looks references up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gym_gui.core.checks import ConfigError, Plain, join, key_place

_REFERENCE: Final = re.compile(r"(env|keyring):([A-Za-z_][A-Za-z0-9_.\-]{0,127})")
_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SECRET_WORDS: Final = frozenset(
    {"apikey", "token", "secret", "password", "passwd", "authorization", "credential", "credentials"}
)
_SECRET_PAIRS: Final = frozenset({("api", "key"), ("access", "key"), ("secret", "key"), ("private", "key")})
_NOT_SECRET: Final = frozenset({"stop", "pad", "eos", "bos", "end", "start", "mask", "unk", "sep", "cls"})
"""Words before "token" that make it one of a tokenizer's, not of a person's."""
_KNOWN_KEYS: Final = re.compile(
    r"(?:Bearer\s+)?(?:sk-[A-Za-z0-9_\-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}"
    r"|AKIA[A-Z0-9]{12,}|AIza[A-Za-z0-9_\-]{20,}|xai-[A-Za-z0-9]{16,}|gsk_[A-Za-z0-9]{16,})"
)
"""Literals that are unmistakably keys of well-known services, whatever they are called."""
_PLACEHOLDERS: Final = frozenset({"", "EMPTY"})
"""Stand-ins that local servers ask for (vLLM documents ``EMPTY``)."""


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


def is_secret_key(key: str) -> bool:
    """Whether a setting of this name holds a secret (``api_key``, ``hfToken``, …)."""
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return False
    if words[-1] == "token" and len(words) > 1 and words[-2] in _NOT_SECRET:
        return False
    return words[-1] in _SECRET_WORDS or tuple(words[-2:]) in _SECRET_PAIRS


def references(settings: Mapping[str, Plain], where: str = "") -> Iterator[tuple[str, SecretRef]]:
    """All references in a settings tree, each with its place (``"api_key"``)."""
    for place, _, value in _leaves(dict(settings), where, ""):
        ref = parse_reference(value)
        if ref is not None:
            yield place, ref


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
        if named or (isinstance(value, str) and _KNOWN_KEYS.match(value)):
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
