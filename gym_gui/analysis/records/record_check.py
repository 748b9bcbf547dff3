"""Checks whether a run's records agree with their digests, without playing anything.

Anyone can edit the files of a run, so a report begins with a warning if the files have changed. ``mosaic
verify`` also plays the run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

import orjson

from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.analysis.records.run_digest import FILES, files_digests, run_digest
from gym_gui.analysis.words.wording import count, names
from gym_gui.core.record_digest import KEY, without_times
from gym_gui.core.record_fields import count as number
from gym_gui.core.record_fields import mapping
from gym_gui.core.records import has_digests
from mosaic_worker.plain_files import read_file

RUNNING: Final = "running"
_MAX_NAMED: Final = 5


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
    # Rows may be very large, so none is kept: episodes.jsonl is read twice.
    having, without = list[int](), list[int]()
    for episode, line in operator.episode_lines():
        (having if KEY in line.value else without).append(episode.episode_index)
    seen = {index: sha256() for index in having}
    if not seen:
        return [], sorted(without)
    for line in operator.step_lines():
        index = number(line.value.get("episode_index"))
        if index in seen:
            seen[index].update(without_times(line.value))
    changed: list[int] = []
    for line in operator.row_lines(()):
        index = number(line.value.get("episode_index"))
        digest = None if index is None else seen.pop(index, None)  # rows added since are not checked
        if index is None or digest is None:
            continue
        digest.update(without_times(line.value))
        if line.value.get(KEY) != digest.hexdigest():
            changed.append(index)
    return sorted([*changed, *seen]), sorted(without)


def _episodes(indices: Sequence[int]) -> str:
    first = ", ".join(map(str, indices[:_MAX_NAMED]))
    if len(indices) == 1:
        return f"episode {first}"
    more = f" and {len(indices) - _MAX_NAMED:,} more" if len(indices) > _MAX_NAMED else ""
    return f"episodes {first}{more}"
