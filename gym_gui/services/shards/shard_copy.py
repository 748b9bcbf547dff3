"""Copies episodes, rows and calls of shards into one run folder, in the order of the episodes."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from gym_gui.analysis.records.jsonl import open_rows
from gym_gui.core.errors import UsageError
from gym_gui.services.runs.recorder import Recorder
from gym_gui.services.shards.shard_rows import CALLS, EPISODES, STEPS
from gym_gui.services.shards.shard_set import ShardPart, UnmergeableError

_BLOCK: Final = 1 << 20
_MOST_OPEN: Final = 64
"""Largest number of files of shards that are open at a time."""

OnBytes = Callable[[int], None]
"""Type of a callback that gets the number of bytes copied since the previous call."""


@dataclass
class EpisodeOwners:
    """The shard from which each episode of an operator is copied.

    Attributes:
        part: By episode, the position of its shard in the list of shards; -1 for none.
        at: By episode, its position in the files of that shard.
        twice: Number of episodes that several shards have played with equal results.
    """

    part: array[int]
    at: array[int]
    twice: int = 0


def owners_of(parts: Sequence[ShardPart], operator: str, episodes: int) -> EpisodeOwners:
    """Choose the copy of each episode: that of the last shard that has finished the episode.

    Args:
        parts: All shards, in order.
        operator: Id of the operator.
        episodes: Number of episodes.

    Raises:
        UnmergeableError: Two shards have different results for the same episode.
    """
    found = EpisodeOwners(array("q", [-1]) * episodes, array("q", [-1]) * episodes)
    conflicts: list[str] = []
    for place, part in enumerate(parts):
        rows = part.rows.get(operator)
        for at, index in enumerate(rows.indices if rows is not None else ()):
            assert rows is not None
            if index >= episodes:
                raise UnmergeableError(
                    [f"{part.words} has episode {index} of {episodes}"], "Leave that shard out"
                )
            if found.part[index] >= 0:
                before, was = parts[found.part[index]], found.at[index]
                if rows.is_open(at):
                    continue
                if not before.rows[operator].is_open(was):
                    found.twice += 1
                    if before.rows[operator].trajectory(was) != rows.trajectory(at):
                        conflicts.append(
                            f"episode {index} of operator {operator!r} was played differently "
                            f"in {part.folder} than in {before.folder}"
                        )
            found.part[index], found.at[index] = place, at
    if conflicts:
        raise UnmergeableError(
            conflicts,
            "One record is wrong: find it with mosaic verify, and leave that shard out",
        )
    return found


class ShardCopy:
    """Copies the files of shards, one operator after the other. Leaving the context closes the files.

    Args:
        parts: All shards, in order.
        recorder: Recorder of the merged run.
        on_bytes: Called with the number of bytes copied.
    """

    def __init__(
        self, parts: Sequence[ShardPart], recorder: Recorder, on_bytes: OnBytes | None = None
    ) -> None:
        self._parts, self._recorder, self._on_bytes = parts, recorder, on_bytes
        self._files: OrderedDict[Path, BinaryIO] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()

    def episodes(self, operator: str, owners: EpisodeOwners) -> None:
        """Copy the rows and lines of an operator's episodes.

        Raises:
            UsageError: A shard can no longer be read.
            RecordingError: The merged run cannot be written.
        """
        steps, lines, size = list[bytes](), list[bytes](), 0
        for place, first, end in _stretches(owners):
            rows = self._parts[place].rows[operator]
            for data in self._read(rows.folder / STEPS, rows.blocks[first], rows.blocks[end]):
                steps.append(data)
                size += len(data)
                if size >= _BLOCK:  # write rows before the lines of their episodes
                    self._recorder.episode(operator, b"".join(steps), b"".join(lines))
                    steps, lines, size = [], [], 0
            lines += self._read(rows.folder / EPISODES, rows.lines[first], rows.lines[end])
        self._recorder.episode(operator, b"".join(steps), b"".join(lines))

    def calls(self, operator: str, owners: EpisodeOwners) -> None:
        """Copy an operator's model calls in the order of the episodes; those of the chosen copy come last.

        Raises:
            UsageError: A shard can no longer be read.
            RecordingError: The merged run cannot be written.
        """
        order: list[tuple[int, bool, int, int]] = []
        for place, part in enumerate(self._parts):
            called = part.rows[operator].called if operator in part.rows else ()
            for at, episode in enumerate(called):
                taken = 0 <= episode < len(owners.part) and owners.part[episode] == place
                order.append((episode, taken, place, at))
        order.sort()
        for _, _, place, at in order:
            rows = self._parts[place].rows[operator]
            line = b"".join(self._read(rows.folder / CALLS, rows.calls[at], rows.calls[at + 1]))
            self._recorder.call(operator, line)

    def _read(self, path: Path, start: int, end: int) -> Iterator[bytes]:
        """Yield a range of complete lines of a file in blocks of about a megabyte."""
        if start == end:
            return
        try:
            file = self._opened(path)
            file.seek(start)
            left = end - start
            while left > 0:
                data = file.read(min(left, _BLOCK))
                left -= len(data)
                if left == 1 and not data.endswith(b"\n"):  # the last line lacks its line break
                    data, left = data + b"\n", 0
                elif not data:
                    raise UsageError(f"{path} was truncated during the merge", fix="Merge again")
                if self._on_bytes is not None:
                    self._on_bytes(len(data))
                yield data
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error

    def _opened(self, path: Path) -> BinaryIO:
        file = self._files.get(path)
        if file is None:
            if len(self._files) >= _MOST_OPEN:
                _, idle = self._files.popitem(last=False)
                idle.close()
            file = self._files[path] = open_rows(path)
        self._files.move_to_end(path)
        return file


def _stretches(owners: EpisodeOwners) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of successive episodes in one shard: the shard's position, and their first and end
    position."""
    place, first, end = -1, 0, 0
    for part, at in zip(owners.part, owners.at, strict=True):
        if part < 0:
            continue
        if (part, at) != (place, end):
            if place >= 0:
                yield place, first, end
            place, first = part, at
        end = at + 1
    if place >= 0:
        yield place, first, end
