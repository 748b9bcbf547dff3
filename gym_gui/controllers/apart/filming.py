"""Films of recorded episodes made in a process of their own: environments are played there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis.film import Film
from gym_gui.analysis.film_folder import write_film
from gym_gui.analysis.reader import Run, open_run
from gym_gui.controllers.apart.playing import play_apart, question_of_job
from gym_gui.controllers.filming import film_of
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment_data import experiment_from_data
from gym_gui.core.trust import Origin
from gym_gui.services.recorded_episode import load_episodes
from gym_gui.services.subprocess_job import answer_job, tell_progress

_ENVIRONMENT: Final = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
LONGEST_FILM_S: Final = 60.0
"""Time for one film."""


async def films_apart(
    run: Run,
    operator_id: str,
    episodes: Sequence[int],
    folder: Path,
    most_bytes: int,
    on_film: Callable[[], None],
) -> None:
    """Play episodes of an operator again and write a file for each film into a folder.

    Args:
        run: The run.
        operator_id: The operator.
        episodes: Their indices.
        folder: Where the films go.
        most_bytes: Room for each of them.
        on_film: Told of every film.

    Raises:
        NotAllowedError: The run names what the person has not allowed.
        UsageError: The environment is not there.
        SubprocessJobError: The environment ended the process, or did not return.
    """
    asked = {
        "run": str(run.path.absolute()),
        "operator": operator_id,
        "episodes": list(episodes),
        "folder": str(folder.absolute()),
        "most_bytes": most_bytes,
    }

    def hear(told: Any) -> None:
        with suppress(TypeError, KeyError):  # what the environment prints may look like progress
            if told["film"] in episodes:
                on_film()

    origin = Origin(str(run.path / "run.json"), str(run.path))
    data = {"operators": [dict(run.operators[operator_id].config)]}
    operators = experiment_from_data(data, complete=False, origin=origin).operators
    await play_apart(__name__, asked, operators, on_told=hear, longest_s=LONGEST_FILM_S)


def _film() -> None:
    asked = question_of_job()
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    run, operator_id = open_run(Path(asked["run"])), asked["operator"]
    for recorded in load_episodes(run, operator_id, set(asked["episodes"])):
        index = recorded.episode.episode_index
        try:
            recorded.require_rows()
            film = film_of(recorded, run.run_id, asked["most_bytes"])
        except MosaicError as error:
            film = Film(run.run_id, operator_id, index, missing=error.message)
        write_film(Path(asked["folder"]), film)
        tell_progress({"film": index})


if __name__ == "__main__":
    answer_job(_film)
