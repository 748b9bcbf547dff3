"""Names of NetHack's commands, with their meanings from NLE's own source."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

_COMPASS: Mapping[str, str] = {
    "N": "north",
    "E": "east",
    "S": "south",
    "W": "west",
    "NE": "northeast",
    "SE": "southeast",
    "SW": "southwest",
    "NW": "northwest",
}
_LINE = re.compile(r"^    (?P<name>[A-Z0-9_]+) = .*?# (?P<text>.+)$", re.M)
_OWN: Mapping[str, str] = {"more": "go on reading a long message", "wait": "wait for one turn"}


def words(actions: Sequence[Any]) -> tuple[str, ...]:
    """Return a name for each NetHack command: ``north``, ``far north``, ``kick``."""
    return tuple(map(word, actions))


def word(action: Any) -> str:
    """Return the name of a NetHack command; a plain character keeps its own name."""
    kind, name = type(action).__name__, str(action.name)
    if kind.startswith("Compass"):
        return f"far {_COMPASS[name]}" if kind.endswith("Longer") else _COMPASS[name]
    if kind == "TextCharacters":
        return f"character {chr(action)}" if action != ord(" ") else "space"
    return name.lower()


def meaning(action: Any) -> str:
    """Return what a NetHack command does, with its key, which also answers questions."""
    kind, name = type(action).__name__, word(action)
    if kind.startswith("Compass"):
        way = _COMPASS[str(action.name)]
        does = f"go {way} until something is in the way" if kind.endswith("Longer") else f"go one cell {way}"
    elif kind == "TextCharacters":
        return ""
    else:
        does = _OWN.get(name) or _comments().get(str(action.name), "")
    key = int(action)
    return f"{does} [{chr(key)}]" if 33 <= key < 127 else does


@lru_cache(maxsize=1)
def _comments() -> Mapping[str, str]:
    """Return the comment beside each command in NLE's source, by command."""
    spec = importlib.util.find_spec("nle.nethack.actions")
    if spec is None or spec.origin is None:
        return {}
    return {
        match["name"]: match["text"].strip().rstrip('"')
        for match in _LINE.finditer(Path(spec.origin).read_text("utf-8"))
    }
