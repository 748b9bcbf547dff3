"""Overview of a submission: the state of each shard and host, speed, remaining time and spending.

The overview is computed from the submission's record and its changes; no host is contacted.
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
from gym_gui.services.submissions.budget_leases import NAME as LEASES
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.follower import LOG, Follower, follower_of
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
"""States in addition to the record's: of sent shards, and of lost shards that wait for another attempt."""
STATES: Final = (WAITING, QUEUED, PLAYING, COLLECTED, LOST, FAILED, STOPPED)
"""All states in the order in which a shard goes through them."""
_RATE_S: Final = 60.0
"""Period in seconds over which the speed is measured."""
_LEAST_S: Final = 4.0
_MOST_BYTES: Final = 64 * 2**20


@dataclass(frozen=True)
class ShardRow:
    """Table row of one shard or one training of a submission.

    Attributes:
        number: Number of the shard, from 1.
        called: Name of the shard, such as ``shard 3 of 8``.
        state: One of :data:`STATES`.
        place: Place that plays or played the shard; the machine of the place if it is known.
        job: Id of the job in the place's scheduler.
        done: Finished work.
        failed: Finished work that failed, included in ``done``.
        tries: Number of times that the shard was begun.
        problem: Why the latest lost try was lost.
        log: File with the last output of that try; ``None`` if there is none.
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
    """Table row of one host or cluster of a submission, or of one of its machines.

    Attributes:
        name: Name of the place or machine.
        playing: Number of shards being played there.
        queued: Number of shards that wait there.
        here: Number of shards collected from there.
        done: Work finished there.
        rate: Work per second in the last minute; ``None`` if unknown.
        heard_at: Time of its last answer; ``None`` if unknown.
        problem: Why the place does not answer or is no longer used.
        given_up: Whether nothing more is played at the place.
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
class SpentBudget:
    """Amounts spent of one budget of a submission.

    Attributes:
        account: The run or slot that the budget is for.
        tokens: Largest number of tokens spent, and their limit; 0 for no limit.
        usd: Largest amount of dollars spent, and their limit; 0 for no limit.
    """

    account: str
    tokens: tuple[int, int]
    usd: tuple[float, float]


@dataclass(frozen=True)
class Overview:
    """State of a submission at one time, as the window shows it.

    Attributes:
        submission: Record of the submission.
        title: The players, or the trained algorithm.
        tasks: Ids of the environments.
        shards: Rows of the shards.
        places: Rows of the places.
        budgets: Budgets that all shards share.
        followed: The process that follows the submission; ``None`` if there is none.
        rate: Work per second of all places; ``None`` if unknown.
        left_s: Seconds until all work is done at that speed; ``None`` if unknown.
        run: Merged run folder; ``None`` before it exists and after it is removed.
        log: Output of the follower; ``None`` if the output goes to a terminal.
        changed_at: Time of the record's last change, in seconds.
    """

    submission: Submission
    title: str
    tasks: tuple[str, ...]
    shards: tuple[ShardRow, ...]
    places: tuple[PlaceRow, ...]
    budgets: tuple[SpentBudget, ...] = ()
    followed: Follower | None = None
    rate: float | None = None
    left_s: float | None = None
    run: Path | None = None
    log: Path | None = None
    changed_at: float = 0.0

    @property
    def unit(self) -> str:
        """Unit of work: "step" or "episode"."""
        return "step" if self.submission.trainings else "episode"

    @property
    def part(self) -> str:
        """Singular noun for the parts: "training" or "shard"."""
        return "training" if self.submission.trainings else "shard"

    @cached_property
    def done(self) -> int:
        """Number of steps or episodes that all shards have finished."""
        return sum(row.done for row in self.shards)

    @cached_property
    def failed(self) -> int:
        """Number of finished steps or episodes that failed."""
        return sum(row.failed for row in self.shards)

    @cached_property
    def states(self) -> Counter[str]:
        """Number of shards in each state."""
        return Counter(row.state for row in self.shards)

    def count(self, *states: str) -> int:
        """Return the number of shards in any of the given states."""
        return sum(self.states[state] for state in states)

    def prepare(self) -> None:
        """Compute the cached properties in the calling thread."""
        _ = self.done, self.failed, self.states


class SubmissionWatch:
    """Computes overviews of a submission repeatedly, for use in a thread.

    Args:
        folder: Folder of the submission.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stamp: tuple[int, ...] = ()
        self._submission: Submission | None = None
        self._about: tuple[str, tuple[str, ...]] | None = None
        self._seen: deque[tuple[float, dict[int, int]]] = deque()
        self._rows: dict[int, ShardRow] = {}

    def overview(self) -> Overview:
        """Return the current overview of the submission.

        Raises:
            RunFormatError: The record is damaged or has a later format.
            UsageError: The record cannot be read.
        """
        followed = follower_of(self.folder)  # asked first, because a follower finishes writing before it ends
        submission, changed_at = self._read()
        if self._about is None:
            self._about = about(submission)
        shards = tuple(self._reused(row) for row in _rows(submission))
        self._rows = {row.number: row for row in shards}
        rates = self._rates(changed_at, shards) if followed is not None else {}
        rate = sum(rates.values()) if rates else None
        run = Path(submission.run) if submission.run else None
        open_end = submission.due is not None or not submission.total  # the total is not known yet
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

    def _reused(self, row: ShardRow) -> ShardRow:
        """Return the row object of the previous overview if it is equal, so that tables can compare by
        identity."""
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
        """Return the work per second by host; empty if it is not known yet.

        The whole work of a shard counts for its present host, also after the shard was lost elsewhere.
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
    """Return the state of a shard, which is one of :data:`STATES`."""
    if state.status == SENT:
        return PLAYING if state.playing else QUEUED
    return LOST if state.status == WAITING and state.problem else state.status


def about(submission: Submission) -> tuple[str, tuple[str, ...]]:
    """Return the title and the environments of a submission, read from its bundle."""
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
    """Return the players, each as id, name, environment and kinds, and the environments."""
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
    """Return a shard's run folder that can be read on this machine, or ``None`` if there is none yet.

    The folder of a shard that is played on this machine or on a shared disk is read without a copy.
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
        if state.problem and log.name not in kept:  # the shard was begun again after it was lost
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
            continue  # all of its shards are listed under its machines
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


def _spent(folder: Path) -> Iterable[SpentBudget]:
    if not (folder / LEASES).exists():
        return
    book = BudgetLeases.open(folder)
    if book is not None:
        for account, budget in book.budgets.items():
            spent = book.spent(account)
            yield SpentBudget(account, (spent.tokens, budget.tokens), (spent.usd, budget.usd))


def _moment(written: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(written)
    return None
