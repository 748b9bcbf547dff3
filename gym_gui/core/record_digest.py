"""The digest of everything recorded about an episode except times.

``trajectory_sha256`` shows that the game was played as recorded: a replay gives the same digest. A replay
cannot repeat who chose, who sat where, tokens and reasons. ``record_sha256`` shows that these are unchanged
since they were written. Neither is a signature: a person who rewrites a run can write new digests, unless
the old ones were published.

``record_sha256`` is the SHA-256 of the episode's rows in the order of the file, then of its own line, each
as compact JSON with its keys in their order and a line break, without the keys of :data:`UNTIMED`. The
digest of a whole run is in :mod:`gym_gui.analysis.records.run_digest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

import orjson

from gym_gui.core.plain_data import to_plain

KEY: Final = "record_sha256"
UNTIMED: Final = frozenset({"started_at", "finished_at", "wall_s", "latency_ms", KEY})
"""Keys that the digest leaves out, so that two equal runs have equal digests of their episodes."""

_LINE: Final = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY


def without_times(row: Mapping[str, Any]) -> bytes:
    """Return the bytes of a row, or of an episode's line, that enter the digest."""
    kept = {key: value for key, value in row.items() if key not in UNTIMED}
    return orjson.dumps(kept, default=to_plain, option=_LINE)


def seal(row: dict[str, Any], rows: bytes) -> bytes:
    """Add the digest to an episode's line and return the line.

    Args:
        row: The episode.
        rows: Its rows, each converted by :func:`without_times`, one after the other.
    """
    row[KEY] = sha256(rows + without_times(row)).hexdigest()
    return orjson.dumps(row, default=to_plain, option=_LINE)


def episode_digest(row: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the expected ``record_sha256`` of an episode, from its line and its rows as read back."""
    digest = sha256()
    for line in rows:
        digest.update(without_times(line))
    digest.update(without_times(row))
    return digest.hexdigest()
