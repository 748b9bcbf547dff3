"""Trainings that are played on another machine, as their run folders here say.

Their coordinator keeps ``elsewhere.json`` in the run folder for as long as they are there, and lets the files
of the training grow beside it. Wishes are written into ``control.jsonl``, as for a training on this machine,
and the coordinator passes them on.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import MosaicError, RunFormatError
from gym_gui.core.formats import check_format
from gym_gui.core.record_fields import count, text
from gym_gui.services.run_lock import is_being_written
from gym_gui.services.trainer.training_folder import ELSEWHERE, RunFolder
from mosaic_worker.plain_files import read_file, replace_file

ANNOUNCED: Final = "elsewhere"
"""Folder beside the daemon's run folders: a file for each training that the daemon is to know of."""
WAITING: Final = "waiting"
RUNNING: Final = "running"
FAILED: Final = "failed"
STOPPED: Final = "stopped"
_FORMAT: Final = 1
_STATES: Final = (WAITING, RUNNING, FAILED, STOPPED)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Elsewhere:
    """Where a training is played.

    Attributes:
        submission: Folder of the submission that it is part of.
        place: The host, or what hosts there are.
        state: ``waiting``, ``running``, ``failed`` or ``stopped``.
        reason: Why, where there is something to say.
        start: Which of its beginnings there the files here are of.
        heard: Bytes of ``control.jsonl`` that have been passed on.
    """

    submission: Path
    place: str
    state: str = WAITING
    reason: str = ""
    start: str = ""
    heard: int = 0

    @property
    def over(self) -> bool:
        """Whether the training is over, unless its submission is resumed."""
        return self.state in (FAILED, STOPPED)

    @property
    def again(self) -> str:
        """The command that resumes it."""
        return f"mosaic train --resume {self.submission}"

    @property
    def followed(self) -> bool:
        """Whether a coordinator brings its files here, and passes wishes on."""
        try:
            return is_being_written(self.submission)
        except OSError:
            return False


def read_elsewhere(folder: Path) -> Elsewhere | None:
    """Where the training of a run folder is played; ``None``: nowhere else.

    Raises:
        RunFormatError: What its folder says makes no sense.
    """
    row = RunFolder(folder).read(ELSEWHERE)
    if row is None:
        return None
    path = str(folder / ELSEWHERE)
    check_format(path, row.get("format_version"), _FORMAT)
    submission, place, state = (text(row.get(key)) for key in ("submission", "place", "state"))
    if not submission or place is None or state not in _STATES:
        raise RunFormatError(path, "does not say where the training is")
    return Elsewhere(
        Path(submission),
        place,
        state,
        text(row.get("reason")) or "",
        text(row.get("start")) or "",
        count(row.get("heard")) or 0,
    )


def keep_elsewhere(folder: Path, where: Elsewhere) -> None:
    """Write it down.

    Raises:
        OSError: The folder cannot be written.
    """
    row: Mapping[str, Any] = {"format_version": _FORMAT, **asdict(where), "submission": str(where.submission)}
    RunFolder(folder).write(ELSEWHERE, row)


def announce(training: Path, run_id: str, folder: Path) -> None:
    """Have the daemon of a data folder know of a training that it does not start itself.

    Args:
        training: Where the daemon's run folders are.
        run_id: By which the daemon knows it.
        folder: Its run folder.

    Raises:
        OSError: It cannot be written.
    """
    place = training / ANNOUNCED
    place.mkdir(parents=True, exist_ok=True)
    replace_file(place / f"{run_id}.json", json.dumps({"folder": str(folder)}).encode())


def announced(training: Path) -> dict[str, Path]:
    """Run folders that the daemon was told of, by the ids of their runs."""
    found: dict[str, Path] = {}
    for path in sorted((training / ANNOUNCED).glob("*.json")):
        try:
            folder = text(json.loads(read_file(path)).get("folder"))
        except (OSError, ValueError, AttributeError):
            folder = None
        if folder:
            found[path.stem] = Path(folder)
        else:
            _log.warning("%s does not name the folder of a training", path)
    return found


def forget(training: Path, run_id: str) -> None:
    """Take back what :func:`announce` has told.

    Raises:
        MosaicError: It cannot be.
    """
    try:
        (training / ANNOUNCED / f"{run_id}.json").unlink(missing_ok=True)
    except OSError as error:
        raise MosaicError(f"the run cannot be forgotten: {error.strerror}") from error
