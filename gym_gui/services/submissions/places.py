"""What places have said, kept here: when they answered last, and the last lines of what was lost there."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from gym_gui.services.submissions.submission_record import PlaceState
from mosaic_worker.plain_files import replace_file

_EACH: Final = timedelta(seconds=10)
"""How exactly it is on record when a place has answered last: the record is not written for each second."""
_log = logging.getLogger(__name__)


def note_answer(place: PlaceState) -> None:
    """A place has answered."""
    now = datetime.now(UTC)
    place.problem = ""
    if not place.heard_at or abs(now - datetime.fromisoformat(place.heard_at)) >= _EACH:
        place.heard_at = now.isoformat(timespec="seconds")


def keep_said(file: Path, lines: Sequence[str]) -> None:
    """Keep what the command of a try has said last: its place may be cleared, or far away."""
    if not lines:
        return
    try:
        file.parent.mkdir(exist_ok=True)
        replace_file(file, "".join(f"{line}\n" for line in lines).encode(), sync=False)
    except OSError as error:
        _log.debug("%s cannot be written: %s", file, error)
