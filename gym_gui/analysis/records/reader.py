"""Opens a run folder and reads its rows lazily, even while the run is running."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import orjson

from gym_gui.analysis.records.jsonl import Block, Line, read_blocks, read_lines
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.record_fields import count, mapping, strings
from gym_gui.core.records import (
    IN_PROCESS,
    RENAMED,
    SEAT_NAMES,
    TOURNAMENT,
    EpisodeRecord,
    RunRecord,
    StepRecord,
    parse_episode,
    parse_run,
    parse_step,
)
from gym_gui.core.run_labels import one_line
from mosaic_worker.plain_files import read_file, subfolders

_NO_ID: Final = re.compile(r"[/\n\r\x0b\x0c\x85\u2028\u2029]")
"""Characters that an operator's id must not contain: the path separator and line breaks."""


@dataclass(frozen=True)
class OperatorRun:
    """Record of one operator in a run folder.

    Attributes:
        operator_id: Id of the operator, also the name of its folder.
        path: ``<run>/operators/<operator_id>``.
        config: Entry of the operator in the resolved experiment; empty if there is none.
        actions: Names of discrete actions by slot, if they have names.
        renamed: Words that were renamed in prompts, as ``"key: vatab"``, by slot.
        seat_names: The game's names for seats (such as ``White``), by slot.
    """

    operator_id: str
    path: Path
    config: Mapping[str, Any]
    actions: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict[str, Sequence[str]]())
    renamed: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict[str, Sequence[str]]())
    seat_names: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())

    @property
    def name(self) -> str:
        """Display name of the operator; its id if it has no other name."""
        for key in ("display_name", "name"):
            value = self.config.get(key)
            if isinstance(value, str) and value.strip():
                return one_line(value)
        return self.operator_id

    @property
    def task(self) -> str:
        """Environment family and id, such as ``gymnasium/CartPole-v1``."""
        parts = (self.config.get(key) for key in ("env_name", "task"))
        return one_line("/".join(part for part in parts if isinstance(part, str) and part))

    def episodes(self) -> Iterator[EpisodeRecord]:
        """Yield finished episodes in the order in which they finished.

        Raises:
            RunFormatError: A row is damaged or of another operator, or an episode has two rows.
        """
        return (episode for episode, _ in self.episode_lines())

    def episode_lines(self) -> Iterator[tuple[EpisodeRecord, Line]]:
        """Yield finished episodes, each with its line, in the order in which they finished."""
        seen: dict[int, int] = {}
        for line in read_lines(self.path / "episodes.jsonl"):
            where = line.where
            episode = parse_episode(line.value, where)
            if episode.operator_id != self.operator_id:
                raise RunFormatError(where, f"the episode is of operator {episode.operator_id!r}")
            if earlier := seen.get(episode.episode_index):
                place = line._replace(number=earlier).where
                raise RunFormatError(where, f"episode {episode.episode_index} is already at {place}")
            seen[episode.episode_index] = line.number
            yield episode, line

    def steps(self, episodes: Collection[int] | None = None) -> Iterator[StepRecord]:
        """Yield decisions in the order of the file.

        Args:
            episodes: Indices of the episodes whose decisions to yield; ``None`` for all, including
                episodes that have not finished.

        Raises:
            RunFormatError: A row is damaged.
        """
        for line in self.step_lines():
            step = parse_step(line.value, line.where)
            if episodes is None or step.episode_index in episodes:
                yield step

    def row_lines(self, having: Sequence[str]) -> Iterator[Line]:
        """Yield the decoded lines of finished episodes that contain one of the texts ``having``."""
        return read_lines(self.path / "episodes.jsonl", [text.encode() for text in having])

    def step_lines(self, having: Sequence[str] = ()) -> Iterator[Line]:
        """Yield decisions as decoded JSON, which is faster than :meth:`steps`.

        Args:
            having: Names of fields; rows without any of these names are skipped, rows that contain one as a
                value are not.
        """
        return read_lines(self.path / "steps.jsonl", [f'"{name}"'.encode() for name in having])

    def step_blocks(self) -> Iterator[Block]:
        """Yield decisions as blocks of undecoded rows."""
        return read_blocks(self.path / "steps.jsonl")

    def calls(self) -> Iterator[Mapping[str, Any]]:
        """Yield recorded model calls in the order of the file."""
        return (line.value for line in self.call_lines())

    def call_lines(self) -> Iterator[Line]:
        """Yield the lines of recorded model calls."""
        return read_lines(self.path / "calls.jsonl")


