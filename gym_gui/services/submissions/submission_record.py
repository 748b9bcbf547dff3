"""Record of a submission and its progress on disk, from which a later coordinator resumes it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.experiment.shards import MOST_SHARDS
from gym_gui.core.formats import check_format
from gym_gui.core.record_fields import count, integers, items, mapping, strings, text
from gym_gui.core.record_fields import number as real
from gym_gui.core.trusted.subjects import Subject
from gym_gui.services.submissions.submission_errors import LocalMachineError
from gym_gui.services.submissions.submitted_trainings import TRAIN, Trainings, trainings_of
from mosaic_worker.plain_files import read_file, replace_file

NAME: Final = "submission.json"
FORMAT: Final = 1
SHARDS_FOLDER: Final = "shards"
"""Folder of the collected run folders."""
BUNDLE_FOLDER: Final = "bundle"
"""Folder of the files that are sent to each host."""
LOGS_FOLDER: Final = "logs"
"""Folder of the last output of shards that were lost."""
WAITING: Final = "waiting"
SENT: Final = "sent"
COLLECTED: Final = "collected"
FAILED: Final = "failed"
STOPPED: Final = "stopped"
"""Status of a shard that the user has stopped; its results so far are here."""
_MOST_BYTES: Final = 256 * 2**20


def new_token() -> str:
    """Return a new random token for a submission."""
    return secrets.token_hex(16)


@dataclass
class ShardState:
    """State of one shard of a submission.

    Attributes:
        status: ``waiting``, ``sent``, ``collected``, ``failed`` or ``stopped``.
        host: Host or cluster that plays the shard, or began it.
        tries: Number of times that the shard was begun.
        lost: Number of successive attempts that were lost without new work.
        kept: Work that was safe when the latest attempt began.
        problem: Why the latest lost attempt was lost.
        done: Finished work, in the submission's units.
        failed: Finished work that failed, included in ``done``.
        batch: First shard of the batch that one process plays in order, including this shard; 0 for no
            batch.
        safe: Work that is kept even if the process dies; for a training, up to its last checkpoint.
        score: Mean return of the last episodes of a training; ``None`` before the first.
        asked: Whether the user wants the shard to end.
        playing: Whether a sent shard was being played at the last status. If not, it waits on its host.
        node: Machine that plays or played the shard, if the host or cluster has several machines.
        job: Id of the job in the cluster's scheduler.
    """

    status: str = WAITING
    host: str = ""
    tries: int = 0
    lost: int = 0
    kept: int = 0
    problem: str = ""
    done: int = 0
    failed: int = 0
    batch: int = 0
    safe: int = 0
    score: float | None = None
    asked: bool = False
    playing: bool = False
    node: str = ""
    job: str = ""

    def to_record(self) -> dict[str, Any]:
        """Return the state as plain data without empty values."""
        return {
            key: value for key, value in vars(self).items() if value or (key == "score" and value is not None)
        }


@dataclass
class PlaceState:
    """State of a host or cluster of a submission.

    Attributes:
        heard_at: Time of its last answer by the local clock, in ISO 8601, to ten seconds.
        problem: Why the host does not answer or is no longer used.
        given_up: Whether nothing more is played on the host.
    """

    heard_at: str = ""
    problem: str = ""
    given_up: bool = False

    def to_record(self) -> dict[str, Any]:
        """Return the state as plain data without empty values."""
        return {key: value for key, value in vars(self).items() if value}


class FormerPlace(NamedTuple):
    """A host that got files of a submission and that the profile no longer names.

    Attributes:
        name: Name of the host.
        entry: The host's entry in the old profile.
    """

    name: str
    entry: Mapping[str, Any]


@dataclass
class Submission:
    """An experiment, a tournament or trainings that are played on other machines.

    Attributes:
        folder: Folder of the submission.
        executor: Kind of executor, such as ``ssh``.
        profile: Contents of the profile's file, which says where to play.
        command: ``run``, ``tournament`` or ``train``.
        of: Number of shards or trainings.
        total: Work of all shards together, in episodes or environment steps.
        out: Folder for the merged run folder or for the run folders of the trainings.
        states: States of the shards that have been begun, by number.
        run: Merged run folder, or run folder of the trainings; empty before it exists.
        cleared: Whether no files of the submission are left on the hosts.
        began_at: Time of submission by the local clock, in ISO 8601.
        seatings: For play until a decision: episodes of each seed, by operator.
        due: For play until a decision: shards to play now, as others may not be needed; ``None`` for all.
        trainings: The trainings, or ``None``.
        at_once: Largest number of shards that are played at the same time.
        used: Hosts that were sent files, even if their shards were given to others later.
        emptied: Hosts in ``used`` where no files of the submission are left.
        former: Hosts in ``used`` that the profile no longer names and where files may be left.
        places: States of hosts by name.
        needs: Permissions that the submitting user has given. They are not part of this record but of the
            entry in :mod:`.own_submissions`.
        token: Marks the submission's folder on a host. A folder without it was made by another user. Like
            ``needs``, it is not part of this record.
    """

    folder: Path
    executor: str
    profile: Mapping[str, Any]
    command: str
    of: int
    total: int
    out: Path
    states: dict[int, ShardState] = field(default_factory=dict[int, ShardState])
    run: str = ""
    seatings: Mapping[str, int] = field(default_factory=dict[str, int])
    due: list[int] | None = None
    cleared: bool = False
    began_at: str = ""
    trainings: Trainings | None = None
    at_once: int = 1
    used: set[str] = field(default_factory=set[str])
    emptied: set[str] = field(default_factory=set[str])
    former: list[FormerPlace] = field(default_factory=list[FormerPlace])
    places: dict[str, PlaceState] = field(default_factory=dict[str, PlaceState])
    needs: tuple[Subject, ...] = field(default=(), compare=False)
    token: str = field(default_factory=new_token, compare=False)
    _written: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def parts(self) -> str:
        """Plural noun for the parts: "trainings" or "shards"."""
        return "trainings" if self.trainings else "shards"

    def called(self, number: int) -> str:
        """Return the name of a shard or training for messages."""
        if self.trainings:
            return f"the training with seed {self.trainings.part(number).seed}"
        return f"shard {number} of {self.of}"

    def training_folder(self, number: int) -> Path:
        """Return the local run folder of a training. Raises like :meth:`check_folders`."""
        assert self.trainings is not None, "it trains"
        folder = self.trainings.part(number).folder
        self._check_folder(folder)
        return folder

    def check_folders(self) -> None:
        """Refuse links in place of the run folders, because files would be written elsewhere.

        Raises:
            HereError: A run folder is a link.
        """
        for training in self.trainings.parts if self.trainings is not None else ():
            self._check_folder(training.folder)
        if self.run:
            self._check_folder(Path(self.run))

    def _check_folder(self, folder: Path) -> None:
        if folder != self.out and folder.is_symlink():  # ``out`` itself may be a link that a person named
            raise LocalMachineError(
                f"{folder} is a link, and links below {self.out} are not followed",
                fix="Replace the link by the folder",
            )

    @property
    def shards(self) -> Path:
        """Folder of the collected run folders."""
        return self.folder / SHARDS_FOLDER

    @property
    def bundle(self) -> Path:
        """Folder of the files that are sent to each host."""
        return self.folder / BUNDLE_FOLDER

    def log(self, number: int, attempt: int) -> Path:
        """Return the path of the last output of a lost attempt. The file may not exist."""
        return self.folder / LOGS_FOLDER / f"{number}-{attempt}.log"

    @property
    def places_used(self) -> set[str]:
        """Hosts that were sent files, with the hosts of shards from records without ``used``."""
        return self.used | {state.host for state in self.states.values() if state.host}

    def place(self, name: str) -> PlaceState:
        """Return the state of a host, created on first use."""
        return self.places.setdefault(name, PlaceState())

    def state(self, number: int) -> ShardState:
        """Return the state of a shard, created on first use."""
        return self.states.setdefault(number, ShardState())

    def numbers(self, *statuses: str) -> list[int]:
        """Return the shards with one of the given statuses, in order, without shards that are not due."""
        waiting = WAITING in statuses
        return [
            number
            for number in (range(1, self.of + 1) if self.due is None else self.due)
            if (self.states[number].status in statuses if number in self.states else waiting)
        ]

    def batches(self, tries: Mapping[int, int]) -> list[list[tuple[int, int]]]:
        """Return attempts of shards grouped by the process that plays them, in order."""
        found: dict[int, list[tuple[int, int]]] = {}
        for number, attempt in sorted(tries.items()):
            state = self.states.get(number)
            found.setdefault(state.batch if state and state.batch else number, []).append((number, attempt))
        return list(found.values())

    def save(self) -> None:
        """Write the record to disk, whole or not at all.

        Raises:
            HereError: The file cannot be written.
        """
        data = {
            "format": FORMAT,
            "executor": self.executor,
            "command": self.command,
            "of": self.of,
            "total": self.total,
            "at_once": self.at_once,
            "out": str(self.out),
            "run": self.run,
            "cleared": self.cleared,
            "used": sorted(self.used),
            **({"emptied": sorted(self.emptied)} if self.emptied else {}),
            **({"former": [each._asdict() for each in self.former]} if self.former else {}),
            "places": {name: place.to_record() for name, place in sorted(self.places.items())},
            "began_at": self.began_at,
            "profile": dict(self.profile),
            **({} if self.due is None else {"seatings": dict(self.seatings), "due": self.due}),
            **({"trainings": self.trainings.to_record()} if self.trainings else {}),
            "shards": {str(number): state.to_record() for number, state in sorted(self.states.items())},
        }
        written = (json.dumps(data, indent=1) + "\n").encode()
        if written == self._written:
            return  # nothing has changed since the last save
        try:
            replace_file(self.folder / NAME, written, mode=0o600)
            self._written = written
        except OSError as error:
            raise LocalMachineError(f"{self.folder / NAME} cannot be written: {error.strerror}") from error


def is_submission(folder: Path) -> bool:
    """Return whether a folder is the folder of a submission."""
    return (folder / NAME).is_file()


def open_submission(folder: Path) -> Submission:
    """Read the record of a submission.

    Raises:
        RunFormatError: The record is damaged or has a later format.
        UsageError: The record cannot be read.
    """
    path = folder / NAME
    try:
        data: Any = json.loads(read_file(path, limit=_MOST_BYTES))
        check_format(str(path), data.get("format"), FORMAT)
        rows = mapping(data["shards"]) or {}
        of, executor, command = count(data["of"]), text(data["executor"]), text(data["command"])
        states = {int(number): _state(mapping(row) or {}) for number, row in rows.items()}
        if not of or not executor or command not in ("run", "tournament", TRAIN):
            raise ValueError
        trainings = trainings_of(data.get("trainings"))
        if (trainings is not None) != (command == TRAIN) or (trainings and len(trainings.parts) != of):
            raise ValueError
        out, run = Path(str(data["out"])), text(data.get("run")) or ""
        if of > MOST_SHARDS or not _lie_below(out, run, trainings):
            raise ValueError
        return Submission(
            folder,
            executor,
            mapping(data["profile"]) or {},
            command,
            of,
            count(data["total"]) or 0,
            out,
            states,
            run,
            {str(name): count(each) or 1 for name, each in (mapping(data.get("seatings")) or {}).items()},
            _due(data.get("due"), of),
            data.get("cleared") is True,
            text(data.get("began_at")) or "",
            trainings=trainings,
            at_once=count(data.get("at_once")) or of,
            used=set(strings(data.get("used")) or ()),
            emptied=set(strings(data.get("emptied")) or ()),
            former=[_former(mapping(row) or {}) for row in items(data.get("former")) or ()],
            places={
                str(name): _place(mapping(row) or {})
                for name, row in (mapping(data.get("places")) or {}).items()
            },
        )
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RunFormatError(str(path), "is damaged. Submit it again") from None


def _former(row: Mapping[str, Any]) -> FormerPlace:
    return FormerPlace(str(row["name"]), dict(mapping(row["entry"]) or {}))


def _lie_below(out: Path, run: str, trainings: Trainings | None) -> bool:
    """Return whether all run folders lie directly in the folder for results."""
    folders = [] if trainings is None else [each.folder for each in trainings.parts]
    if run:
        folders.append(Path(run))
    # Of trainings, the single run folder or the group's folder may be ``out`` itself.
    there = {out} if trainings is not None else set[Path]()
    return all(".." not in folder.parts and (folder.parent == out or folder in there) for folder in folders)


def _due(written: object, of: int) -> list[int] | None:
    if written is None:
        return None
    due = integers(written)
    if due is None or not all(1 <= number <= of for number in due):
        raise ValueError(written)
    return list(due)


def _place(row: Mapping[str, Any]) -> PlaceState:
    return PlaceState(
        text(row.get("heard_at")) or "", text(row.get("problem")) or "", row.get("given_up") is True
    )


def _state(row: Mapping[str, Any]) -> ShardState:
    status = text(row.get("status")) or WAITING
    if status not in (WAITING, SENT, COLLECTED, FAILED, STOPPED):
        raise ValueError(status)
    return ShardState(
        status,
        host=text(row.get("host")) or "",
        tries=count(row.get("tries")) or 0,
        lost=count(row.get("lost")) or 0,
        kept=count(row.get("kept")) or 0,
        problem=text(row.get("problem")) or "",
        done=count(row.get("done")) or 0,
        failed=count(row.get("failed")) or 0,
        batch=count(row.get("batch", row.get("hand"))) or 0,
        safe=count(row.get("safe")) or 0,
        score=real(row.get("score")),
        asked=row.get("asked") is True,
        playing=row.get("playing") is True,
        node=text(row.get("node")) or "",
        job=text(row.get("job")) or "",
    )
