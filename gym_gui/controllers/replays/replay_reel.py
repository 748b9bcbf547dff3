"""Stores the positions of a replayed episode with their pictures, so that any of them can be shown at once.

Pictures are compressed and stored in an unnamed temporary file. So they use none of the program's memory, and
the operating system frees the disk space however the program ends.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from gym_gui.controllers.replays.replay_session import Picture, ReplayFrame
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.drawing.packed_picture import PackedPicture, unpack
from gym_gui.core.live import Board

ROOM = 512 << 20
"""Bytes for an episode's compressed pictures; when they need more, every other picture is dropped."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """State of a replay at one position, without its picture, which :class:`ReplayStore` reads from a file.

    Attributes:
        position: As in :class:`~gym_gui.controllers.replays.replay_session.ReplayFrame`.
        step: As in ``ReplayFrame``.
        rows: As in ``ReplayFrame``.
        board: As in ``ReplayFrame``.
        text: As in ``ReplayFrame``.
        scores: As in ``ReplayFrame``.
        result: As in ``ReplayFrame``.
        observed: As in ``ReplayFrame``, but without its picture, which is stored as the position's own.
    """

    position: int
    step: int
    rows: int
    board: Board | None = None
    text: str = ""
    scores: Mapping[str, float] | None = None
    result: str = ""
    observed: AgentObservation | None = None

    @classmethod
    def of(cls, frame: ReplayFrame) -> StoredState:
        """Return a frame's state without its picture and its observation."""
        return cls(
            frame.position, frame.step, frame.rows, frame.board, frame.text, frame.scores, frame.result
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Location of a picture in the reel's file."""

    position: int
    start: int
    size: int
    height: int
    width: int


class ReplayStore:
    """All positions of one replayed episode, in order, with their pictures.

    Args:
        folder: Folder for the file of pictures; by default the system's temporary folder.
        room: Bytes that the pictures may take.

    Attributes:
        looks: State at each position so far.
    """

    def __init__(self, folder: Path | None = None, *, room: int = ROOM) -> None:
        self.states: list[StoredState] = []
        self._folder, self._room = folder, room
        self._file = self._new_file()
        self._end = 0
        self._places: list[_Place] = []
        self._stride = 1
        self._last: PackedPicture | None = None

    def __len__(self) -> int:
        return len(self.states)

    def add(self, look: StoredState, picture: PackedPicture | None) -> None:
        """Append the next position with its picture."""
        self.states.append(look)
        if picture is None or look.position % self._stride:
            return
        if self._places and picture == self._last:
            # The picture is unchanged: refer to the same bytes.
            self._places.append(replace(self._places[-1], position=look.position))
            return
        self._last = picture
        self._places.append(self._write(look.position, picture))
        while self._end > self._room and len(self._places) > 2:
            self._thin()

    def picture(self, position: int) -> Picture | None:
        """Return the picture at a position or, if it was dropped, the nearest earlier picture."""
        at = bisect_right(self._places, position, key=lambda place: place.position) - 1
        if at < 0:
            return None
        place = self._places[at]
        return unpack(PackedPicture(self._read_picture(place), place.height, place.width))

    def shown(self, position: int) -> int | None:
        """Return the position of the picture that :meth:`picture` returns."""
        at = bisect_right(self._places, position, key=lambda place: place.position) - 1
        return self._places[at].position if at >= 0 else None

    def close(self) -> None:
        """Close and thereby delete the file of pictures."""
        self._file.close()

    def _new_file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(prefix="mosaic-replay-", dir=self._folder)

    def _write(self, position: int, picture: PackedPicture) -> _Place:
        start = self._end
        self._file.seek(start)
        self._file.write(picture.pixels)
        self._end = start + len(picture.pixels)
        return _Place(position, start, len(picture.pixels), picture.height, picture.width)

    def _read_picture(self, place: _Place) -> bytes:
        self._file.seek(place.start)
        return self._file.read(place.size)

    def _thin(self) -> None:
        """Drop every other stored picture, and store only half as many from now on."""
        self._stride *= 2
        kept = [place for place in self._places if place.position % self._stride == 0]
        old, self._file, self._end = self._file, self._new_file(), 0
        self._places, self._last = [], None
        moved: dict[int, _Place] = {}
        for place in kept:
            if place.start not in moved:
                old.seek(place.start)
                packed = PackedPicture(old.read(place.size), place.height, place.width)
                moved[place.start] = self._write(place.position, packed)
            self._places.append(replace(moved[place.start], position=place.position))
        old.close()
