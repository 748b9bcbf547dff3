"""What installed packages register with us."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any


def entry_points(group: str) -> tuple[metadata.EntryPoint, ...]:
    """Entry points of a group, by name; none of them is loaded.

    All packages are read once for all groups: that takes a twentieth of what a process that plays takes to
    start. They are read again when something has been installed.

    Args:
        group: Such as ``mosaic.workers``.
    """
    found = _read(tuple((place, _changed(place)) for place in sys.path))
    return tuple(sorted(found.select(group=group), key=lambda point: point.name))


@lru_cache(maxsize=1)
def _read(_places: tuple[tuple[str, int], ...]) -> Any:  # its type changes with Python 3.12
    return metadata.entry_points()


def _changed(place: str) -> int:
    try:
        return Path(place).stat().st_mtime_ns
    except OSError:
        return 0
