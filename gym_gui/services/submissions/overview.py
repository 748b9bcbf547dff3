"""How a submission stands, as people look at it: each shard, each place, how fast, how long, what was spent.

All of it is what its record says, and what changes from one look to the next; nothing is asked of any place.
"""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis.words.wording import names
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.shards import Shard
from gym_gui.core.record_fields import items, mapping, text
from gym_gui.services.runs.recorder import read_header
from gym_gui.services.submissions.follower import LOG, Follower, follower_of
from gym_gui.services.submissions.lease_book import NAME as LEASES
from gym_gui.services.submissions.lease_book import LeaseBook
from gym_gui.services.submissions.shell import EXPERIMENT
from gym_gui.services.submissions.submission_record import (
    COLLECTED,
    FAILED,
    NAME,
    SENT,
    STOPPED,
    WAITING,
    ShardState,
    Submission,
    open_submission,
)
from mosaic_worker.plain_files import read_file

QUEUED, PLAYING, LOST = "queued", "playing", "lost"
"""Of shards that the record has as sent, and of those that wait to be begun again."""
STATES: Final = (WAITING, QUEUED, PLAYING, COLLECTED, LOST, FAILED, STOPPED)
"""In the order in which a shard goes through them."""
_RATE_S: Final = 60.0
"""The speed is that of so many seconds."""
_LEAST_S: Final = 4.0
_MOST_BYTES: Final = 64 * 2**20


@dataclass(frozen=True)
class ShardRow:
    """One shard, or one training.

    Attributes:
        number: Which, from 1.
        called: What it is called: ``shard 3 of 8``.
        state: One of :data:`STATES`.
        place: Where it is, or was, played; a machine of its place where that is known.
        job: What the scheduler there calls it.
        done: Work that is done.
        failed: Of these, failed.
        tries: How often it was begun.
        problem: Why it was lost the last time.
        log: What it said then; ``None`` where nothing was kept.
    """

    number: int
    called: str
    state: str
    place: str = ""
    job: str = ""
    done: int = 0
    failed: int = 0
    tries: int = 0
    problem: str = ""
    log: Path | None = None


@dataclass(frozen=True)
class PlaceRow:
    """One place, or one machine of it.

    Attributes:
        name: What it is called.
        playing: Shards that it plays.
        queued: Shards that wait there.
        here: Shards that came back from it.
        done: Work that was done there.
        rate: Work a second, in the last minute; ``None``: not known.
        heard_at: When it answered last; ``None``: not known.
        problem: Why it does not, or is used no more.
        given_up: Whether nothing more is played there.
    """

    name: str
    playing: int = 0
    queued: int = 0
    here: int = 0
    done: int = 0
    rate: float | None = None
    heard_at: datetime | None = None
    problem: str = ""
    given_up: bool = False


@dataclass(frozen=True)
class Spent:
    """What was spent of one budget.

    Attributes:
        account: Of what: the run, or a slot.
        tokens: At most so many, and of how many; 0 of none: no limit.
        usd: At most so much, and of how much.
    """

    account: str
    tokens: tuple[int, int]
    usd: tuple[float, float]


@dataclass(frozen=True)
class Overview:
    """How a submission stands.

    Attributes:
        submission: Its record.
        title: Who plays, or what is trained.
        tasks: Environments.
        shards: Each of them.
        places: Each of them.
        budgets: Those that all shards share.
        followed: The process that follows it; ``None``: none is seen to.
        rate: Work a second in all; ``None``: not known.
        left_s: Seconds until all is done at that speed; ``None``: not known.
        run: The run that it has become; ``None`` before, and where that is gone.
        log: What its follower has said; ``None`` where that stands in a terminal.
        changed_at: When its record was written last, in seconds.
    """

    submission: Submission
    title: str
    tasks: tuple[str, ...]
    shards: tuple[ShardRow, ...]
    places: tuple[PlaceRow, ...]
    budgets: tuple[Spent, ...] = ()
    followed: Follower | None = None
    rate: float | None = None
    left_s: float | None = None
    run: Path | None = None
    log: Path | None = None
    changed_at: float = 0.0

    @property
    def unit(self) -> str:
        """What its work is counted in."""
        return "step" if self.submission.trainings else "episode"

    @property
    def part(self) -> str:
        """What its parts are."""
        return "training" if self.submission.trainings else "shard"

    @cached_property
    def done(self) -> int:
        """Work that is done."""
        return sum(row.done for row in self.shards)

    @cached_property
    def failed(self) -> int:
        """Of this, failed."""
        return sum(row.failed for row in self.shards)

    @cached_property
    def states(self) -> Counter[str]:
        """How many shards are in which state."""
        return Counter(row.state for row in self.shards)

    def count(self, *states: str) -> int:
        """Shards in one of these states."""
        return sum(self.states[state] for state in states)

    def prepare(self) -> None:
        """Make what is made once, in the thread that this is called in."""
        _ = self.done, self.failed, self.states


