"""Exports episodes as TensorBoard event files, in one folder per operator."""

from __future__ import annotations

import errno
from importlib import import_module
from pathlib import Path
from typing import Any

from gym_gui.analysis.exports.episode_curves import (
    completed_episodes,
    curve_points,
    ended_at,
    nothing_to_write,
)
from gym_gui.analysis.records.reader import Run
from gym_gui.core.errors import MissingDependencyError, UsageError


def write_events(run: Run, folder: Path) -> int:
    """Write the completed episodes of a run as TensorBoard events, in one folder per operator.

    The step of a point is the episode's index, and its time is the end of the episode.

    Args:
        run: The run.
        folder: Folder in which the operators' folders are created; existing contents stay.

    Returns:
        Number of episodes written.

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
        episodes = completed_episodes(operator)
        if not episodes:
            continue
        place = folder / operator.operator_id
        try:
            _require_folder(place)
            writer = files.EventFileWriter(str(place))
            for episode in episodes:
                values = [
                    summaries.Summary.Value(tag=tag, simple_value=v) for tag, v in curve_points(episode)
                ]
                summary = summaries.Summary(value=values)
                event = events.Event(wall_time=ended_at(episode), step=episode.episode_index, summary=summary)
                writer.add_event(event)
            writer.close()
        except OSError as error:
            raise UsageError(
                f"{place} cannot be written: {error.strerror or error}", fix="Choose another folder"
            ) from error
        written += len(episodes)
    if not written:
        raise nothing_to_write()
    return written


def _require_folder(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    if any(place.glob("events.out.tfevents.*")):
        # With a second file beside the first, TensorBoard would draw every curve twice.
        raise FileExistsError(errno.EEXIST, "it already contains event files")
