"""What counts as a secret: by its name, and by its look.

Settings are kept and passed on with a run, so a key must not stand in them.
"""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SECRET_WORDS = frozenset(
    {"apikey", "token", "secret", "password", "passwd", "authorization", "credential", "credentials"}
)
_SECRET_PAIRS = frozenset({("api", "key"), ("access", "key"), ("secret", "key"), ("private", "key")})
_NOT_SECRET = frozenset({"stop", "pad", "eos", "bos", "end", "start", "mask", "unk", "sep", "cls"})
"""Words before "token" that make it one of a tokenizer's, not of a person's."""
_KNOWN_KEYS = re.compile(
    r"(?:Bearer\s+)?(?:sk-[A-Za-z0-9_\-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}"
    r"|AKIA[A-Z0-9]{12,}|AIza[A-Za-z0-9_\-]{20,}|xai-[A-Za-z0-9]{16,}|gsk_[A-Za-z0-9]{16,})"
)
"""Literals that are unmistakably keys of well-known services, whatever they are called."""


def is_secret_key(key: str) -> bool:
    """Whether a setting of this name holds a secret (``api_key``, ``hfToken``, …)."""
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return False
    if words[-1] == "token" and len(words) > 1 and words[-2] in _NOT_SECRET:
        return False
    return words[-1] in _SECRET_WORDS or tuple(words[-2:]) in _SECRET_PAIRS


def is_key(value: str) -> bool:
    """Whether a text is unmistakably the key of a well-known service."""
    return _KNOWN_KEYS.match(value) is not None
