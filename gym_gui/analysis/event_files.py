"""Episodes as TensorBoard's event files: a folder for each operator, beside those of trainings."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from gym_gui.analysis.reader import Run
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.records import EpisodeRecord


def write_events(run: Run, folder: Path) -> int:
    """Write the completed episodes of a run, each operator's into a folder of its own.

    Steps of the curves are indices of episodes, their times when an episode ended.

    Args:
        run: The run.
        folder: Where the operators' folders are made; what is in them already stays.

    Returns:
        Episodes written.

    Raises:
        UsageError: A row is damaged, no episode is completed, or the folder cannot be written.
        MissingDependencyError: TensorBoard is not installed.
    """
    try:
        files: Any = import_module("tensorboard.summary.writer.event_file_writer")
        events: Any = import_module("tensorboard.compat.proto.event_pb2")
        summaries: Any = import_module("tensorboard.compat.proto.summary_pb2")
    except ImportError:
        raise MissingDependencyError("TensorBoard", "mosaic install tensorboard") from None
    written = 0
    for operator in run.operators.values():
        episodes = [e for e in operator.episodes() if e.status == EpisodeStatus.COMPLETED]
        if not episodes:
            continue
        place = folder / operator.operator_id
        try:
            _require_folder(place)
            writer = files.EventFileWriter(str(place))
            for episode in sorted(episodes, key=lambda e: e.episode_index):
                values = [summaries.Summary.Value(tag=tag, simple_value=v) for tag, v in _curves(episode)]
                summary = summaries.Summary(value=values)
                event = events.Event(wall_time=_ended(episode), step=episode.episode_index, summary=summary)
                writer.add_event(event)
            writer.close()
        except OSError as error:
            raise UsageError(
                f"{place} cannot be written: {error.strerror or error}", fix="Choose another folder"
            ) from error
        written += len(episodes)
    if not written:
        raise UsageError("there is nothing to write: no episode is completed", fix="Wait until one is")
    return written


def _require_folder(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    if any(place.glob("events.out.tfevents.*")):
        # A second file beside the first would draw every curve twice.
        raise FileExistsError(errno.EEXIST, "it has event files already")


def _curves(episode: EpisodeRecord) -> Iterator[tuple[str, float]]:
    if episode.total_reward is not None:
        yield "episode/return", episode.total_reward
    yield "episode/length", float(episode.length)
    if episode.success is not None:
        yield "episode/success", float(episode.success)
    if len(episode.returns) > 1:
        for agent, value in episode.returns.items():
            if value is not None:
                yield f"return/{agent}", value
    for team, record in episode.teams.items():
        if record.score is not None:
            yield f"score/{team}", float(record.score)
    for team, outcome in (episode.outcome or {}).items():
        yield f"won/{team}", {"win": 1.0, "draw": 0.5}.get(str(outcome), 0.0)


def _ended(episode: EpisodeRecord) -> float:
    """When it was over, in seconds since 1970."""
    try:
        return datetime.fromisoformat(episode.started_at or "").timestamp() + (episode.wall_s or 0.0)
    except ValueError:
        return 0.0
