"""Runs that a test has changed, with the digests that their files have then."""

from __future__ import annotations

from pathlib import Path

import orjson

from gym_gui.analysis.records.run_digest import FILES, files_digests, run_digest
from gym_gui.core.record_digest import KEY


def seal_anew(run: Path) -> None:
    """Write the digests of a run as it is now, as its recorder would have: episodes keep their own."""
    file = run / "run.json"
    header = orjson.loads(file.read_bytes())
    header[FILES] = files_digests(run, [place.name for place in (run / "operators").iterdir()])
    header[KEY] = run_digest(header)
    file.write_bytes(orjson.dumps(header))
