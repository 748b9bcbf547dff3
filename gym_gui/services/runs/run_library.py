"""Lists the run folders in a folder, with players, environments, status and progress of each run.

Use it in a separate thread, because it may read thousands of folders. Each folder is read once, and again
only after a change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from gym_gui.analysis.records.jsonl import open_rows, size_of
from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.analysis.words import wording
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.shards import Shard
from gym_gui.core.paths import run_folders
from gym_gui.core.record_fields import mapping
from gym_gui.core.records import TOURNAMENT
from gym_gui.core.run_labels import FILE, NONE, LabelsError, RunLabels, read_labels
from gym_gui.services.run_lock import is_being_written
from gym_gui.services.runs.recorder import COMPLETED, FAILED, RUNNING, STOPPED
from gym_gui.services.runs.run_index import RunIndex
from gym_gui.services.runs.run_settings import settings_of

CUT_OFF, DAMAGED = "cut off", "damaged"
"""Statuses that are not in ``run.json``: the run's process died, or the run cannot be read."""
STATUSES = (RUNNING, COMPLETED, FAILED, STOPPED, CUT_OFF, DAMAGED)
_BATCH = 64
RESTS_S = 600.0
"""Seconds without a change to its files after which a run of another machine counts as cut off."""


@dataclass(frozen=True, slots=True)
class RunOperator:
    """One operator of a listed run.

    Attributes:
        operator_id: Id of the operator.
        name: Name shown to people.
        task: Environment family and id.
        kinds: Kinds of its workers, each once.
    """

    operator_id: str
    name: str
    task: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class RunEntry:
    """Entry of one run in the list of runs.

    Attributes:
        path: Folder of the run.
        run_id: ULID of the run, which sorts by time.
        status: One of :data:`STATUSES`.
        started_at: Time of its start, or ``None``.
        operators: Operators that played.
        planned: Planned number of episodes; ``None`` if ``run.json`` does not contain it.
        done: Number of finished episodes.
        problem: Why it ended early or cannot be read, or ``""``.
        tournament: For a tournament, its kind and the policies of its pool; else empty.
        shard: The shard of an experiment that it is, or ``None``.
        labels: Name, tags and notes that people have given it.
        labels_problem: Why the labels cannot be read, or ``""``.
        settings: Settings of its experiment by name, each with its values as text.
        workers: Ids of the workers that played.
        policies: Names of the policies that the workers played.
        apart: Text that distinguishes it from other runs of the same title, or ``""``.
        elsewhere: For a run in a folder of another user or machine, that folder; else ``""``.
        submission: For a submission that is not yet a run, its executor and its number of collected
            shards; else ``""``.
    """

    path: Path
    run_id: str
    status: str
    started_at: datetime | None = None
    operators: tuple[RunOperator, ...] = ()
    planned: int | None = None
    done: int = 0
    problem: str = ""
    tournament: tuple[str, ...] = ()
    shard: Shard | None = None
    labels: RunLabels = NONE
    labels_problem: str = ""
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]], hash=False)
    workers: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    apart: str = ""
    elsewhere: str = ""
    submission: str = ""

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Environments of the run, each once."""
        return tuple(dict.fromkeys(o.task for o in self.operators if o.task))

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the run's workers, each once."""
        return tuple(dict.fromkeys(kind for o in self.operators for kind in o.kinds))

    @cached_property
    def title(self) -> str:
        """Title of the run: its name, else its players, else its id."""
        return self.labels.name or self.played

    @cached_property
    def played(self) -> str:
        """Players of the run as text, used as the title of a run without a name."""
        what, *pool = self.tournament or ("",)
        if pool:
            title = f"{what}: {wording.names(pool)}"
        else:
            title = wording.names([o.name for o in self.operators]) if self.operators else self.run_id
        return title if self.shard is None else f"{self.shard.words.capitalize()}: {title}"

    @cached_property
    def full_title(self) -> str:
        """Title with the text that distinguishes the run from others of the same title."""
        return f"{self.title} · {self.apart}" if self.apart else self.title

    @cached_property
    def environment(self) -> str:
        """Short text that names the run's environments, without their families."""
        ids = [task.rpartition("/")[2] for task in self.tasks]
        return ids[0] if len(ids) == 1 else f"{ids[0]} and {len(ids) - 1} more" if ids else ""

    @cached_property
    def searched(self) -> str:
        """Text that a search for a word examines: all names, labels and ids of the run, casefolded."""
        names = [o.name for o in self.operators]
        shard = [] if self.shard is None else [self.shard.words, str(self.shard)]
        labels = (self.labels.name, *self.labels.tags, self.labels.group, self.labels.notes)
        known = (self.run_id, self.status, *self.tasks, *self.kinds, *names, *shard, *labels)
        return "\n".join((*known, *self.policies, *self.workers, self.apart, self.submission)).casefold()

    @cached_property
    def folded(self) -> Mapping[str, Sequence[str]]:
        """Texts that a search with a keyword examines, by keyword, casefolded."""
        labels = self.labels
        found = {
            "agent": (*(o.name for o in self.operators), *self.policies, *self.kinds),
            "env": self.tasks,
            "worker": self.workers,
            "tag": labels.tags,
            "group": (labels.group,),
            "name": (self.title,),
            "note": (labels.notes,),
            "status": (self.status,),
            "folder": (str(self.path.parent),),
        }
        return {about: tuple(text.casefold() for text in texts) for about, texts in found.items()}

    def prepare(self) -> None:
        """Compute the cached properties in the calling thread."""
        _ = self.searched, self.full_title, self.environment, self.folded

    @property
    def is_live(self) -> bool:
        """Whether a process is writing the run."""
        return self.status == RUNNING

    @property
    def can_go_on(self) -> bool:
        """Whether this machine can play the rest of a run that was stopped or cut off. False for shards."""
        # The later rounds of a Swiss tournament are not planned before they are paired.
        left = bool(self.tournament) or (self.planned is not None and self.done < self.planned)
        part = self.shard is not None or bool(self.submission or self.elsewhere)
        return self.status in (STOPPED, CUT_OFF) and left and not part


