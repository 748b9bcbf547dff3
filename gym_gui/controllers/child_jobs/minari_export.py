"""Converts a run to Minari datasets in a child process that plays the run's environments again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gym_gui.analysis import Run, open_run
from gym_gui.controllers.child_jobs.child_job import PositionReports, question_of_job, run_in_child
from gym_gui.controllers.reexecution.verification import experiment_of
from gym_gui.controllers.replays.minari_export import write_datasets
from gym_gui.services.subprocess_job import answer_job


async def write_datasets_in_child(run: Run, folder: Path) -> tuple[dict[str, int], list[str]]:
    """Write a run as Minari datasets in a child process, with :func:`.minari_export.write_datasets`.

    Args:
        run: The run.
        folder: Folder to which ``MINARI_DATASETS_PATH`` must point in order to load the datasets.

    Returns:
        Number of episodes by name of the dataset, and a sentence for each operator that Minari cannot store.

    Raises:
        UsageError: An environment is not installed, an episode differs from its record when played again,
            Minari can store no operator or is not installed, or the folder cannot be written.
        NotAllowedError: The run names code that the user has not allowed.
        SubprocessJobError: An environment ended the process, or did not return.
    """
    asked = {"run": str(run.path.absolute()), "folder": str(folder.absolute())}
    answer = await run_in_child(__name__, asked, experiment_of(run).operators)
    return answer["written"], answer["left_out"]


def _write() -> dict[str, Any]:
    asked = question_of_job()
    left_out: list[str] = []
    written = write_datasets(
        open_run(Path(asked["run"])),
        Path(asked["folder"]),
        lambda error: left_out.append(str(error)),
        PositionReports().at,
    )
    return {"written": written, "left_out": left_out}


if __name__ == "__main__":
    answer_job(_write)
