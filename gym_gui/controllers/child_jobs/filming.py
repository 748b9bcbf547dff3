"""Makes films of recorded episodes in a child process that plays the environments again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_folder import write_film
from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.controllers.child_jobs.child_job import PositionReports, question_of_job, run_in_child
from gym_gui.controllers.replays.filming import film_of
from gym_gui.core.errors import MosaicError
from gym_gui.services.runs.recorded_episode import load_episodes
from gym_gui.services.subprocess_job import LONGEST_CALL_S, answer_job, report_progress

LONGEST_FILM_S: Final = 60.0
"""Seconds allowed for one film."""


async def write_films_in_child(
    run: Run,
    operator_id: str,
    episodes: Sequence[int],
    folder: Path,
    most_bytes: int,
    on_film: Callable[[], None],
    *,
    longest_s: float = LONGEST_CALL_S,
) -> None:
    """Play recorded episodes of an operator again in a child process, and write one film file per episode.

    Args:
        run: The run.
        operator_id: The operator.
        episodes: Indices of the episodes.
        folder: Folder for the films.
        most_bytes: Largest size of each film in bytes.
        on_film: Called after every film.
        longest_s: Seconds after which an environment that has not returned from a call counts as hanging.

    Raises:
        NotAllowedError: The run names code that the user has not allowed.
        UsageError: The environment is not installed.
        SubprocessJobError: The environment ended the process, or did not return.
    """
    asked = {
        "run": str(run.path.absolute()),
        "operator": operator_id,
        "episodes": list(episodes),
        "folder": str(folder.absolute()),
        "most_bytes": most_bytes,
    }

    def hear(told: Mapping[str, Any]) -> None:
        if told.get("film") in episodes:
            on_film()

    from gym_gui.controllers.reexecution.verification import experiment_of  # the process needs none of it

    operators = [each for each in experiment_of(run).operators if each.operator_id == operator_id]
    await run_in_child(__name__, asked, operators, on_told=hear, longest_s=longest_s)


def _film() -> None:
    asked = question_of_job()
    run, operator_id = open_run(Path(asked["run"])), asked["operator"]
    reports = PositionReports()
    for recorded in load_episodes(run, operator_id, set(asked["episodes"])):
        index = recorded.episode.episode_index
        try:
            recorded.require_rows()
            film = film_of(recorded, run.run_id, asked["most_bytes"], partial(reports.at, operator_id, index))
        except MosaicError as error:
            film = Film(run.run_id, operator_id, index, missing=error.message)
        write_film(Path(asked["folder"]), film)
        report_progress({"film": index})


if __name__ == "__main__":
    answer_job(_film)
