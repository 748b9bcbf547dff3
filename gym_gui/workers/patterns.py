"""Patterns of names: which environments and slots something is made for."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name is one of those meant; without patterns all are. Capitals do not matter."""
    small = name.lower()
    return not patterns or any(fnmatch.fnmatchcase(small, pattern.lower()) for pattern in patterns)


def made_for_others(env_id: str, patterns: Sequence[str]) -> str:
    """``made for MiniGrid-*, not for CartPole-v1``; empty where it is for this one, or none is named."""
    if not env_id or matches(env_id, patterns):
        return ""
    # "*chess*" is whatever has chess in its name, "chess_v*" each version of it; the word tells it.
    words = [pattern.strip("*") if pattern.startswith("*") else pattern for pattern in patterns]
    words = [word.removesuffix("_v*").removesuffix("-v*") for word in words]
    return f"made for {either([word for word in words if word])}, not for {env_id}"


def either(words: Sequence[str]) -> str:
    """``a, b or c``."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