@dataclass(slots=True)
class _Known:
    """Entry that was read, with stamps that show whether the run has changed."""

    stamp: tuple[int, ...]
    entry: RunEntry
    counts: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])


class RunLibrary:
    """Reads the list of runs in one folder.

    Args:
        folder: Folder of the run folders, which need not exist yet.
        elsewhere: Whether another machine may write the folder. Locks of other machines are invisible, so
            a run counts as running while its files change.
        cache: Folder of the cache that keeps the entries for the next start; without it, nothing is kept.
    """

    def __init__(self, folder: Path, *, elsewhere: bool = False, cache: Path | None = None) -> None:
        self.folder, self._elsewhere = folder, elsewhere
        self._index = None if cache is None else RunIndex(cache, folder, _Known)
        self._kept: dict[str, _Known] = {}
        self._read_anew = 0
        self._known: dict[str, _Known] = {}
        self._bare: set[str] = set()
        self._changed_ns = -1

    def scan(self) -> Iterator[list[RunEntry]]:
        """Yield the entries of the runs in batches, newest run first.

        The first batch comes soon even if there are many runs. The generator may be closed early.
        """
        self._changed_ns = self._stamp()
        names = [folder.name for folder in run_folders(self.folder)]
        for gone in self._known.keys() - set(names):
            del self._known[gone]
        self._bare &= set(names)
        first = not self._known
        for start in range(0, len(names), _BATCH):
            if start and first and self._index is not None:  # show the newest runs before reading the index
                self._kept, first = self._index.load(), False
            batch = (self._entry(name) for name in names[start : start + _BATCH])
            yield [entry for entry in batch if entry is not None]
        self._kept = {}
        if self._index is not None and self._read_anew > _BATCH:
            self._index.save({name: known for name, known in self._known.items() if not known.entry.is_live})
            self._read_anew = 0

    def refresh(self) -> list[RunEntry] | None:
        """Return all entries, or ``None`` if a folder was added or removed since :meth:`scan`.

        Only runs that are being written are read. Another run changes when it is resumed, which the next
        :meth:`scan` finds.
        """
        if self._stamp() != self._changed_ns:
            return None
        live = [name for name, known in self._known.items() if known.entry.is_live]
        if self._elsewhere:  # a run that seemed cut off may continue
            live += [name for name, known in self._known.items() if known.entry.status == CUT_OFF]
        for name in (*live, *self._bare):
            self._entry(name)
        return [self._known[name].entry for name in sorted(self._known, reverse=True)]

    def all(self) -> list[RunEntry]:
        """Return the entries of all runs, newest first."""
        return [entry for batch in self.scan() for entry in batch]

    def one(self, path: Path) -> RunEntry | None:
        """Return the entry of a single run at any path, or ``None`` if there is no run."""
        if path.parent == self.folder:
            return self._entry(path.name)
        return _read_run(path, _Known((0, 0), RunEntry(path, path.name, DAMAGED))).entry

    def _stamp(self) -> int:
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            return 0

    def _entry(self, name: str) -> RunEntry | None:
        path = self.folder / name
        try:
            status = (path / "run.json").stat()
        except OSError:
            self._known.pop(name, None)
            self._bare.add(name)
            return None  # another kind of folder, or one that is being created or was just deleted
        stamp = (status.st_mtime_ns, status.st_size, *_stamp_of_labels(path))
        known = self._known.get(name) or self._kept_of(name, stamp)
        if known is None or known.stamp != stamp:
            self._read_anew += 1
            known = _read_run(path, _Known(stamp, RunEntry(path, name, DAMAGED)))
            if self._elsewhere:
                entry = replace(known.entry, elsewhere=str(self.folder))
                entry.prepare()
                known = replace(known, entry=entry)
        elif known.entry.status == RUNNING and not self._elsewhere:
            known = _brought_up_to_date(known)
        if self._elsewhere:
            known = _running_if_changed(known)
        self._known[name] = known
        self._bare.discard(name)
        return known.entry

    def _kept_of(self, name: str, stamp: tuple[int, ...]) -> _Known | None:
        """Return a run's unchanged entry from the cache, with its finished episodes counted again."""
        kept = self._kept.get(name)
        if kept is None or kept.stamp != stamp:
            return None
        where = str(self.folder) if self._elsewhere else ""
        kept = _counted(replace(kept, entry=replace(kept.entry, path=self.folder / name, elsewhere=where)))
        kept.entry.prepare()
        return kept


