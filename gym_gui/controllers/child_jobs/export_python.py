"""Converts a recorded episode to a Python program, in a child process that makes the environment."""

from __future__ import annotations

from pathlib import Path

from gym_gui.analysis import open_run
from gym_gui.controllers.child_jobs.child_job import question_of_job, run_in_child
from gym_gui.controllers.replays.export_python import export_python
from gym_gui.controllers.replays.replay_session import ReplayOrder
from gym_gui.services.runs.recorded_episode import RecordedEpisode, load_episode
from gym_gui.services.subprocess_job import answer_job


async def export_python_in_child(recorded: RecordedEpisode) -> str:
    """Return a recorded episode as a Python program, written in a child process by :func:`.export_python`.

    Raises:
        NotAllowedError: The run names code that the user has not allowed.
        UsageError: Only MOSAIC can make the environment, or its actions cannot be written into a program.
        SubprocessJobError: The environment ended the process, or did not return.
        MosaicError: No seed is on record, or a row is damaged.
    """
    asked = {
        "run": str(recorded.run.absolute()),
        "operator": recorded.operator_id,
        "episode": recorded.episode.episode_index,
    }
    return await run_in_child(__name__, asked, [ReplayOrder.of(recorded).config])


def _write() -> str:
    asked = question_of_job()
    run = open_run(Path(asked["run"]))
    return export_python(load_episode(run, asked["operator"], asked["episode"]), run.record.versions)


if __name__ == "__main__":
    answer_job(_write)
