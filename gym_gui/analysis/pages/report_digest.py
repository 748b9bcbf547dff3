"""Checks whether a report's files agree with the run: ``summary.json`` and the pages beside it.

The key ``made`` of ``summary.json`` has the version that wrote the file, the run's digest at that time, and
the digests of the other files. The other content of ``summary.json`` is computed again from the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.records.reader import Run
from gym_gui.core.record_digest import KEY
from gym_gui.core.record_fields import mapping, text
from gym_gui.core.records import has_digests
from gym_gui.version import __version__
from mosaic_worker.plain_files import read_file

SUMMARY: Final = "summary.json"
PAGES: Final = ("report.html", "transcript.html", "tournament.json")
MADE: Final = "made"
_MOST_BYTES: Final = 64 * 2**20
_NUMBERS: Final = ("operators", "comparisons", "refusals", "failures", "matrix", "settings")
"""Keys of ``summary.json`` that depend on the run's rows alone."""


def made_with(folder: Path, run: Run | None) -> dict[str, Any]:
    """Return the value of the key ``made`` of ``summary.json``; call it after the other files are written.

    Args:
        folder: Folder of the report's files.
        run: The run, if the report covers a single one.
    """
    files = {name: digest for name in PAGES if (digest := _digest(folder / name))}
    of = None if run is None else run.record.extra.get(KEY)
    return {"mosaic": __version__, KEY: of, "files_sha256": files}


def changed_reports(run: Run, header: Mapping[str, Any], summary: Summary) -> tuple[list[str], list[str]]:
    """Return the files of a run's report that disagree with the run, and those that cannot be checked.

    Args:
        run: The run.
        header: Content of ``run.json``.
        summary: Summary computed from the run now.
    """
    path = run.path / SUMMARY
    there = [name for name in PAGES if (run.path / name).exists()]
    try:
        data = dict(mapping(orjson.loads(read_file(path, inside=run.path, limit=_MOST_BYTES))) or {})
    except FileNotFoundError:
        return [], there
    except (OSError, ValueError):
        return [SUMMARY], there
    made = mapping(data.get(MADE)) or {}
    if not made and not has_digests(header):
        return [], [SUMMARY, *there]  # of an earlier version, without digests to compare
    if made and (made.get("mosaic") != __version__ or made.get(KEY) != header.get(KEY)):
        return [], [SUMMARY, *there]
    files = mapping(made.get("files_sha256")) or {}
    changed = [name for name in there if text(files.get(name)) != _digest(run.path / name)]
    now = orjson.loads(orjson.dumps(summary.to_json(), option=orjson.OPT_NON_STR_KEYS))
    if not made or any(data.get(key) != now.get(key) for key in _numbers(summary)):
        changed.insert(0, SUMMARY)
    return changed, []


def _numbers(summary: Summary) -> tuple[str, ...]:
    # Verdicts on trainings come from the trainings' folders, which may have been deleted.
    return _NUMBERS if summary.trainings else (*_NUMBERS, "verdicts")


def _digest(path: Path) -> str:
    try:
        return sha256(read_file(path, limit=_MOST_BYTES)).hexdigest()
    except OSError:
        return ""