def _stamp_of_labels(path: Path) -> tuple[int, ...]:
    try:
        status = (path / FILE).lstat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _labels(path: Path) -> tuple[RunLabels, str]:
    try:
        return read_labels(path), ""
    except LabelsError as error:
        return NONE, str(error)


def _read_run(path: Path, known: _Known) -> _Known:
    labels, wrong = _labels(path)
    try:
        run = open_run(path)
    except MosaicError as error:
        entry = RunEntry(path, path.name, DAMAGED, problem=str(error), labels=labels, labels_problem=wrong)
        return replace(known, entry=entry)
    players = mapping(run.record.extra.get("players")) or {}
    entry = RunEntry(
        path,
        run.run_id,
        _status(path, run.record.status),
        _moment(run.record.started_at),
        tuple(
            RunOperator(key, operator.name, operator.task, _kinds(operator.config, players.get(key)))
            for key, operator in run.operators.items()
        ),
        sum(run.planned.values()) if run.planned else None,
        problem=run.record.problem or "",
        tournament=_tournament(run),
        shard=Shard.of_run(run.record.extra),
        labels=labels,
        labels_problem=wrong,
        settings=settings_of(run.record.experiment),
        workers=_values_of_players(run, players, "worker_id"),
        policies=_values_of_players(run, players, "policy"),
    )
    made = _counted(replace(known, entry=entry))
    made.entry.prepare()  # computed here and not in the window's thread
    return made