@dataclass(frozen=True)
class Run:
    """Opened run folder.

    Attributes:
        path: The folder.
        record: Content of ``run.json``.
        operators: Operators by id, in the experiment's order.
    """

    path: Path
    record: RunRecord
    operators: Mapping[str, OperatorRun]

    @property
    def run_id(self) -> str:
        """The run's ULID."""
        return self.record.run_id

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended, that is, it is neither running nor stopped."""
        return self.record.status not in ("running", "stopped")

    @property
    def planned(self) -> Mapping[str, int]:
        """Planned number of episodes by operator; empty for some runs of earlier versions."""
        counts = {key: count(n) for key, n in (mapping(self.record.extra.get("episodes")) or {}).items()}
        return {key: n for key, n in counts.items() if n is not None}

    def lost_lines(self, operator_id: str, recorded: int) -> int:
        """Return how many planned episodes of an ended run have no line in its folder; 0 before its end.

        Args:
            operator_id: Id of the operator.
            recorded: Number of the operator's episodes that have a line.
        """
        return max(self.planned.get(operator_id, 0) - recorded, 0) if self.has_ended else 0

    @property
    def resumed_by(self) -> str:
        """Command line that resumes the run, without the run folder, such as ``mosaic run --resume``.

        Empty if no command can resume the run, because policies were Python objects.
        """
        players = (mapping(of) or {} for of in (mapping(self.record.extra.get("players")) or {}).values())
        own = any((mapping(p) or {}).get("worker_id") == IN_PROCESS for of in players for p in of.values())
        return "" if own else f"mosaic {'tournament' if TOURNAMENT in self.record.extra else 'run'} --resume"


def open_run(path: str | Path) -> Run:
    """Open a run folder for reading.

    Only ``run.json`` is read immediately. If the run is still running, its finished episodes can be read.

    Args:
        path: Folder that contains ``run.json``.

    Raises:
        UsageError: There is no run at ``path``.
        RunFormatError: ``run.json`` is damaged.
    """
    folder = Path(path)
    file = folder / "run.json"
    try:
        raw = read_file(file)
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"no run at {folder}", fix=_nearby(folder)) from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise RunFormatError(str(file), f"damaged, not JSON ({error.msg})") from None
    record = parse_run(value, str(file))
    return Run(folder, record, _operators(folder, record, str(file)))


def _nearby(folder: Path) -> str:
    """Return the fix for a folder that is no run folder."""
    if not folder.is_dir():
        return "Give the folder that contains run.json; see: mosaic runs list"
    inside = sorted(entry.parent.name for entry in folder.glob("*/run.json"))
    if not inside:
        return "The folder contains no run.json"
    held = "1 run" if len(inside) == 1 else f"{len(inside)} runs"
    return f"The folder contains {held}; give one, such as {folder / inside[-1]}"


def _operators(folder: Path, record: RunRecord, where: str) -> dict[str, OperatorRun]:
    """Return operators by id: those of the experiment, then those that only have a folder."""
    configs: dict[str, Mapping[str, Any]] = {}
    listed = record.experiment.get("operators")
    for entry in cast("list[Any]", listed) if isinstance(listed, list) else []:
        config = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        operator_id = config.get("operator_id", config.get("id"))
        if not isinstance(operator_id, str) or operator_id in ("", ".", "..") or _NO_ID.search(operator_id):
            raise RunFormatError(where, f"an operator has no usable id: {operator_id!r}")
        configs[operator_id] = config
    root = folder / "operators"
    try:
        for name in subfolders(root, inside=folder):
            if _NO_ID.search(name):
                raise RunFormatError(str(root), f"a folder in it has no usable name: {name!r}")
            configs.setdefault(name, {})
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}") from error
    named, renamed, seats = (
        mapping(record.extra.get(name)) or {} for name in ("actions", RENAMED, SEAT_NAMES)
    )
    return {
        key: OperatorRun(
            key,
            root / key,
            config,
            _action_words(named.get(key)),
            _action_words(renamed.get(key)),
            {slot: one_line(name) for slot, name in (mapping(seats.get(key)) or {}).items()},
        )
        for key, config in configs.items()
    }


def _action_words(named: Any) -> dict[str, Sequence[str]]:
    """Return lists of words (names of actions, or renamed words) by slot."""
    found = {slot: strings(words) for slot, words in (mapping(named) or {}).items()}
    return {slot: [one_line(word) for word in words] for slot, words in found.items() if words}
