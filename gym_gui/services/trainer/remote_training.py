"""State of trainings on other machines, stored in their local run folders.

The coordinator keeps ``elsewhere.json`` in the run folder while the training is on another machine, and adds
to the training's files beside it. Requests are written into ``control.jsonl``, as for a local training, and
the coordinator passes them on.
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
"""Folder beside the daemon's run folders with one file for each announced training."""
WAITING: Final = "waiting"
RUNNING: Final = "running"
FAILED: Final = "failed"
STOPPED: Final = "stopped"
_FORMAT: Final = 1
_STATES: Final = (WAITING, RUNNING, FAILED, STOPPED)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RemoteTraining:
    """Content of ``elsewhere.json``: where a training is played and its state.

    Attributes:
        submission: Folder of the training's submission.
        place: Host of the training, or name of its executor.
        state: ``waiting``, ``running``, ``failed`` or ``stopped``.
        reason: Reason for the state; empty if there is none.
        start: Name of the start whose files are here.
        heard: Bytes of ``control.jsonl`` that have been passed on.
    """

    submission: Path
    place: str
    state: str = WAITING
    reason: str = ""
    start: str = ""
    heard: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether the training is over, unless its submission is resumed."""
        return self.state in (FAILED, STOPPED)

    @property
    def resume_command(self) -> str:
        """Command that resumes the training's submission."""
        return f"mosaic train --resume {self.submission}"

    @property
    def followed(self) -> bool:
        """Whether a coordinator copies the training's files here and passes requests on."""
        try:
            return is_being_written(self.submission)
        except OSError:
            return False


def read_remote_training(folder: Path) -> RemoteTraining | None:
    """Return where the training of a run folder is played; ``None`` if it is local.

    Raises:
        RunFormatError: The file in the folder is invalid.
    """
    row = RunFolder(folder).read(ELSEWHERE)
    if row is None:
        return None
    path = str(folder / ELSEWHERE)
    check_format(path, row.get("format_version"), _FORMAT)
    submission, place, state = (text(row.get(key)) for key in ("submission", "place", "state"))
    if not submission or place is None or state not in _STATES:
        raise RunFormatError(path, "does not name the training's machine")
    return RemoteTraining(
        Path(submission),
        place,
        state,
        text(row.get("reason")) or "",
        text(row.get("start")) or "",
        count(row.get("heard")) or 0,
    )


def write_remote_training(folder: Path, where: RemoteTraining) -> None:
    """Write where a training is played into its run folder.

    Raises:
        OSError: The folder cannot be written.
    """
    row: Mapping[str, Any] = {"format_version": _FORMAT, **asdict(where), "submission": str(where.submission)}
    RunFolder(folder).write(ELSEWHERE, row)


def announce(training: Path, run_id: str, folder: Path) -> None:
    """Announce a training to the daemon of a data folder that does not start the training itself.

    Args:
        training: Folder of the daemon's run folders.
        run_id: Id of the training in the daemon.
        folder: The run folder.

    Raises:
        OSError: The announcement cannot be written.
    """
    place = training / ANNOUNCED
    place.mkdir(parents=True, exist_ok=True)
    replace_file(place / f"{run_id}.json", json.dumps({"folder": str(folder)}).encode())


def announced(training: Path) -> dict[str, Path]:
    """Return the announced run folders by id of the run."""
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
    """Undo :func:`announce`.

    Raises:
        MosaicError: The announcement cannot be removed.
    """
    try:
        (training / ANNOUNCED / f"{run_id}.json").unlink(missing_ok=True)
    except OSError as error:
        raise MosaicError(f"the announcement of the run cannot be removed: {error.strerror}") from error
