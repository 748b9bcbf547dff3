"""Indexes the episodes of an operator in a shard by the offsets of their lines, rows and calls."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from gym_gui.analysis.records.jsonl import Line, read_blocks
from gym_gui.analysis.records.run_digest import digest_of_calls, digest_of_episodes
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import RunFormatError
from gym_gui.core.records import is_open

EPISODES, STEPS, CALLS = "episodes.jsonl", "steps.jsonl", "calls.jsonl"
NO_ROWS: Final = "0" * 16
"""Start of the digest of an episode without rows."""

_INDEX = re.compile(rb'\{"episode_index":(\d+),')
_NO_DIGEST = bytes(32)
_DONE, _FAILED, _OPEN = range(3)
_NOTHING = b"\0"
"""Prefix that no row begins with."""


class ShardRows:
    """Index of the episodes of an operator in a run folder, in the order of its files.

    The recorder writes the rows of an episode in one block, and the blocks in the order of the episodes'
    lines. Rows after the last block belong to an episode that was cut off.

    Args:
        folder: ``<run>/operators/<id>``.

    Attributes:
        indices: Index of each episode.
        lines: Offset of each episode's line in ``episodes.jsonl``, and of the last line's end.
        blocks: Offset of each episode's first row in ``steps.jsonl``, and of the last row's end.
        called: Episode of each line of ``calls.jsonl``; -1 if it belongs to none.
        calls: Offset of each line of ``calls.jsonl``, and of the last line's end.
        digests: SHA-256 of ``episodes.jsonl`` and, if there are calls, of ``calls.jsonl``, in the form of
            ``files_sha256``.

    Raises:
        RunFormatError: A line is damaged, or rows of an episode are missing.
        UsageError: A file cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.indices: list[int] = []
        self.called = array("q")
        self.lines, self.blocks, self.calls = array("q"), array("q", [0]), array("q")
        self._states = bytearray()
        self._trajectories = bytearray()
        self.digests = {EPISODES: digest_of_episodes(map(self._episode, self._read(EPISODES, self.lines)))}
        self._find_blocks()
        digest = digest_of_calls(map(self._call, self._read(CALLS, self.calls)))
        if self.called:
            self.digests[CALLS] = digest

    @property
    def size(self) -> int:
        """Number of bytes of the operator's lines, rows and calls."""
        return self.lines[-1] + self.blocks[-1] + self.calls[-1]

    def __len__(self) -> int:
        return len(self.indices)

    def is_open(self, at: int) -> bool:
        """Return whether the episode at a position is played again when its run is resumed."""
        return self._states[at] == _OPEN

    def has_failed(self, at: int) -> bool:
        """Return whether the episode at a position has failed and is not played again."""
        return self._states[at] == _FAILED

    def trajectory(self, at: int) -> str:
        """Return ``trajectory_sha256`` of the episode at a position; zeros if it has none."""
        return self._trajectories[32 * at : 32 * at + 32].hex()

    def _read(self, name: str, starts: array[int]) -> Iterator[Line]:
        """Yield the lines of a file and record their offsets."""
        end = 0
        for block in read_blocks(self.folder / name):
            end = block.start + len(block.data)
            for line in block.lines():
                starts.append(line.start)
                yield line
        starts.append(end)

    def _episode(self, line: Line) -> Line:
        row = line.value
        index = row.get("episode_index")
        if not isinstance(index, int) or index < 0:
            raise RunFormatError(line.where, "'episode_index' is missing")
        self.indices.append(index)
        status = str(row.get("status"))
        still_open = is_open(status, row.get("lost"), row.get("error"))
        self._states.append(_OPEN if still_open else _DONE if status == EpisodeStatus.COMPLETED else _FAILED)
        self._trajectories += _digest(row.get("trajectory_sha256"), line)
        return line

    def _call(self, line: Line) -> Line:
        episode = line.value.get("episode")
        self.called.append(episode if isinstance(episode, int) else -1)
        return line

    def _find_blocks(self) -> None:
        places = {index: at for at, index in enumerate(self.indices)}
        steps = self.folder / STEPS
        if len(places) < len(self):
            raise RunFormatError(str(self.folder / EPISODES), "an episode is recorded twice")
        next_at, end, cut_off = 0, 0, False
        for index, start, stop, last in _blocks(steps):
            at = places.get(index)
            if at is None:  # the episode's line was never written
                cut_off = True
                continue
            if at < next_at or cut_off:
                raise RunFormatError(
                    str(steps), f"rows of episode {index} are not in the order of the episodes"
                )
            self._add_empty_blocks(next_at, at, start)
            sha = self.trajectory(at)[:16]
            # Decoding takes ten times as long as this search, and is needed only if the search fails.
            if f'"state_sha":"{sha}"'.encode() not in last and orjson.loads(last).get("state_sha") != sha:
                raise self._missing(at)
            self.blocks[at] = start
            self.blocks.append(stop)
            next_at, end = at + 1, stop
        self._add_empty_blocks(next_at, len(self), end)

    def _add_empty_blocks(self, first: int, end: int, start: int) -> None:
        """Check that the episodes at these positions have no digest of rows, and give them empty blocks."""
        for at in range(first, end):
            if not self.trajectory(at).startswith(NO_ROWS):
                raise self._missing(at)
            self.blocks[at] = start
            self.blocks.append(start)

    def _missing(self, at: int) -> RunFormatError:
        return RunFormatError(
            str(self.folder / STEPS),
            f"rows of episode {self.indices[at]} are missing, or do not match its line",
        )


def _digest(trajectory: Any, line: Line) -> bytes:
    try:
        digest = _NO_DIGEST if trajectory is None else bytes.fromhex(trajectory)
    except (TypeError, ValueError):
        digest = b""
    if len(digest) != len(_NO_DIGEST):
        raise RunFormatError(line.where, "'trajectory_sha256' is not a digest")
    return digest


def _blocks(path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield each episode's index, the offsets of its rows' start and end, and its last row.

    Rows are decoded only at the start of an episode. Other rows are recognized by their first bytes, because
    the engine writes the index first.
    """
    current, begin, at = -1, 0, 0
    beginning, last = _NOTHING, b""
    for block in read_blocks(path):
        at = block.start
        for number, row in enumerate(block.data[:-1].split(b"\n"), block.number):
            if not row.startswith(beginning):
                index, beginning = _index(row, path, number)
                if index != current:
                    if current >= 0:
                        yield current, begin, at, last
                    current, begin = index, at
            last = row
            at += len(row) + 1
    if current >= 0:
        yield current, begin, at, last


def _index(row: bytes, path: Path, number: int) -> tuple[int, bytes]:
    """Return the episode of a row, and the prefix of its other rows if the row is in the usual form."""
    if match := _INDEX.match(row):
        return int(match[1]), match[0]
    try:
        index = orjson.loads(row)["episode_index"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        index = None
    if not isinstance(index, int) or index < 0:
        raise RunFormatError(f"{path}:{number}", "the line is not a step")
    return index, _NOTHING
