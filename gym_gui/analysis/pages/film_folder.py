"""Stores films (replays for pages) as files, so that only the film in use is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_choice import FilmKey
from mosaic_worker.plain_files import replace_file


class FilmFolder(Mapping[FilmKey, Film]):
    """Films of a report by episode, as a mapping; each access reads the film from its file.

    Args:
        folder: Folder that contains nothing but the films.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[tuple[str, str], Path] = {}

    def place(self, run_id: str, operator_id: str) -> Path:
        """Return the folder for films of one operator, which is created at the first call.

        The folder's name is a number, because an operator's name may contain any characters.

        Raises:
            OSError: The folder cannot be created.
        """
        key = run_id, operator_id
        if key not in self._places:
            place = self._folder / str(len(self._places))
            place.mkdir(parents=True)
            self._places[key] = place
        return self._places[key]

    def add(self, film: Film) -> None:
        """Write a film into its operator's folder.

        Raises:
            OSError: The film cannot be written.
        """
        write_film(self.place(film.run_id, film.operator_id), film)

    def __getitem__(self, key: FilmKey) -> Film:
        """Read a film; raise KeyError if there is none."""
        run_id, operator_id, index = key
        place = self._places.get((run_id, operator_id))
        try:
            if place is None:
                raise KeyError(key)
            return msgspec.json.decode(_file(place, index).read_bytes(), type=Film)
        except FileNotFoundError:
            raise KeyError(key) from None

    def __contains__(self, key: object) -> bool:
        match key:
            case (str(run_id), str(operator_id), int(index)):
                place = self._places.get((run_id, operator_id))
                return place is not None and _file(place, index).exists()
            case _:
                return False

    def __iter__(self) -> Iterator[FilmKey]:
        for (run_id, operator_id), place in self._places.items():
            for index in sorted(int(file.stem) for file in place.glob("*.json")):
                yield run_id, operator_id, index

    def __len__(self) -> int:
        return sum(1 for _ in self)


def write_film(place: Path, film: Film) -> None:
    """Write a film into the folder of its operator, completely or not at all.

    Raises:
        OSError: The film cannot be written.
    """
    replace_file(_file(place, film.episode_index), msgspec.json.encode(film), sync=False)


def _file(place: Path, index: int) -> Path:
    return place / f"{index}.json"
