"""Caches the list entries of a folder's runs, because reading five thousand ``run.json`` takes seconds."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from gym_gui.version import __version__
from mosaic_worker.plain_files import read_file, replace_file

_MAX_BYTES = 2**28
_VERSION = f"{__version__}, 1"
"""Version of the cached data. Change the number when the data or the way to read runs changes."""

T = TypeVar("T")


class RunIndex(Generic[T]):
    """Cached data of runs by folder name, in one file for each folder of runs.

    A file that cannot be read or has another version is ignored.

    Args:
        cache: Folder of the cache files.
        folder: Folder of runs.
        kind: Type of the cached data.
    """

    def __init__(self, cache: Path, folder: Path, kind: type[T]) -> None:
        name = hashlib.sha256(str(folder.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._file, self._kind = cache / f"{name}.json", kind

    def load(self) -> dict[str, T]:
        """Return the cached data; empty if there is none."""
        kind: Any = _Kept[self._kind]
        try:
            kept = msgspec.json.decode(read_file(self._file, limit=_MAX_BYTES), type=kind, dec_hook=_read)
        except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
            return {}
        return dict(kept.runs) if kept.version == _VERSION else {}

    def save(self, runs: Mapping[str, T]) -> None:
        """Write the data to the cache. A failure is ignored, as the runs can be read again."""
        with contextlib.suppress(OSError, ValueError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            data = msgspec.json.encode(_Kept(_VERSION, dict(runs)), enc_hook=str)
            replace_file(self._file, data, mode=0o600, sync=False)


class _Kept(msgspec.Struct, Generic[T]):
    version: str
    runs: dict[str, T]


def _read(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(kind)
