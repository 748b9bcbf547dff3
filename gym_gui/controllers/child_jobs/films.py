"""Makes the films of a report's episodes in several child processes."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_choice import FilmKey, Showable, chosen
from gym_gui.analysis.pages.film_folder import FilmFolder
from gym_gui.analysis.records.reader import Run
from gym_gui.controllers.child_jobs.filming import LONGEST_FILM_S, write_films_in_child
from gym_gui.core.errors import MosaicError

ROOM = 4_000_000
"""Bytes that all films of a report page may take together."""
MOST_OF_ONE = 800_000
_AT_ONCE = 4
_OF_A_PROCESS = 50
"""Most films that one child process makes; starting a process takes as long as a few films."""

OnFilm = Callable[[int, int], None]
"""Callback that gets the number of finished films and the total number."""


@dataclass(frozen=True)
class FilmOrder:
    """Selection of the recorded episodes from which films are made.

    Attributes:
        episodes: Episode indices by run and operator.
        most_bytes: Largest size of each film in bytes.
    """

    episodes: Mapping[tuple[str, str], Sequence[int]]
    most_bytes: int

    @classmethod
    def some(cls, showable: Sequence[Showable], room: int = ROOM) -> FilmOrder:
        """Return an order for the episodes that a report selects from those that it may show.

        Their films share ``room`` bytes equally.
        """
        shown = chosen(showable)
        episodes: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for run_id, operator_id, index in (each.key for each in shown):
            episodes[run_id, operator_id].append(index)
        return cls(episodes, min(room // max(len(shown), 1), MOST_OF_ONE))

    @classmethod
    def every(cls, runs: Sequence[Run]) -> FilmOrder:
        """Return an order for films of all recorded episodes of the runs.

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
        """Yield the key (run, operator, episode index) of every ordered film."""
        for (run_id, operator_id), episodes in self.episodes.items():
            yield from ((run_id, operator_id, index) for index in episodes)

    def __len__(self) -> int:
        """Return the number of ordered films."""
        return sum(map(len, self.episodes.values()))


async def make_films(
    runs: Sequence[Run], order: FilmOrder, films: FilmFolder, on_film: OnFilm | None = None
) -> None:
    """Play recorded episodes again in child processes and make films of them; canceling ends the processes.

    A film that cannot be made is replaced by its reason, so that the report never fails. Finished films stay
    after a cancellation.

    Args:
        runs: The runs of the report.
        order: The episodes.
        films: Folder for the films.
        on_film: Called after every film.
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
        # ``gather`` returns with the first canceled part, while others are still ending their processes.
        for part in parts:
            part.cancel()
        await asyncio.wait(parts)


class _Work:
    """Makes films of all operators; holds their shared progress and the limit on parallel processes."""

    def __init__(self, order: FilmOrder, films: FilmFolder, on_film: OnFilm | None) -> None:
        self._order, self._films, self._on_film = order, films, on_film
        self._total, self._done = len(order), 0
        self._free = asyncio.Semaphore(max(1, min(_AT_ONCE, os.cpu_count() or 1)))

    async def films(self, run: Run, operator_id: str, episodes: Sequence[int]) -> None:
        """Make films of some of an operator's episodes in one child process.

        Store the reason for each that is missing.
        """
        missing = "it is not on record"
        async with self._free:
            try:
                async with asyncio.timeout(LONGEST_FILM_S * len(episodes)):
                    folder = self._films.place(run.run_id, operator_id)
                    await write_films_in_child(
                        run, operator_id, episodes, folder, self._order.most_bytes, self._count
                    )
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