def _tournament(run: Run) -> tuple[str, ...]:
    """Return the kind and the pool of a tournament; empty for an experiment."""
    about = mapping(run.record.extra.get(TOURNAMENT))
    if about is None:
        return ()
    what = "Cross-play" if about.get("schedule") == "cross_play" else "Tournament"
    return what, *(mapping(about.get("policies")) or {})


def _running_if_changed(known: _Known) -> _Known:
    """Return the entry as running if the run's files changed recently, because its lock is invisible here."""
    if known.entry.status not in (RUNNING, CUT_OFF):
        return known
    before = known.entry
    known = _counted(known)
    newest = 0.0
    for operator in known.entry.operators:
        for name in ("steps.jsonl", "episodes.jsonl", "calls.jsonl"):
            with suppress(OSError):
                path = known.entry.path / "operators" / operator.operator_id / name
                newest = max(newest, path.lstat().st_mtime)
    status = RUNNING if time.time() - newest < RESTS_S else _status(known.entry.path, RUNNING)
    entry = replace(known.entry, status=status)
    if entry == before:
        return replace(known, entry=before)
    entry.prepare()
    return replace(known, entry=entry)


def _brought_up_to_date(known: _Known) -> _Known:
    status = _status(known.entry.path, RUNNING)
    return _counted(replace(known, entry=replace(known.entry, status=status)))


def _status(path: Path, said: str) -> str:
    try:
        dead = said == RUNNING and not is_being_written(path)
    except OSError:
        dead = False
    return CUT_OFF if dead else said


def _kinds(config: Mapping[str, Any], players: object) -> tuple[str, ...]:
    """Return the recorded kinds of workers, or the configured kinds before the workers have started."""
    recorded = mapping(players) or {}
    configured = mapping(config.get("workers")) or {}
    found = [(mapping(player) or {}).get("worker_type") for player in recorded.values()]
    found = found or [(mapping(slot) or {}).get("type") for slot in configured.values()]
    return tuple(dict.fromkeys(kind for kind in found if isinstance(kind, str)))


def _values_of_players(run: Run, players: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return each value of a key that a player has, as recorded, or as configured before the start."""
    slots = [
        mapping(players.get(o)) or mapping(c.config.get("workers")) or {} for o, c in run.operators.items()
    ]
    said = ((mapping(slot) or {}).get(key) for each in slots for slot in each.values())
    return tuple(dict.fromkeys(text for text in said if isinstance(text, str) and text))


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _counted(known: _Known) -> _Known:
    """Return the entry with its number of finished episodes. Only lines since the last count are read."""
    counts: dict[str, tuple[int, int]] = {}
    for operator in known.entry.operators:
        file = known.entry.path / "operators" / operator.operator_id / "episodes.jsonl"
        counts[operator.operator_id] = _count_lines(file, *known.counts.get(operator.operator_id, (0, 0)))
    done = sum(lines for lines, _ in counts.values())
    return replace(known, entry=replace(known.entry, done=done), counts=counts)


def _count_lines(file: Path, lines: int, at: int) -> tuple[int, int]:
    """Return the number of complete lines and the offset of their end, counted from ``at`` on."""
    try:
        size = size_of(file)
        if size < at:  # resumed: unfinished episodes were dropped
            lines = at = 0
        if size == at:
            return lines, at
        with open_rows(file) as handle:
            handle.seek(at)
            while data := handle.read(1 << 20):
                if not (whole := data.rfind(b"\n") + 1):
                    if len(data) < 1 << 20:
                        break
                    whole = len(data)  # one line, longer than the block
                lines += data.count(b"\n", 0, whole)
                at += whole
                handle.seek(at)
    except OSError:
        pass
    return lines, at
