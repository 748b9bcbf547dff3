"""Checks whether a run's records agree with their digests, without playing anything.

Anyone can edit the files of a run, so a report begins with a warning if the files have changed. ``mosaic
verify`` also plays the run again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, TypeAlias

import orjson

from gym_gui.analysis.records.jsonl import Block
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.analysis.records.run_digest import FILES, files_digests, run_digest
from gym_gui.analysis.words.wording import count, names
from gym_gui.core.record_digest import KEY, without_times
from gym_gui.core.record_fields import count as number
from gym_gui.core.record_fields import mapping
from gym_gui.core.records import has_digests, parse_episode
from mosaic_worker.plain_files import read_file

RUNNING: Final = "running"
_MAX_NAMED: Final = 5
_TIME: Final = re.compile(rb',"latency_ms":[-+.0-9eE]+\}\n')
_ROWS: Final = re.compile(rb'\{"episode_index":(\d{1,18}),[^\n]*\n(?:\{"episode_index":\1,[^\n]*\n)*')
"""Consecutive rows of one episode."""
_Parts: TypeAlias = Callable[[Block], Iterator[tuple[int | None, bytes]]]


@dataclass(frozen=True)
class RecordCheck:
    """Result of checking a run against its digests.

    Attributes:
        run_id: Id of the run.
        folder: Name of the run's folder.
        episodes: Indices of episodes that differ from their digest or have lost it, by operator.
        files: Paths in the run folder of files that differ from their digest.
        undigested: Number of episodes of earlier versions, which wrote no digests.
    """

    run_id: str
    folder: str
    episodes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    files: Sequence[str] = ()
    undigested: int = 0

    @property
    def agrees(self) -> bool:
        """Whether all digests match."""
        return not self.episodes and not self.files

    @property
    def sentence(self) -> str:
        """Warning that the run's numbers are not the recorded ones; empty if all digests match."""
        if self.agrees:
            return ""
        parts = [f"{_episodes(indices)} of operator {name!r}" for name, indices in self.episodes.items()]
        return (
            f"These are not the numbers that were recorded: run {self.run_id} does not agree with its "
            f"digests ({names([*parts[:_MAX_NAMED], *self.files])}). "
            f"mosaic verify {self.folder} plays it again."
        )

    @property
    def note(self) -> str:
        """Note on episodes that cannot be checked; empty if there are none."""
        if not self.undigested:
            return ""
        of = count(self.undigested, "episode")
        return (
            f"Run {self.run_id} has {of} of an earlier version without digests, which cannot be checked for "
            "changes."
        )


def check_records(run: Run) -> RecordCheck:
    """Check a run against its digests.

    Args:
        run: The run; if it has not ended, its finished episodes are checked.

    Raises:
        RunFormatError: A row is damaged.
        UsageError: A file cannot be read.
    """
    header: dict[str, Any] = orjson.loads(read_file(run.path / "run.json", inside=run.path))
    demanded = has_digests(header)
    episodes: dict[str, list[int]] = {}
    undigested = 0
    for operator in run.operators.values():
        changed, without = _episodes_that_changed(operator)
        if demanded:
            changed, without = sorted([*changed, *without]), []
        undigested += len(without)
        if changed:
            episodes[operator.operator_id] = changed
    reported = {f"operators/{name}/episodes.jsonl" for name in episodes}
    files = [name for name in changed_files(run, header) if name not in reported]
    return RecordCheck(run.run_id, run.path.absolute().name, episodes, files, undigested)


def changed_files(run: Run, header: Mapping[str, Any]) -> list[str]:
    """Return the files of an ended run that have changed since its end, including ``run.json``.

    Args:
        run: The run.
        header: Content of ``run.json``.
    """
    if run.record.status == RUNNING:
        return []
    if KEY not in header or FILES not in header:
        return ["run.json"] if has_digests(header) else []
    changed = ["run.json"] if header[KEY] != run_digest(header) else []
    then, now = mapping(header[FILES]) or {}, files_digests(run.path, run.operators)
    return changed + [name for name in sorted(then.keys() | now.keys()) if then.get(name) != now.get(name)]


def _episodes_that_changed(operator: OperatorRun) -> tuple[list[int], list[int]]:
    """Return the indices of episodes whose digest differs, and of episodes without a digest."""
    having, without = set[int](), list[int]()
    for line in operator.row_lines(()):
        index = number(line.value.get("episode_index"))
        if index is None:
            parse_episode(line.value, line.where)  # raises an error that says what is wrong
        elif KEY in line.value:
            having.add(index)
        else:
            without.append(index)
    # First compute the digests from the rows' bytes. If one differs, another program may have rewritten the
    # rows in another format: then parse and serialize all rows, which takes four times as long.
    changed = _changed_episodes(operator, having, _unparsed_rows) if having else set[int]()
    changed = _changed_episodes(operator, having, _parsed_rows) if changed else changed
    return sorted(changed), sorted(without)


def _changed_episodes(operator: OperatorRun, among: Set[int], parts: _Parts) -> set[int]:
    """Return the episodes whose digest differs from the recorded one.

    Args:
        operator: The operator.
        among: Indices of the episodes to check, which all have a digest.
        parts: Function that yields, for a block of rows, episode indices with the bytes to be digested.
    """
    # A single row may be very large, so no row stays in memory; episodes.jsonl is read a second time.
    seen = {index: sha256() for index in among}
    for block in operator.step_blocks():
        for index, part in parts(block):
            if index in seen:
                seen[index].update(part)
    changed = set[int]()
    for line in operator.row_lines(()):
        index = number(line.value.get("episode_index"))
        digest = None if index is None else seen.pop(index, None)  # rows added since are not checked
        if index is None or digest is None:
            continue
        digest.update(without_times(line.value))
        if line.value.get(KEY) != digest.hexdigest():
            changed.add(index)
    return changed | seen.keys()


def _unparsed_rows(block: Block) -> Iterator[tuple[int | None, bytes]]:
    """Yield consecutive rows of each episode as unparsed bytes, without the latency at the end of each row.

    If a row does not begin with its episode's index, or has two, all rows of the block are parsed.
    """
    data = _TIME.sub(b"}\n", block.data)
    found = [(int(rows[1]), rows[0]) for rows in _ROWS.finditer(data)]
    whole = sum(len(rows) for _, rows in found) == len(data)
    once = data.count(b'"episode_index":') == data.count(b"\n")
    yield from found if whole and once else _parsed_rows(block)


def _parsed_rows(block: Block) -> Iterator[tuple[int | None, bytes]]:
    """Yield each row, parsed and serialized without its latency."""
    for line in block.lines():
        yield number(line.value.get("episode_index")), without_times(line.value)


def _episodes(indices: Sequence[int]) -> str:
    first = ", ".join(map(str, indices[:_MAX_NAMED]))
    if len(indices) == 1:
        return f"episode {first}"
    more = f" and {len(indices) - _MAX_NAMED:,} more" if len(indices) > _MAX_NAMED else ""
    return f"episodes {first}{more}"
