"""``mosaic replay``: an episode again, in the window, as a video, or as figures."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis import open_run
from gym_gui.cli.errors import DONE, USAGE, WORK_FAILED, tell
from gym_gui.controllers.replay_session import EpisodeReplay, ReplayOrder
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run
from gym_gui.services.recorded_episode import RecordedEpisode, load_episode

_REPORT_EVERY = 10


def replay_episode(
    run: Path,
    *,
    operator: str = "",
    episode: int | None = None,
    video: Path | None = None,
    fps: float = 10.0,
    as_json: bool = False,
) -> int:
    """Play a recorded episode again.

    Args:
        run: The run folder.
        operator: By default the first that has an episode.
        episode: By default the first there is.
        video: Write it as a video; else, without ``as_json``, the window shows it.
        fps: Steps per second of the video.
        as_json: One object on stdout; progress as JSON lines on stderr.

    Returns:
        Exit status: 1 where what was played is not what was recorded.

    Raises:
        UsageError: There is no such run or episode, or it cannot be played or written.
    """
    recorded = load_episode(open_run(find_run(run)), operator, episode)
    if video is None and not as_json:
        from gym_gui.cli.window import open_window, window_trouble

        if trouble := window_trouble():
            which = f"--operator {recorded.operator_id} --episode {recorded.episode.episode_index}"
            tell(f"{trouble}. Without a window: mosaic replay {run} {which} --video episode.mp4")
            return USAGE
        place = (str(recorded.run), recorded.operator_id, str(recorded.episode.episode_index))
        return open_window(["--replay", *place])
    # Pictures are drawn into memory: no window, no sound.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    replay = EpisodeReplay(ReplayOrder.of(recorded), render=video is not None)
    replay.open()
    try:
        played = _Played(replay, recorded, as_json=as_json)
        if video is not None:
            from gym_gui.services.video import write_video

            write_video(video, played.pictures(), fps)
        else:
            for _ in played.pictures():
                pass
    finally:
        replay.close()
    _print_replay(recorded, replay, played.steps, video, as_json=as_json)
    return WORK_FAILED if replay.departs else DONE


class _Played:
    """Plays, tells how far it is, and hands out the pictures there are."""

    def __init__(self, replay: EpisodeReplay, recorded: RecordedEpisode, *, as_json: bool) -> None:
        self._replay, self._as_json = replay, as_json
        self._total = recorded.episode.length
        self.steps = 0

    def pictures(self) -> Iterator[NDArray[np.uint8]]:
        """Every picture, in order; raises where the environment draws none."""
        for frame in self._replay.frames():
            self.steps = frame.step
            if self._as_json and frame.position % _REPORT_EVERY == 0:
                self._tell()
            if frame.picture is not None:
                yield frame.picture
            elif self._replay.render:
                raise UsageError(
                    "this environment draws no picture", fix="Look at its steps in the window: mosaic replay"
                )
        if self._as_json:
            self._tell()

    def _tell(self) -> None:
        line = json.dumps({"progress": {"done": self.steps, "total": self._total}})
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def _print_replay(
    recorded: RecordedEpisode, replay: EpisodeReplay, steps: int, video: Path | None, *, as_json: bool
) -> None:
    episode = recorded.episode
    if as_json:
        data: dict[str, Any] = {
            "run": str(recorded.run),
            "operator_id": recorded.operator_id,
            "episode_index": episode.episode_index,
            "seed": episode.seed,
            "steps": steps,
            "video": None if video is None else str(video),
            "equal": not replay.departs,
            "departs": replay.departs,
        }
        sys.stdout.write(json.dumps(data) + "\n")
        return
    where = f"Episode {episode.episode_index} of {recorded.name}, seed {episode.seed}"
    sys.stdout.write(f"{where}: {steps} steps, written to {video}\n")
    if replay.departs:
        sys.stdout.write(f"{replay.departs}\n")
