"""Lists submissions that are not merged into a run yet, as entries for the list of runs."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from gym_gui.analysis.words import wording
from gym_gui.core.errors import MosaicError
from gym_gui.core.run_labels import FILE, NONE, LabelsError, RunLabels, read_labels
from gym_gui.services.runs.recorder import COMPLETED, FAILED, RUNNING, STOPPED
from gym_gui.services.runs.run_library import CUT_OFF, DAMAGED, RESTS_S, RunEntry, RunOperator
from gym_gui.services.submissions import submission_record
from gym_gui.services.submissions.follower import follower_of
from gym_gui.services.submissions.overview import players_of
from gym_gui.services.submissions.shard_progress import progress_of

FOLDER: Final = "submissions"
"""Folder of the submissions, in the folder of runs."""


class SubmissionList:
    """Reads the records of submissions, each again only after a change. Use it in a thread.

    Args:
        runs: Folder of runs that contains the submissions.
        elsewhere: Whether another machine may write the folder. Locks of other machines are invisible, so
            a submission counts as running while its record changes.
    """

    def __init__(self, runs: Path, *, elsewhere: bool = False) -> None:
        self.folder = runs / FOLDER
        self._runs, self._elsewhere = runs, elsewhere
        self._known: dict[str, tuple[tuple[int, ...], RunEntry | None]] = {}

    def scan(self) -> list[RunEntry]:
        """Return the entries of all submissions, newest first."""
        try:
            with os.scandir(self.folder) as entries:
                names = sorted((each.name for each in entries if each.is_dir()), reverse=True)
        except OSError:
            return []
        self._known = {name: known for name, known in self._known.items() if name in names}
        found = (self.one(self.folder / name) for name in names)
        return [entry for entry in found if entry is not None]

    def one(self, folder: Path) -> RunEntry | None:
        """Return a submission's entry; ``None`` if it is merged into a run or consists of trainings.

        Trainings have a page of their own.
        """
        stamp = _stamp(folder / submission_record.NAME)
        if not stamp:
            return None
        known = self._known.get(folder.name)
        if known is None or known[0][:3] != stamp or known[0][3:] != _stamp(folder / FILE):
            entry = _read(folder)
            if entry is not None and self._elsewhere:
                entry = replace(entry, elsewhere=str(self._runs))
            known = ((*stamp, *_stamp(folder / FILE)), entry)
            self._known[folder.name] = known
        entry = known[1]
        if entry is None or entry.status == DAMAGED:
            return entry
        status = entry.status
        if follower_of(folder) is not None or (self._elsewhere and time.time() - stamp[0] / 1e9 < RESTS_S):
            status = RUNNING
        now = entry if status == entry.status else replace(entry, status=status)
        now.prepare()
        return now


def _stamp(path: Path) -> tuple[int, ...]:
    with suppress(OSError):
        status = path.lstat()
        return status.st_mtime_ns, status.st_size, status.st_ino
    return ()


def _read(folder: Path) -> RunEntry | None:
    """Return the entry of a submission, with the status that holds if no process follows it."""
    labels, wrong = _labels(folder)
    try:
        found = submission_record.open_submission(folder)
    except MosaicError as error:
        return RunEntry(
            folder,
            folder.name,
            DAMAGED,
            problem=str(error),
            labels=labels,
            labels_problem=wrong,
            submission="?",
        )
    if found.trainings is not None or (found.run and found.cleared):
        return None
    progress, operators = progress_of(found), players_of(found)[0]
    if found.run:
        status = COMPLETED
    elif found.numbers(submission_record.FAILED):
        status = FAILED
    else:
        status = CUT_OFF if found.numbers(submission_record.SENT) else STOPPED
    failed = [found.states[number].problem for number in found.numbers(submission_record.FAILED)]
    return RunEntry(
        folder,
        folder.name,
        status,
        _moment(found.began_at),
        tuple(RunOperator(*each) for each in operators),
        found.total or None,
        progress.done,
        failed[0] if failed else "",
        tournament=("Tournament", *(each[1] for each in operators)) if found.command == "tournament" else (),
        labels=labels,
        labels_problem=wrong,
        submission=f"{found.executor}, {progress.shards} of {wording.count(progress.of, 'shard')}",
    )


def _labels(folder: Path) -> tuple[RunLabels, str]:
    try:
        return read_labels(folder), ""
    except LabelsError as error:
        return NONE, str(error)


def _moment(written: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(written)
    return None
