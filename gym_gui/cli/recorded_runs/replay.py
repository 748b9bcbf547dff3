"""Implements ``mosaic replay``: plays a recorded episode in the window, as a video, or without images."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from gym_gui.analysis import open_run
from gym_gui.cli.errors import DONE, USAGE, WORK_FAILED, print_message
from gym_gui.cli.window import open_window, window_trouble
from gym_gui.controllers.child_jobs.export_python import export_python_in_child
from gym_gui.controllers.child_jobs.replay import ReplayCheck, replay_in_child
from gym_gui.core.paths import find_run
from gym_gui.services.runs.recorded_episode import RecordedEpisode, load_episode


def replay_episode(
    run: Path,
    *,
    operator: str = "",
    episode: int | None = None,
    video: Path | None = None,
    fps: float = 10.0,
    as_json: bool = False,
) -> int:
    """Play a recorded episode in the window, as a video, or without images.

    Args:
        run: The run folder.
        operator: Id of the operator; by default the first one that has an episode.
        episode: Index of the episode; by default the first one.
        video: Video file to write; without it and without ``as_json``, the window shows the episode.
        fps: Steps per second of the video.
        as_json: Whether to print one JSON object on stdout, and progress as JSON lines on stderr.

    Returns:
        Exit status: 1 if the replay differs from the record.

    Raises:
        UsageError: There is no such run or episode, or the episode cannot be played or written.
    """
    recorded = load_episode(open_run(find_run(run)), operator, episode)
    if video is None and not as_json:
        if trouble := window_trouble():
            which = f"--operator {recorded.operator_id} --episode {recorded.episode.episode_index}"
            print_message(f"{trouble}. Without a window: mosaic replay {run} {which} --video episode.mp4")
            return USAGE
        place = (str(recorded.run), recorded.operator_id, str(recorded.episode.episode_index))
        return open_window(["--replay", *place])
    total = recorded.episode.length

    def tell_steps(steps: int) -> None:
        if as_json:
            sys.stderr.write(json.dumps({"progress": {"done": steps, "total": total}}) + "\n")
            sys.stderr.flush()

    again = asyncio.run(replay_in_child(recorded, video=video, fps=fps, on_steps=tell_steps))
    _print_replay(recorded, again, video, as_json=as_json)
    return WORK_FAILED if again.departs else DONE


def _print_replay(
    recorded: RecordedEpisode, again: ReplayCheck, video: Path | None, *, as_json: bool
) -> None:
    episode = recorded.episode
    if as_json:
        data: dict[str, Any] = {
            "run": str(recorded.run),
            "operator_id": recorded.operator_id,
            "episode_index": episode.episode_index,
            "seed": episode.seed,
            "steps": again.steps,
            "video": None if video is None else str(video),
            "equal": not again.departs,
            "departs": again.departs,
        }
        sys.stdout.write(json.dumps(data) + "\n")
        return
    where = f"Episode {episode.episode_index} of {recorded.name}, seed {episode.seed}"
    sys.stdout.write(f"{where}: {again.steps} steps, written to {video}\n")
    if again.departs:
        sys.stdout.write(f"{again.departs}\n")


def print_loop(run: Path, *, operator: str = "", episode: int | None = None) -> None:
    """Print a Python program that plays a recorded episode without MOSAIC.

    Args:
        run: The run folder.
        operator: Id of the operator; by default the first one that has an episode.
        episode: Index of the episode; by default the first one.

    Raises:
        UsageError: There is no such run or episode, or only MOSAIC can play it.
    """
    recorded = load_episode(open_run(find_run(run)), operator, episode)
    sys.stdout.write(asyncio.run(export_python_in_child(recorded)))