class SubmissionWatch:
    """Looks at a submission again and again; meant for a thread.

    Args:
        folder: The submission's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stamp: tuple[int, ...] = ()
        self._submission: Submission | None = None
        self._about: tuple[str, tuple[str, ...]] | None = None
        self._seen: deque[tuple[float, dict[int, int]]] = deque()
        self._rows: dict[int, ShardRow] = {}

    def look(self) -> Overview:
        """How it stands now.

        Raises:
            RunFormatError: Its record is damaged, or of a later version.
            UsageError: It cannot be read.
        """
        followed = follower_of(self.folder)  # asked first: who follows it has written all when it lets go
        submission, changed_at = self._read()
        if self._about is None:
            self._about = about(submission)
        shards = tuple(self._same(row) for row in _rows(submission))
        self._rows = {row.number: row for row in shards}
        rates = self._rates(changed_at, shards) if followed is not None else {}
        rate = sum(rates.values()) if rates else None
        run = Path(submission.run) if submission.run else None
        open_end = submission.due is not None or not submission.total  # until it is decided
        left = submission.total - sum(row.done for row in shards)
        log = self.folder / LOG
        seen = Overview(
            submission,
            *self._about,
            shards,
            tuple(_places(submission, shards, rates)),
            tuple(_spent(self.folder)),
            followed,
            rate,
            left / rate if rate and not open_end and left > 0 else None,
            run if run is not None and run.is_dir() else None,
            log if log.is_file() else None,
            changed_at,
        )
        seen.prepare()
        return seen

    def _same(self, row: ShardRow) -> ShardRow:
        """The row of the look before where nothing has changed, which tables see at once."""
        before = self._rows.get(row.number)
        return before if before is not None and before == row else row

    def _read(self) -> tuple[Submission, float]:
        try:
            status = (self.folder / NAME).stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            stamp = ()
        if self._submission is None or stamp != self._stamp:
            self._submission, self._stamp = open_submission(self.folder), stamp
        return self._submission, (stamp[0] / 1e9 if stamp else 0.0)

    def _rates(self, at: float, shards: Sequence[ShardRow]) -> dict[str, float]:
        """Work a second by place; empty as long as it is not known.

        What a shard has done counts where it is now: one that was lost takes what it has along.
        """
        if not self._seen or at > self._seen[-1][0]:
            self._seen.append((at, {row.number: row.done for row in shards}))
        while len(self._seen) > 2 and at - self._seen[0][0] > _RATE_S:
            self._seen.popleft()
        before, passed = self._seen[0][1], at - self._seen[0][0]
        if passed < _LEAST_S:
            return {}
        found: dict[str, float] = {row.place: 0.0 for row in shards if row.state == PLAYING}
        for row in shards:
            if (more := row.done - before.get(row.number, 0)) > 0:
                found[row.place] = found.get(row.place, 0.0) + more / passed
        return found


def state_of(state: ShardState) -> str:
    """In which of :data:`STATES` a shard is."""
    if state.status == SENT:
        return PLAYING if state.playing else QUEUED
    return LOST if state.status == WAITING and state.problem else state.status


def about(submission: Submission) -> tuple[str, tuple[str, ...]]:
    """Who plays or what is trained, and in which environments, by what was sent."""
    if submission.trainings is not None:
        told = submission.trainings.arguments
        said = {key: value for key, value in pairwise(told) if key.startswith("--")}
        return said.get("--algo", "").upper() or "Trainings", tuple(filter(None, [said.get("--env")]))
    operators, tasks = players_of(submission)
    what = "Tournament: " if submission.command == "tournament" else ""
    return what + names([name for _, name, _, _ in operators]), tasks


def players_of(
    submission: Submission,
) -> tuple[list[tuple[str, str, str, tuple[str, ...]]], tuple[str, ...]]:
    """Operators or policies that play, each with id, name, environment and kinds; and the environments."""
    try:
        data: Any = json.loads(read_file(submission.bundle / EXPERIMENT, limit=_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return [(submission.folder.name, submission.folder.name, "", ())], ()
    found = mapping(data) or {}
    rows = [mapping(row) or {} for row in items(found.get("operators")) or ()]
    if submission.command == "tournament":
        task = text(found.get("task")) or ""
        policies = mapping(found.get("policies")) or {}
        players = [(str(n), str(n), task, _kinds([each])) for n, each in policies.items()]
    else:
        players = [
            (
                text(row.get("id")) or "",
                text(row.get("name")) or text(row.get("id")) or "",
                text(row.get("task")) or "",
                _kinds((mapping(row.get("workers")) or {}).values()),
            )
            for row in rows
        ]
    return players, tuple(dict.fromkeys(task for _, _, task, _ in players if task))


def run_of(submission: Submission, number: int) -> Path | None:
    """The run folder of a shard that can be read here; ``None`` where there is none (yet).

    One that is being played on this machine, or on a disk that is seen here, is read where it is.
    """
    if submission.trainings is not None:
        return submission.trainings.part(number).folder
    wanted = Shard(number, submission.of)
    there = (f"played/*/work/{number}/runs/*/run.json", f"cluster/work/{number}/runs/*/run.json")
    for pattern in ("shards/*/run.json", *there):
        for file in submission.folder.glob(pattern):
            with suppress(MosaicError):
                if Shard.of_run(read_header(file.parent)) == wanted:
                    return file.parent
    return None


def _kinds(players: Iterable[object]) -> tuple[str, ...]:
    kinds = (text((mapping(player) or {}).get("type")) for player in players)
    return tuple(dict.fromkeys(kind for kind in kinds if kind))


def _rows(submission: Submission) -> Iterable[ShardRow]:
    known = ShardState()
    kept = _kept_logs(submission)
    for number in range(1, submission.of + 1) if submission.due is None else submission.due:
        state = submission.states.get(number, known)
        log = submission.log(number, state.tries)
        if state.problem and log.name not in kept:  # it was begun again since
            log = submission.log(number, state.tries - 1)
        yield ShardRow(
            number,
            submission.called(number),
            state_of(state),
            state.node or state.host,
            state.job,
            state.done,
            state.failed,
            state.tries,
            state.problem,
            log if log.name in kept else None,
        )


def _kept_logs(submission: Submission) -> set[str]:
    with suppress(OSError), os.scandir(submission.log(0, 0).parent) as entries:
        return {entry.name for entry in entries}
    return set()


def _places(
    submission: Submission, shards: Sequence[ShardRow], rates: Mapping[str, float]
) -> Iterable[PlaceRow]:
    hosts = {(state.node or state.host): state.host for state in submission.states.values() if state.host}
    names = dict.fromkeys([*sorted(hosts), *sorted(submission.places)])
    several = {host for name, host in hosts.items() if name != host}
    for name in names:
        mine = [row for row in shards if row.place == name]
        known = submission.places.get(hosts.get(name, name))
        if not mine and name in several and not (known and known.problem):
            continue  # all that it plays is on machines that are known
        yield PlaceRow(
            name,
            sum(row.state == PLAYING for row in mine),
            sum(row.state == QUEUED for row in mine),
            sum(row.state == COLLECTED for row in mine),
            sum(row.done for row in mine),
            rates.get(name),
            _moment(known.heard_at) if known is not None else None,
            known.problem if known is not None else "",
            known.given_up if known is not None else False,
        )


def _spent(folder: Path) -> Iterable[Spent]:
    if not (folder / LEASES).exists():
        return
    book = LeaseBook.open(folder)
    if book is not None:
        for account, budget in book.budgets.items():
            spent = book.spent(account)
            yield Spent(account, (spent.tokens, budget.tokens), (spent.usd, budget.usd))


def _moment(written: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(written)
    return None
