"""Reads one recorded episode with its step rows, without decoding other episodes.

The ``steps.jsonl`` of a long run may have gigabytes. The rows of an episode form one block, which is found by
the bytes that each of its rows begins with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gym_gui.analysis.records.jsonl import open_rows, read_lines
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.core.errors import UsageError
from gym_gui.core.record_fields import count, mapping
from gym_gui.core.records import EpisodeRecord, StepRecord, parse_episode, parse_step

_BLOCK = 1 << 22
_FIRST = b'{"episode_index":'
"""First bytes of rows that the engine has written."""


@dataclass(frozen=True)
class RecordedEpisode:
    """An episode as recorded in the run folder.

    Attributes:
        run: The run folder.
        operator_id: Id of the operator.
        name: Name of the operator shown to people.
        config: The operator's entry in the experiment.
        max_steps: Limit of environment steps of an episode, or ``None``.
        episode: The episode's line.
        lines: The episode's rows as JSON lines.
    """

    run: Path
    operator_id: str
    name: str
    config: Mapping[str, Any]
    max_steps: int | None
    episode: EpisodeRecord
    lines: bytes

    def steps(self) -> list[StepRecord]:
        """Return the episode's step records in the order of the file.

        Raises:
            RunFormatError: A row is damaged.
        """
        where = f"{self.operator_id}, episode {self.episode.episode_index}"
        return [parse_step(orjson.loads(line), where) for line in self.lines.splitlines()]

    def require_rows(self) -> None:
        """Check that the episode has step rows.

        Raises:
            UsageError: The episode has no rows.
        """
        if not self.lines:
            why = f": {self.episode.error}" if self.episode.error else ""
            raise UsageError(
                f"nothing was played in episode {self.episode.episode_index} of {self.name}{why}",
                fix="Choose another episode",
            )

    @property
    def seats(self) -> dict[str, str]:
        """Configured slot that plays in each seat, by agent id of the seat."""
        return {agent: record.slot for agent, record in self.episode.agents.items()}


def find_episodes(run: Run, operator_id: str) -> list[EpisodeRecord]:
    """Return an operator's finished episodes, sorted by index.

    Raises:
        UsageError: The run has no such operator.
        RunFormatError: A row is damaged.
    """
    return sorted(_operator(run, operator_id).episodes(), key=lambda e: e.episode_index)


def load_episode(run: Run, operator_id: str = "", index: int | None = None) -> RecordedEpisode:
    """Return one episode with its rows.

    Args:
        run: The run.
        operator_id: Id of the operator; by default the first one that has an episode.
        index: Index of the episode; by default the first one.

    Raises:
        UsageError: There is no such operator or episode, or the episode has no rows.
        RunFormatError: A row is damaged.
    """
    operator, episode = _find(run, operator_id, index)
    lines, _ = _rows(operator.path / "steps.jsonl", episode.episode_index)
    recorded = _recorded(run, operator, episode, lines)
    recorded.require_rows()
    return recorded


def load_episodes(run: Run, operator_id: str, wanted: Collection[int]) -> Iterator[RecordedEpisode]:
    """Yield several episodes of an operator in the order of the record.

    Rows are in the order of the episodes, so that one pass over the file finds them all.

    Args:
        run: The run.
        operator_id: Id of the operator.
        wanted: Indices of the episodes. Indices that are not recorded are skipped. An episode without
            rows has no lines.

    Raises:
        UsageError: There is no such operator, or its rows cannot be read.
        RunFormatError: A row is damaged.
    """
    operator, at = _operator(run, operator_id), 0
    for line in _episode_lines(operator):
        if line.value.get("episode_index") in wanted:
            episode = parse_episode(line.value, line.where)
            lines, at = _rows(operator.path / "steps.jsonl", episode.episode_index, at)
            yield _recorded(run, operator, episode, lines)


def _recorded(run: Run, operator: OperatorRun, episode: EpisodeRecord, lines: bytes) -> RecordedEpisode:
    execution = mapping(run.record.experiment.get("execution")) or {}
    limits = (count(place.get("max_steps")) for place in (operator.config, execution))
    limit = next((limit for limit in limits if limit), None)
    return RecordedEpisode(
        run.path, operator.operator_id, operator.name, operator.config, limit, episode, lines
    )


def _operator(run: Run, operator_id: str) -> OperatorRun:
    found = run.operators.get(operator_id)
    if found is None:
        known = ", ".join(run.operators) or "none"
        raise UsageError(f"the run {run.path} has no operator {operator_id!r}", fix=f"Its operators: {known}")
    return found


def _find(run: Run, operator_id: str, index: int | None) -> tuple[OperatorRun, EpisodeRecord]:
    operators = [_operator(run, operator_id)] if operator_id else list(run.operators.values())
    for operator in operators:
        episodes = _matching(operator, index)
        if episodes:
            return operator, min(episodes, key=lambda e: e.episode_index)
    who = operators[0].name if operator_id else f"the run {run.path}"
    if index is None:
        raise UsageError(f"{who} has no finished episode yet", fix="Wait until an episode ends")
    known = [line.value.get("episode_index") for o in operators for line in _episode_lines(o)]
    numbers = sorted({k for k in known if isinstance(k, int)})
    fix = f"Episodes {numbers[0]} to {numbers[-1]} are recorded" if numbers else "Wait until an episode ends"
    raise UsageError(f"{who} has no finished episode {index}", fix=fix)


def _matching(operator: OperatorRun, index: int | None) -> list[EpisodeRecord]:
    return [
        parse_episode(line.value, line.where)
        for line in _episode_lines(operator)
        if index is None or line.value.get("episode_index") == index
    ]


def _episode_lines(operator: OperatorRun) -> Iterator[Any]:
    return read_lines(operator.path / "episodes.jsonl")


def _rows(path: Path, index: int, since: int = 0) -> tuple[bytes, int]:
    """Return the complete rows of an episode and the offset of their end. The search begins at ``since``."""
    prefix = _FIRST + b"%d," % index
    try:
        start = _seek(path, prefix, since)
        if start is None and since:
            start = _seek(path, prefix, 0)
        if start is not None:
            return _block(path, start, prefix)
        if _ours(path):
            return b"", since
    except OSError as exc:
        raise UsageError(f"{path} cannot be read: {exc.strerror}") from exc
    # Another program has written the file, with other spacing or order of keys.
    kept = [line.value for line in read_lines(path) if line.value.get("episode_index") == index]
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in kept), since


def _ours(path: Path) -> bool:
    with open_rows(path) as file:
        return file.read(len(_FIRST)) == _FIRST


def _seek(path: Path, prefix: bytes, since: int) -> int | None:
    """Return the offset of the first line that begins with ``prefix``, from the line start ``since`` on."""
    needle = b"\n" + prefix
    with open_rows(path) as file:
        file.seek(since)
        tail, at = b"\n", since - 1  # treat the start as the start of a line
        while data := file.read(_BLOCK):
            window = tail + data
            found = window.find(needle)
            if found >= 0:
                return at + found + 1
            tail = window[-(len(needle) - 1) :]
            at += len(window) - len(tail)
    return None


def _block(path: Path, start: int, prefix: bytes) -> tuple[bytes, int]:
    """Return the complete lines from ``start`` on that begin with ``prefix``, and their end."""
    kept: list[bytes] = []
    with open_rows(path) as file:
        file.seek(start)
        for line in file:
            if not line.startswith(prefix) or not line.endswith(b"\n"):
                break
            kept.append(line)
    return b"".join(kept), start + sum(map(len, kept))
