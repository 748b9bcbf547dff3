"""Looks at a replayed episode, kept so that going back to any of them is instant.

Pictures are compressed and lie in a file without a name, so that they take neither the
program's memory nor, once it ended in whatever way, the disk.
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
"""Bytes that an episode's compressed pictures may take; beyond it every other one goes."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is known of one position; the picture is read when it is asked for.

    Attributes:
        position: As in :class:`~gym_gui.controllers.replays.replay_session.ReplayFrame`.
        step: The same.
        rows: The same.
        board: The same.
        text: The same.
        scores: The same.
        result: The same.
        observed: The same, without its picture: that is the look's own.
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
    def of(cls, frame: ReplayFrame) -> Look:
        """A frame without its picture."""
        return cls(
            frame.position, frame.step, frame.rows, frame.board, frame.text, frame.scores, frame.result
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a picture lies in the file."""

    position: int
    start: int
    size: int
    height: int
    width: int


class Reel:
    """The looks of one episode, in order.

    Args:
        folder: Where the file of pictures is made; the system's temporary folder by default.
        room: Bytes the pictures may take.

    Attributes:
        looks: One per position so far.
    """

    def __init__(self, folder: Path | None = None, *, room: int = ROOM) -> None:
        self.looks: list[Look] = []
        self._folder, self._room = folder, room
        self._file = self._new_file()
        self._end = 0
        self._places: list[_Place] = []
        self._stride = 1
        self._last: PackedPicture | None = None

    def __len__(self) -> int:
        return len(self.looks)

    def add(self, look: Look, picture: PackedPicture | None) -> None:
        """Append the next position."""
        self.looks.append(look)
        if picture is None or look.position % self._stride:
            return
        if self._places and picture == self._last:
            # Nothing moved: the same bytes are shown again.
            self._places.append(replace(self._places[-1], position=look.position))
            return
        self._last = picture
        self._places.append(self._write(look.position, picture))
        while self._end > self._room and len(self._places) > 2:
            self._thin()

    def picture(self, position: int) -> Picture | None:
        """The picture at a position, or where it was not kept, the nearest one before it."""
        at = bisect_right(self._places, position, key=lambda place: place.position) - 1
        if at < 0:
            return None
        place = self._places[at]
        return unpack(PackedPicture(self._read_picture(place), place.height, place.width))

    def shown(self, position: int) -> int | None:
        """The position whose picture :meth:`picture` gives."""
        at = bisect_right(self._places, position, key=lambda place: place.position) - 1
        return self._places[at].position if at >= 0 else None

    def close(self) -> None:
        """Let the file go."""
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
        """Keep every other picture, from now on too."""
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
