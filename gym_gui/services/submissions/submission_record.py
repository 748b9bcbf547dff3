"""What a submission is and how far it is, on disk: a later coordinator resumes the submission by it."""

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
from gym_gui.services.submissions.submission_errors import HereError
from gym_gui.services.submissions.submitted_trainings import TRAIN, Trainings, trainings_of
from mosaic_worker.plain_files import read_file, replace_file

NAME: Final = "submission.json"
FORMAT: Final = 1
SHARDS_FOLDER: Final = "shards"
"""Folder of the run folders that have been collected."""
BUNDLE_FOLDER: Final = "bundle"
"""Folder of what is sent to each host."""
LOGS_FOLDER: Final = "logs"
"""Folder of what commands of shards that were lost have said last."""
WAITING: Final = "waiting"
SENT: Final = "sent"
COLLECTED: Final = "collected"
FAILED: Final = "failed"
STOPPED: Final = "stopped"
"""Ended because the user wanted that; what it has is here."""
_MOST_BYTES: Final = 256 * 2**20


def new_token() -> str:
    """A token that no place has."""
    return secrets.token_hex(16)


@dataclass
class ShardState:
    """Where one shard stands.

    Attributes:
        status: ``waiting``, ``sent``, ``collected``, ``failed`` or ``stopped``.
        host: Where it is played, or was begun.
        tries: How often it was begun.
        lost: How often it was lost one after another without having played anything.
        kept: Work that was safe when it was begun the last time.
        problem: Why it was lost the last time.
        done: Work of it that is done, in the submission's units.
        failed: Of these, failed ones.
        batch: The first of the shards that one process plays, one after the other, this among them; 0: none.
        safe: Work that no end of its process takes away: that of a training to its last checkpoint.
        score: Mean return of the last episodes of a training; ``None`` before the first.
        asked: The user wants it to end.
        playing: Of one that was sent, whether it was being played at the last look; else it waits there.
        node: The machine of its place that plays it, or did, where the place has several and says so.
        job: What the scheduler of its place calls it.
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
        """Plain data, without what is empty."""
        return {
            key: value for key, value in vars(self).items() if value or (key == "score" and value is not None)
        }


@dataclass
class PlaceState:
    """What is known of a place.

    Attributes:
        heard_at: When it answered last, by the clock here, in ISO 8601; to ten seconds.
        problem: Why it does not, or is used no more.
        given_up: Whether nothing more is played there.
    """

    heard_at: str = ""
    problem: str = ""
    given_up: bool = False

    def to_record(self) -> dict[str, Any]:
        """Plain data, without what is empty."""
        return {key: value for key, value in vars(self).items() if value}


class FormerPlace(NamedTuple):
    """A place that a submission was sent to, and that its profile names no more.

    Attributes:
        name: Its name.
        entry: What the profile said of it.
    """

    name: str
    entry: Mapping[str, Any]


@dataclass
class Submission:
    """Something that is played elsewhere: an experiment, a tournament, trainings.

    Attributes:
        folder: Its own folder.
        executor: By what: ``ssh``.
        profile: Where, as its file says.
        command: ``run``, ``tournament`` or ``train``.
        of: How many shards it is cut into, or how many trainings it has.
        total: Work that they have together: episodes, or environment steps.
        out: Folder for the run folder that they are merged into, or that of the trainings.
        states: Shards that have been begun, by number.
        run: The run folder that they were merged into, or that of the trainings; empty before.
        cleared: Whether nothing of it is left where it was played.
        began_at: When it was handed in, by the clock here, in ISO 8601.
        seatings: Where it is played until it is decided: episodes of each seed, by operator.
        due: Then, shards that are to be played by now, the others perhaps later; ``None``: all are.
        trainings: What it trains.
        at_once: How many shards are played at the same time, at most.
        used: Places that were sent anything; also those whose shards were given to others since.
        emptied: Places of these where nothing of it is left.
        former: Places of these that the profile names no more, and where something may be left.
        places: What is known of places, by their names.
        needs: What of it the person has allowed who handed it in (:mod:`.handed_in`); on record nowhere else.
        token: What marks a place that it was sent to; kept like ``needs``. What lies at a place without it
            was put there by another person.
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
        """What its parts are."""
        return "trainings" if self.trainings else "shards"

    def called(self, number: int) -> str:
        """What a part is called."""
        if self.trainings:
            return f"the training with seed {self.trainings.part(number).seed}"
        return f"shard {number} of {self.of}"

    def training_folder(self, number: int) -> Path:
        """The run folder here of a training; raises as :meth:`check_folders`."""
        assert self.trainings is not None, "it trains"
        folder = self.trainings.part(number).folder
        self._check_folder(folder)
        return folder

    def check_folders(self) -> None:
        """Refuse links in place of the folders that are written: the writing would be elsewhere.

        Raises:
            HereError: One of them is a link.
        """
        for training in self.trainings.parts if self.trainings is not None else ():
            self._check_folder(training.folder)
        if self.run:
            self._check_folder(Path(self.run))

    def _check_folder(self, folder: Path) -> None:
        if folder != self.out and folder.is_symlink():  # a person may name a link: out
            raise HereError(
                f"{folder} is a link, and none is followed below {self.out}",
                fix="Put the folder in its place",
            )

    @property
    def shards(self) -> Path:
        """Where the run folders are that have been collected."""
        return self.folder / SHARDS_FOLDER

    @property
    def bundle(self) -> Path:
        """What is sent to each host."""
        return self.folder / BUNDLE_FOLDER

    def log(self, number: int, attempt: int) -> Path:
        """What the command of a try has said last, once it was lost; need not be there."""
        return self.folder / LOGS_FOLDER / f"{number}-{attempt}.log"

    @property
    def places_used(self) -> set[str]:
        """Places that were sent anything; of records from before these were noted, those of shards."""
        return self.used | {state.host for state in self.states.values() if state.host}

    def place(self, name: str) -> PlaceState:
        """What is known of a place."""
        return self.places.setdefault(name, PlaceState())

    def state(self, number: int) -> ShardState:
        """Where a shard stands."""
        return self.states.setdefault(number, ShardState())

    def numbers(self, *statuses: str) -> list[int]:
        """Shards of one of these statuses, in order; those that are not due yet are not among them."""
        waiting = WAITING in statuses
        return [
            number
            for number in (range(1, self.of + 1) if self.due is None else self.due)
            if (self.states[number].status in statuses if number in self.states else waiting)
        ]

    def batches(self, tries: Mapping[int, int]) -> list[list[tuple[int, int]]]:
        """Tries of shards by the process that plays them, in their order."""
        found: dict[int, list[tuple[int, int]]] = {}
        for number, attempt in sorted(tries.items()):
            state = self.states.get(number)
            found.setdefault(state.batch if state and state.batch else number, []).append((number, attempt))
        return list(found.values())

    def save(self) -> None:
        """Write it, whole or not at all.

        Raises:
            HereError: It cannot be written.
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
            return  # a look in which nothing happened
        try:
            replace_file(self.folder / NAME, written, mode=0o600)
            self._written = written
        except OSError as error:
            raise HereError(f"{self.folder / NAME} cannot be written: {error.strerror}") from error


def is_submission(folder: Path) -> bool:
    """Whether a folder is one of a submission."""
    return (folder / NAME).is_file()


def open_submission(folder: Path) -> Submission:
    """Read how far a submission is.

    Raises:
        RunFormatError: Its record is damaged, or of a later version.
        UsageError: It cannot be read.
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
        raise RunFormatError(str(path), "is damaged. Submit it anew") from None


def _former(row: Mapping[str, Any]) -> FormerPlace:
    return FormerPlace(str(row["name"]), dict(mapping(row["entry"]) or {}))


def _lie_below(out: Path, run: str, trainings: Trainings | None) -> bool:
    """Whether all that it writes is where it was to be written."""
    folders = [] if trainings is None else [each.folder for each in trainings.parts]
    if run:
        folders.append(Path(run))
    # Of trainings the one run folder, or that of the group, is itself what was asked for.
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
