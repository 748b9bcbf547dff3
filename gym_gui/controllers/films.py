"""Has the films of a report made, in processes of their own."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from gym_gui.analysis.film import Film
from gym_gui.analysis.reader import Run
from gym_gui.analysis.scenes import FilmKey, chosen, scenes_of
from gym_gui.analysis.summary import Summary
from gym_gui.controllers.resolved_operator import vouch
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment_data import experiment_from_data
from gym_gui.core.trust import Origin
from gym_gui.services.subprocess_job import run_subprocess_job

ROOM = 4_000_000
"""Bytes that all films of a page may take."""
MOST_OF_ONE = 800_000
_PATIENCE_S = 60.0
"""Longest time for one film of an operator, over all of its films."""
_AT_ONCE = 4

OnFilm = Callable[[int, int], None]
"""Told how many films are made, of how many."""


async def make_films(
    runs: Sequence[Run], summary: Summary, on_film: OnFilm | None = None, *, room: int = ROOM
) -> dict[FilmKey, Film]:
    """Play the episodes that a report shows again; cancelling ends what was started for it.

    Nothing of it can fail the report: a film that cannot be made says why.

    Args:
        runs: The runs of the report.
        summary: What it says.
        on_film: Told of every film that is made.
        room: Bytes for all films.
    """
    scenes = chosen(scenes_of(summary))
    if not scenes:
        return {}
    work = _Work(len(scenes), min(room // len(scenes), MOST_OF_ONE), on_film)
    episodes: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for scene in scenes:
        episodes[scene.operator.run_id, scene.operator.operator_id].append(scene.episode_index)
    by_id = {run.run_id: run for run in runs}
    if on_film is not None:
        on_film(0, len(scenes))
    found = await asyncio.gather(*(work.films(by_id[run], o, which) for (run, o), which in episodes.items()))
    return {film.key: film for films in found for film in films}


class _Work:
    """What all operators' films share."""

    def __init__(self, total: int, most_bytes: int, on_film: OnFilm | None) -> None:
        self._total, self._most_bytes, self._on_film = total, most_bytes, on_film
        self._done = 0
        self._free = asyncio.Semaphore(max(1, min(_AT_ONCE, os.cpu_count() or 1)))

    async def films(self, run: Run, operator_id: str, episodes: Sequence[int]) -> list[Film]:
        """Films of one operator's episodes, made in one process."""
        where = f"{operator_id} of run {run.run_id}"
        async with self._free:
            try:
                _see_allowed(run, run.operators[operator_id].config)
                async with asyncio.timeout(_PATIENCE_S * len(episodes)):
                    done = await run_subprocess_job(
                        "gym_gui.controllers.filming",
                        *(str(run.path.absolute()), operator_id, str(self._most_bytes), *map(str, episodes)),
                        on_progress=self._count,
                    )
                if done.status:
                    raise MosaicError(done.complaint or f"the films of {where} cannot be made")
                return [msgspec.json.decode(line, type=Film) for line in done.output.splitlines()]
            except TimeoutError:
                missing = "playing it again took too long"
            except (MosaicError, msgspec.MsgspecError) as error:
                missing = str(error)
        return [Film(run.run_id, operator_id, index, missing=missing) for index in episodes]

    def _count(self, _progress: object) -> None:
        self._done += 1
        if self._on_film is not None:
            self._on_film(self._done, self._total)


def _see_allowed(run: Run, config: Mapping[str, object]) -> None:
    """Allow, or refuse here, where it can be said why, what the process is to import.

    Raises:
        NotAllowedError: The run names what the person has not allowed.
    """
    origin = Origin(str(run.path / "run.json"), str(run.path))
    data = {"operators": [dict(config)]}
    vouch(experiment_from_data(data, complete=False, origin=origin).operators[0], env_only=True)
