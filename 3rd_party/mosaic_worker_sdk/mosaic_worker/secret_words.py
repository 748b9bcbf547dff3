"""Recognizes secrets by the name of a setting or by the form of its value.

Settings are stored and shared with a run, so they must not contain a key.
"""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SECRET_WORDS = frozenset(
    {"apikey", "token", "secret", "password", "passwd", "authorization", "credential", "credentials"}
)
_SECRET_PAIRS = frozenset({("api", "key"), ("access", "key"), ("secret", "key"), ("private", "key")})
_NOT_SECRET = frozenset({"stop", "pad", "eos", "bos", "end", "start", "mask", "unk", "sep", "cls"})
"""Words before "token" that mark a token of a tokenizer, which is not a secret."""
_KNOWN_KEYS = re.compile(
    r"(?:Bearer\s+)?(?:sk-[A-Za-z0-9_\-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}"
    r"|AKIA[A-Z0-9]{12,}|AIza[A-Za-z0-9_\-]{20,}|xai-[A-Za-z0-9]{16,}|gsk_[A-Za-z0-9]{16,})"
)
"""Values that are clearly keys of well-known services, whatever the name of the setting is."""


def is_secret_key(key: str) -> bool:
    """Return whether a setting with this name holds a secret (``api_key``, ``hfToken``, …)."""
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return False
    if words[-1] == "token" and len(words) > 1 and words[-2] in _NOT_SECRET:
        return False
    return words[-1] in _SECRET_WORDS or tuple(words[-2:]) in _SECRET_PAIRS


def is_key(value: str) -> bool:
    """Return whether a text has the form of a key of a well-known service."""
    return _KNOWN_KEYS.match(value) is not None
