"""Copies the growing files of trainings on other machines into the local run folders.

So a program that follows a training of this machine (the trainer daemon, the window, a terminal) can follow
these trainings too. Requests that the program writes into ``control.jsonl`` are passed on.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from gym_gui.core.errors import RunFormatError
from gym_gui.core.record_fields import count, mapping, number
from gym_gui.services.submissions.submission_errors import LocalMachineError
from gym_gui.services.submissions.submission_record import (
    FAILED,
    SENT,
    STOPPED,
    WAITING,
    ShardState,
    Submission,
)
from gym_gui.services.submissions.submitted_trainings import Trainings
from gym_gui.services.submissions.training_files import FOLLOWED, FileGrowth, ReceivedFiles
from gym_gui.services.trainer import remote_training
from gym_gui.services.trainer.remote_training import (
    RemoteTraining,
    read_remote_training,
    write_remote_training,
)
from gym_gui.services.trainer.training_folder import ELSEWHERE
from mosaic_worker.plain_files import make_folder, open_file
from mosaic_worker.training import CONTROL, EVENTS

_STATES: Final = {
    WAITING: remote_training.WAITING,
    FAILED: remote_training.FAILED,
    STOPPED: remote_training.STOPPED,
}

_log = logging.getLogger(__name__)


@runtime_checkable
class TrainingSite(Protocol):
    """Host or cluster whose trainings can be followed. See :class:`.executor_backend.ExecutorBackend`."""

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        """Ask trainings to end."""
        ...

    async def exchange(self, known: Mapping[int, ReceivedFiles]) -> dict[int, FileGrowth]:
        """Pass requests to trainings and return the new bytes of their files."""
        ...


class TrainingMirror:
    """Updates the local run folders of trainings that run elsewhere.

    Args:
        submission: Record of the submission.
        trainings: The submission's trainings, as parts.
    """

    def __init__(self, submission: Submission, trainings: Trainings) -> None:
        self._submission, self._trainings = submission, trainings
        self._where: dict[int, RemoteTraining] = {}

    async def follow(self, backend: TrainingSite, tries: Mapping[int, int]) -> None:
        """Copy the new lines of one host's trainings here, and pass requests on to the trainings.

        Args:
            backend: Backend of the host.
            tries: Number of the attempt of each training on the host.

        Raises:
            HostAwayError: The host does not answer.
            HereError: A local file cannot be written.
        """
        known = await asyncio.to_thread(self._known, tries)
        stopped = {
            part: tries[part]
            for part, each in known.items()
            if b'"stop"' in each.requests and not self._submission.state(part).asked
        }
        if stopped:
            for part in stopped:
                self._submission.state(part).asked = True
            self._submission.save()
            await backend.stop(stopped, at_once=False)
        grown = await backend.exchange(known)
        await asyncio.to_thread(self._take, known, grown)

    def note(self) -> None:
        """Record each training's state in its run folder. A waiting training is stopped if requested."""
        for part in range(1, len(self._trainings.parts) + 1):
            folder = self._submission.training_folder(part)
            state = self._submission.states.get(part) or ShardState()
            if state.status == WAITING and b'"stop"' in self._new_requests(part, folder):
                state = self._submission.state(part)
                state.status, state.asked = STOPPED, True
            says = _STATES.get(state.status) if state.status != SENT else self._sent(part)
            if says is None:  # the training has been collected
                if self._where.pop(part, None) is not None:
                    (folder / ELSEWHERE).unlink(missing_ok=True)
                continue
            place = state.host or self._submission.executor
            before = self._standing(part, folder)
            where = replace(before, place=place, state=says, reason=state.problem)
            if where != before or part not in self._where:
                self._keep(part, where)

    # -- inside --------------------------------------------------------------------------

    def _sent(self, part: int) -> str:
        """Return the state of a sent training: waiting until its first steps, then running."""
        return remote_training.RUNNING if self._submission.states[part].done else remote_training.WAITING

    def _standing(self, part: int, folder: Path) -> RemoteTraining:
        if part not in self._where:
            with suppress(RunFormatError):
                found = read_remote_training(folder)
                if found is not None and found.submission == self._submission.folder:
                    return found
            return RemoteTraining(self._submission.folder, self._submission.executor)
        return self._where[part]

    def _keep(self, part: int, where: RemoteTraining) -> None:
        folder = self._submission.training_folder(part)
        try:
            self._submission.out.mkdir(parents=True, exist_ok=True)
            if folder != self._submission.out:  # a single training uses ``out`` itself as its folder
                make_folder(folder, inside=self._submission.out)
            write_remote_training(folder, where)
        except OSError as error:
            raise _trouble(error, folder) from error
        self._where[part] = where

    def _new_requests(self, part: int, folder: Path) -> bytes:
        """Return the requests that were written since the last ones were passed on, as lines."""
        with suppress(OSError), open_file(folder / CONTROL, inside=self._submission.out) as file:
            file.seek(self._standing(part, folder).heard)
            return file.read().rpartition(b"\n")[0]
        return b""

    def _known(self, tries: Mapping[int, int]) -> dict[int, ReceivedFiles]:
        found: dict[int, ReceivedFiles] = {}
        for part in tries:
            folder = self._submission.training_folder(part)
            sizes = tuple(_size(folder / name) for name in FOLLOWED)
            wishes = self._new_requests(part, folder)
            found[part] = ReceivedFiles(
                self._standing(part, folder).start, sizes, wishes + b"\n" if wishes else b""
            )
        return found

    def _take(self, known: Mapping[int, ReceivedFiles], grown: Mapping[int, FileGrowth]) -> None:
        for part, more in grown.items():
            folder = self._submission.training_folder(part)
            where = self._standing(part, folder)
            state = self._submission.states[part]
            if more.start != where.start:
                for name in FOLLOWED:
                    (folder / name).unlink(missing_ok=True)
                state.done = state.safe = 0
            heard = where.heard + len(known[part].requests)
            if (more.start, heard) != (where.start, where.heard):
                self._keep(part, replace(where, start=more.start, heard=heard))
            for name, data in more.more.items():
                whole = data[: data.rfind(b"\n") + 1]
                if not whole:
                    continue
                try:
                    with open_file(folder / name, "ab", inside=self._submission.out, buffering=0) as file:
                        file.write(whole)
                except OSError as error:
                    raise _trouble(error, folder) from error
                if name == EVENTS:
                    _count_in(state, whole)


def _trouble(error: OSError, folder: Path) -> LocalMachineError:
    return LocalMachineError(
        f"{error.filename or folder} cannot be written: {error.strerror}",
        fix="Solve that, then resume; running trainings continue",
    )


def _count_in(state: ShardState, lines: bytes) -> None:
    """Update the progress of a training from its event lines."""
    for line in lines.splitlines():
        try:
            row: Mapping[str, Any] = mapping(json.loads(line)) or {}
        except ValueError:
            continue
        step, event = count(row.get("step")), row.get("event")
        if step is None:
            continue
        state.done = step
        if event in ("checkpoint", "done"):
            state.safe = step
        if event in ("progress", "done") and (score := number(row.get("mean_return"))) is not None:
            state.score = score


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
