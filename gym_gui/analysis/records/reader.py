"""Opens a run folder and hands out its rows lazily, also while the run is on."""

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
"""What leads elsewhere, or breaks lines."""


@dataclass(frozen=True)
class OperatorRun:
    """One operator's part of a run folder.

    Attributes:
        operator_id: Its id, also the name of its folder.
        path: ``<run>/operators/<operator_id>``.
        config: Its entry in the experiment as resolved; empty where there is none.
        actions: Words of discrete actions by slot, where they have them.
        renamed: What slots were told under another name, ``"key: vatab"``, by slot that was.
        seat_names: What the game calls seats, by slot that it has a name for.
    """

    operator_id: str
    path: Path
    config: Mapping[str, Any]
    actions: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict[str, Sequence[str]]())
    renamed: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict[str, Sequence[str]]())
    seat_names: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())

    @property
    def name(self) -> str:
        """What people call it; the id where it has no other name."""
        for key in ("display_name", "name"):
            value = self.config.get(key)
            if isinstance(value, str) and value.strip():
                return one_line(value)
        return self.operator_id

    @property
    def task(self) -> str:
        """Environment family and id, for telling which operators may be compared."""
        parts = (self.config.get(key) for key in ("env_name", "task"))
        return one_line("/".join(part for part in parts if isinstance(part, str) and part))

    def episodes(self) -> Iterator[EpisodeRecord]:
        """Finished episodes in the order in which they finished.

        Raises:
            RunFormatError: A row is damaged, of another operator, or there twice.
        """
        return (episode for episode, _ in self.episode_lines())

    def episode_lines(self) -> Iterator[tuple[EpisodeRecord, Line]]:
        """The same, each with the line it stands on."""
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
        """Decisions in the order of the file.

        Args:
            episodes: Only those of these episodes. Rows of an episode that has no
                episode line yet are there too; leave it out to pass over them.

        Raises:
            RunFormatError: A row is damaged.
        """
        for line in self.step_lines():
            step = parse_step(line.value, line.where)
            if episodes is None or step.episode_index in episodes:
                yield step

    def row_lines(self, having: Sequence[str]) -> Iterator[Line]:
        """Lines of finished episodes in which one of these texts stands, as decoded JSON."""
        return read_lines(self.path / "episodes.jsonl", [text.encode() for text in having])

    def step_lines(self, having: Sequence[str] = ()) -> Iterator[Line]:
        """Decisions as decoded JSON, for passes over many rows that need little of each.

        Args:
            having: Only rows with one of these fields, and perhaps others with its word; no more are decoded.
        """
        return read_lines(self.path / "steps.jsonl", [f'"{name}"'.encode() for name in having])

    def step_blocks(self) -> Iterator[Block]:
        """Decisions as they stand in the file, many at a time, for passes that decode them by themselves."""
        return read_blocks(self.path / "steps.jsonl")

    def calls(self) -> Iterator[Mapping[str, Any]]:
        """Paid calls, in the order in which they were made."""
        return (line.value for line in self.call_lines())

    def call_lines(self) -> Iterator[Line]:
        """The same, each with the line it stands on."""
        return read_lines(self.path / "calls.jsonl")


@dataclass(frozen=True)
class Run:
    """A run folder.

    Attributes:
        path: The folder.
        record: What ``run.json`` says.
        operators: By id, in the experiment's order.
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
        """Whether it has come to its end: it is neither on nor was it stopped."""
        return self.record.status not in ("running", "stopped")

    @property
    def planned(self) -> Mapping[str, int]:
        """Episodes by operator, as ``run.json`` counts them; runs of earlier versions may not."""
        counts = {key: count(n) for key, n in (mapping(self.record.extra.get("episodes")) or {}).items()}
        return {key: n for key, n in counts.items() if n is not None}

    def lost_lines(self, operator_id: str, recorded: int) -> int:
        """Episodes that the run counts, and that have no line in its folder any more; 0 before it has ended.

        Args:
            operator_id: Of this operator.
            recorded: How many have one.
        """
        return max(self.planned.get(operator_id, 0) - recorded, 0) if self.has_ended else 0

    @property
    def resumed_by(self) -> str:
        """The command that plays what is open of it, but for its folder.

        Empty where none does, because a program's own objects have played.
        """
        players = (mapping(of) or {} for of in (mapping(self.record.extra.get("players")) or {}).values())
        own = any((mapping(p) or {}).get("worker_id") == IN_PROCESS for of in players for p in of.values())
        return "" if own else f"mosaic {'tournament' if TOURNAMENT in self.record.extra else 'run'} --resume"


def open_run(path: str | Path) -> Run:
    """Open a run folder for reading.

    Nothing but ``run.json`` is read yet. A run that is still on can be opened; what
    has been finished by then is seen.

    Args:
        path: The folder that holds ``run.json``.

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
    """What to type instead, where the folder holds runs or does not exist."""
    if not folder.is_dir():
        return "Give the folder that holds run.json; see: mosaic runs list"
    inside = sorted(entry.parent.name for entry in folder.glob("*/run.json"))
    if not inside:
        return "The folder holds no run.json"
    held = "1 run" if len(inside) == 1 else f"{len(inside)} runs"
    return f"The folder holds {held}; name it like {folder / inside[-1]}"


def _operators(folder: Path, record: RunRecord, where: str) -> dict[str, OperatorRun]:
    """Operators of the experiment, then those that only have a folder."""
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
    """Words by slot, of actions or of what is called otherwise."""
    found = {slot: strings(words) for slot, words in (mapping(named) or {}).items()}
    return {slot: [one_line(word) for word in words] for slot, words in found.items() if words}
