"""Matches names of environments and slots with patterns."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name matches one of the patterns, ignoring case.

    Without patterns every name matches.
    """
    small = name.lower()
    return not patterns or any(fnmatch.fnmatchcase(small, pattern.lower()) for pattern in patterns)


def made_for_others(env_id: str, patterns: Sequence[str]) -> str:
    """Return ``made for MiniGrid-*, not for CartPole-v1``; ``""`` if a pattern matches or the id is empty."""
    if not env_id or matches(env_id, patterns):
        return ""
    # "*chess*" means each name with chess in it, "chess_v*" each version of it; the word is enough.
    words = [pattern.strip("*") if pattern.startswith("*") else pattern for pattern in patterns]
    words = [word.removesuffix("_v*").removesuffix("-v*") for word in words]
    return f"made for {either([word for word in words if word])}, not for {env_id}"


def either(words: Sequence[str]) -> str:
    """Return the words as an enumeration: ``a, b or c``."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
