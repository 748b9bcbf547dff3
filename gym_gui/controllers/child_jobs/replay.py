"""Plays a recorded episode again in a child process, to write a video or to compare it with the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis import open_run
from gym_gui.controllers.child_jobs.child_job import PositionReports, question_of_job, run_in_child
from gym_gui.controllers.replays.replay_session import EpisodeReplay, ReplayOrder
from gym_gui.core.errors import UsageError
from gym_gui.core.record_fields import count
from gym_gui.services.runs.recorded_episode import RecordedEpisode, load_episode
from gym_gui.services.subprocess_job import answer_job, report_progress
from gym_gui.services.video import write_video

_REPORT_EVERY: Final = 10
"""Number of rounds of decisions between two progress reports of a replay."""
OnSteps = Callable[[int], None]
"""Callback that gets the number of environment steps played so far."""


@dataclass(frozen=True)
class ReplayCheck:
    """Result of playing a recorded episode again.

    Attributes:
        steps: Environment steps that were played.
        departs: The first difference from the record, as a sentence; ``""`` if there is none.
    """

    steps: int
    departs: str


async def replay_in_child(
    recorded: RecordedEpisode,
    *,
    video: Path | None = None,
    fps: float = 10.0,
    on_steps: OnSteps | None = None,
) -> ReplayCheck:
    """Play a recorded episode again in a child process.

    Args:
        recorded: The episode.
        video: Path of an ``.mp4`` file to write; without it, nothing is rendered.
        fps: Steps per second of the video.
        on_steps: Called every ten rounds of decisions, and at the end.

    Raises:
        NotAllowedError: The run names code that the user has not allowed.
        UsageError: The episode cannot be played or the video cannot be written.
        SubprocessJobError: The environment ended the process, or did not return.
    """
    asked = {
        "run": str(recorded.run.absolute()),
        "operator": recorded.operator_id,
        "episode": recorded.episode.episode_index,
        "video": None if video is None else str(video.absolute()),
        "fps": fps,
    }

    def hear(told: Mapping[str, Any]) -> None:
        steps = count(told.get("steps"))
        if on_steps is not None and steps is not None:
            on_steps(steps)

    order = ReplayOrder.of(recorded)
    return ReplayCheck(**await run_in_child(__name__, asked, [order.config], on_told=hear))


def _replay() -> dict[str, Any]:
    asked = question_of_job()
    recorded = load_episode(open_run(Path(asked["run"])), asked["operator"], asked["episode"])
    video = asked["video"]
    replay = EpisodeReplay(ReplayOrder.of(recorded), render=video is not None)
    replay.open()
    try:
        played = _Played(replay, recorded)
        if video is not None:
            write_video(Path(video), played.pictures(), asked["fps"])
        else:
            for _ in played.pictures():
                pass
    finally:
        replay.close()
    return {"steps": played.steps, "departs": replay.departs}


class _Played:
    """Plays a recorded episode again, reports the position to the parent process, and yields the pictures."""

    def __init__(self, replay: EpisodeReplay, recorded: RecordedEpisode) -> None:
        self._replay, self._recorded, self._reports = replay, recorded, PositionReports()
        self.steps = 0

    def pictures(self) -> Iterator[NDArray[np.uint8]]:
        """Yield the picture of every step in order; nothing if the replay does not render.

        Raises:
            UsageError: Pictures are wanted, but the environment renders none.
        """
        for frame in self._replay.frames():
            self.steps = frame.step
            self._reports.at(self._recorded.operator_id, self._recorded.episode.episode_index, frame.step)
            if frame.position % _REPORT_EVERY == 0:
                report_progress({"steps": self.steps})
            if frame.picture is not None:
                yield frame.picture
            elif self._replay.render:
                raise UsageError(
                    "the environment renders no pictures",
                    fix="Show the episode's steps in the window: mosaic replay",
                )
        report_progress({"steps": self.steps})


if __name__ == "__main__":
    answer_job(_replay)
