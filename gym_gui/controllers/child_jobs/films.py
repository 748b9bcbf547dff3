"""Has the films of a report made, in processes of their own."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_choice import FilmKey, chosen, scenes_of
from gym_gui.analysis.pages.film_folder import FilmFolder
from gym_gui.analysis.records.reader import Run
from gym_gui.controllers.child_jobs.filming import LONGEST_FILM_S, films_apart
from gym_gui.core.errors import MosaicError

ROOM = 4_000_000
"""Bytes that all films of a page may take."""
MOST_OF_ONE = 800_000
_AT_ONCE = 4
_OF_A_PROCESS = 50
"""Films that one process makes; starting it takes as long as a few of them."""

OnFilm = Callable[[int, int], None]
"""Told how many films are made, of how many."""


@dataclass(frozen=True)
class FilmOrder:
    """Which episodes are to be played again.

    Attributes:
        episodes: By run and operator.
        most_bytes: Room for each film.
    """

    episodes: Mapping[tuple[str, str], Sequence[int]]
    most_bytes: int

    @classmethod
    def some(cls, summary: Summary, room: int = ROOM) -> FilmOrder:
        """Those that are worth showing, as many as there is room for."""
        scenes = chosen(scenes_of(summary))
        episodes: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for scene in scenes:
            episodes[scene.operator.run_id, scene.operator.operator_id].append(scene.episode_index)
        return cls(episodes, min(room // max(len(scenes), 1), MOST_OF_ONE))

    @classmethod
    def every(cls, runs: Sequence[Run]) -> FilmOrder:
        """All there are.

        Raises:
            RunFormatError: A row is damaged.
        """
        found = {
            (run.run_id, operator.operator_id): [episode.episode_index for episode in operator.episodes()]
            for run in runs
            for operator in run.operators.values()
        }
        return cls(found, MOST_OF_ONE)

    def __iter__(self) -> Iterator[FilmKey]:
        """Every episode of it."""
        for (run_id, operator_id), episodes in self.episodes.items():
            yield from ((run_id, operator_id, index) for index in episodes)

    def __len__(self) -> int:
        """How many films that makes."""
        return sum(map(len, self.episodes.values()))


async def make_films(
    runs: Sequence[Run], order: FilmOrder, films: FilmFolder, on_film: OnFilm | None = None
) -> None:
    """Play episodes again and make films of them; cancelling ends what was started for it.

    Nothing of it can fail the report: a film that cannot be made says why. Those that were made when it is
    cancelled stay.

    Args:
        runs: The runs of the report.
        order: Which.
        films: Where they go.
        on_film: Told of every film that is made.
    """
    if not len(order):
        return
    work = _Work(order, films, on_film)
    by_id = {run.run_id: run for run in runs}
    if on_film is not None:
        on_film(0, len(order))
    parts = [
        asyncio.ensure_future(work.films(by_id[run], operator, part))
        for (run, operator), episodes in order.episodes.items()
        for part in (episodes[i : i + _OF_A_PROCESS] for i in range(0, len(episodes), _OF_A_PROCESS))
    ]
    try:
        await asyncio.gather(*parts)
    finally:
        # It returns with the first that is cancelled; others still end their processes.
        for part in parts:
            part.cancel()
        await asyncio.wait(parts)


class _Work:
    """What all operators' films share."""

    def __init__(self, order: FilmOrder, films: FilmFolder, on_film: OnFilm | None) -> None:
        self._order, self._films, self._on_film = order, films, on_film
        self._total, self._done = len(order), 0
        self._free = asyncio.Semaphore(max(1, min(_AT_ONCE, os.cpu_count() or 1)))

    async def films(self, run: Run, operator_id: str, episodes: Sequence[int]) -> None:
        """Films of some of an operator's episodes, made in one process."""
        missing = "it is not on record"
        async with self._free:
            try:
                async with asyncio.timeout(LONGEST_FILM_S * len(episodes)):
                    folder = self._films.place(run.run_id, operator_id)
                    await films_apart(run, operator_id, episodes, folder, self._order.most_bytes, self._count)
            except TimeoutError:
                missing = "playing it again took too long"
            except MosaicError as error:
                missing = str(error)
        for index in episodes:
            if (run.run_id, operator_id, index) not in self._films:
                self._films.add(Film(run.run_id, operator_id, index, missing=missing))

    def _count(self) -> None:
        self._done += 1
        if self._on_film is not None:
            self._on_film(self._done, self._total)
