"""Entry points that installed packages register for MOSAIC."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any


def entry_points(group: str) -> tuple[metadata.EntryPoint, ...]:
    """Return the entry points of a group, sorted by name, without loading them.

    The metadata of all packages is read once for all groups, because reading takes a twentieth of the
    start-up time of a session process. It is read again after a package was installed.

    Args:
        group: Name of the group, such as ``mosaic.workers``.
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
