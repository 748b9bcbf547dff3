"""Makes films for web pages from replayed episodes."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gym_gui.analysis.pages.film import Film, FilmFrame, LatestAction, Patch
from gym_gui.controllers.replays.replay_reel import StoredState
from gym_gui.controllers.replays.replay_session import EpisodeReplay, Picture, ReplayFrame, ReplayOrder
from gym_gui.controllers.replays.replay_track import ReplayTrack
from gym_gui.core.drawing.packed_picture import PackedPicture, pack, unpack
from gym_gui.core.enums import ActionSource
from gym_gui.services.runs.recorded_episode import RecordedEpisode

MOST_FRAMES = 400
"""Most frames of a film; every other frame of a longer film is dropped, repeatedly if necessary."""
_FRUGAL = ((640, 1), (480, 1), (480, 2), (320, 2), (320, 4), (240, 4), (240, 8), (160, 16), (160, 32))
"""Pairs (longer side in pixels, stride over the kept frames), tried in turn until a film is small enough."""
_LONGEST_TEXT = 4000
_USUAL = (ActionSource.POLICY, ActionSource.HUMAN)


@dataclass
class _Kept:
    """State of the replay that may become a frame of the film."""

    look: StoredState
    picture: PackedPicture | None
    last: bool = False


OnLook = Callable[[int], None]
"""Callback that gets the environment step of each state that is played or drawn."""


def film_of(
    recorded: RecordedEpisode, run_id: str, most_bytes: int, on_look: OnLook = lambda _step: None
) -> Film:
    """Replay a recorded episode and make a film of it.

    Args:
        recorded: The episode.
        run_id: Id of the run.
        most_bytes: Largest size of the film in bytes. The film gets fewer and smaller frames until it fits.
        on_look: Called when a position is played, and each time it is drawn into the film.

    Returns:
        The film; if it does not fit, a film without frames whose ``missing`` gives the reason.

    Raises:
        MosaicError: The episode cannot be played.
    """
    replay, moves = EpisodeReplay(ReplayOrder.of(recorded)), list[str]()
    replay.open()
    try:
        kept, every = _thinned(_noted(replay.frames(), moves, on_look))
    finally:
        replay.close()
    track = ReplayTrack(recorded)
    track.moves = moves
    film = Film(run_id, recorded.operator_id, recorded.episode.episode_index)
    for longest, stride in _FRUGAL:
        cut = _Cutter(replay, track, kept, on_look).film(film, longest, stride)
        if len(msgspec.json.encode(cut)) <= most_bytes:
            return msgspec.structs.replace(cut, every=stride * every)
    return msgspec.structs.replace(film, missing="its replay is too large for this page")


def _noted(frames: Iterator[ReplayFrame], moves: list[str], on_look: OnLook) -> Iterator[ReplayFrame]:
    """Yield the frames unchanged, and append their moves in the game's own notation to ``moves``."""
    for frame in frames:
        on_look(frame.step)
        moves += frame.moves
        yield frame


def _thinned(frames: Iterator[ReplayFrame]) -> tuple[list[_Kept], int]:
    """Return evenly spaced states of the replay and the last state, with the stride between them."""
    kept: list[_Kept] = []
    every = 1
    final: tuple[StoredState, Picture | None] | None = None
    for frame in frames:
        final = StoredState.of(frame), frame.picture
        if frame.position % every:
            continue
        kept.append(_Kept(StoredState.of(frame), _packed(frame.picture)))
        if len(kept) > MOST_FRAMES:
            kept, every = kept[::2], every * 2
    if final is not None and final[0].position != kept[-1].look.position:
        kept.append(_Kept(final[0], _packed(final[1])))
    kept[-1].last = True
    return kept, every


def _packed(picture: Picture | None) -> PackedPicture | None:
    return None if picture is None else pack(fitted(picture, LARGEST))


class _Cutter:
    """Assembles one film from the states of a replay."""

    def __init__(
        self, replay: EpisodeReplay, track: ReplayTrack, kept: Sequence[_Kept], on_look: OnLook
    ) -> None:
        self._replay, self._track, self._kept, self._on_look = replay, track, kept, on_look
        self._words: dict[str, int] = {}
        self._maker = PatchMaker()
        self._size = (0, 0)
        self._agents = {agent: i for i, agent in enumerate(track.agents)}
        scored = next((k.look.scores for k in kept if k.look.scores), None)
        self._teams: tuple[str, ...] = tuple(scored) if scored is not None else ()

    def film(self, empty: Film, longest: int, stride: int) -> Film:
        """Return the film of every ``stride``-th state, with pictures of at most ``longest`` pixels."""
        looks = [k for i, k in enumerate(self._kept) if i % stride == 0 or k.last]
        frames: list[FilmFrame] = []
        rows = 0
        for kept in looks:
            self._on_look(kept.look.step)
            frames.append(self._frame(kept, rows, longest))
            rows = kept.look.rows
        board = next((k.look.board for k in looks if k.look.board is not None), None)
        return msgspec.structs.replace(
            empty,
            width=self._size[1],
            height=self._size[0],
            pictures=tuple(self._maker.pictures),
            frames=tuple(frames),
            agents=tuple(self._agents),
            words=tuple(self._words),
            teams=self._teams,
            board=(board.kind, board.rows, board.columns) if board is not None else ("", 0, 0),
            departs=self._replay.departs,
        )

    def _frame(self, kept: _Kept, rows: int, longest: int) -> FilmFrame:
        look = kept.look
        acts = self._acts(rows, look.rows)
        scores = tuple(float((look.scores or {}).get(team, 0.0)) for team in self._teams)
        board, text, last = -1, -1, ()
        patches = ()
        if look.board is not None:
            # The page draws boards itself: sharp at any size, and a hundredth of a picture's bytes.
            board = self._word(",".join(look.board.cells))
            last = tuple(row * look.board.columns + column for row, column in look.board.last)
        elif kept.picture is not None:
            picture = fitted(unpack(kept.picture), longest)
            self._size = picture.shape[:2] if self._size == (0, 0) else self._size
            patches = self._maker.add(picture)
        elif look.text:
            text = self._word(look.text[:_LONGEST_TEXT])
        return FilmFrame(look.step, patches, acts, board, last, text, scores)

    def _acts(self, before: int, rows: int) -> tuple[LatestAction, ...]:
        """Return each agent's last action since the previous frame."""
        latest = {self._track.steps[i].agent_id: i for i in range(before, min(rows, len(self._track.steps)))}
        found: list[LatestAction] = []
        for agent, i in latest.items():
            step = self._track.steps[i]
            word = self._track.words(step, self._replay.meanings)
            source = -1 if step.action_source in _USUAL else self._word(str(step.action_source))
            total = self._track.total(agent, rows)
            reward = step.reward or 0.0
            found.append(
                LatestAction(self._agents[agent], self._word(word), _finite(reward), _finite(total), source)
            )
        return tuple(found)

    def _word(self, word: str) -> int:
        return self._words.setdefault(word, len(self._words))


def _finite(value: float) -> float:
    return round(value, 4) if math.isfinite(value) else 0.0


# -- pictures made small: what has changed, as WebP ----------------------------------------


Pixels = NDArray[np.uint8]

LARGEST = 640
"""Most pixels of a film picture's longer side; larger pictures are scaled down before they are kept."""
_BLOCK = 16
"""Side in pixels of the squares that are compared to find changes between pictures."""
_MOST_PATCHES = 12
"""Most patches of one picture; with more changed areas, a single patch covers all of them."""
_WHOLE = 0.6
"""Fraction of the picture; if a patch covers more than this, the whole picture is stored."""
_QUALITY = 72


def fitted(picture: Pixels, longest: int = LARGEST) -> Pixels:
    """Return a picture whose longer side is at most ``longest`` pixels; a smaller picture is not scaled."""
    height, width = picture.shape[:2]
    if max(height, width) <= longest:
        return np.ascontiguousarray(picture)
    factor = longest / max(height, width)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    # For scaling down, as sharp as a cubic filter, in a third of Lanczos's time.
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.HAMMING), np.uint8)


class PatchMaker:
    """Reduces successive film pictures to the patches that changed, and stores each distinct patch once.

    Attributes:
        pictures: Stored patches as WebP in base64, by number.
        size: Total length of the stored patches in characters.
    """

    def __init__(self) -> None:
        self.pictures: list[str] = []
        self.size = 0
        self._numbers: dict[bytes, int] = {}
        self._shown: Pixels | None = None
        self._lossless: bool | None = None

    def add(self, picture: Pixels) -> tuple[Patch, ...]:
        """Return the patches that turn the previous picture into this picture."""
        shown, self._shown = self._shown, picture
        if shown is None or shown.shape != picture.shape:
            return (Patch(self._number(picture), 0, 0, True),)
        found: list[Patch] = []
        for top, bottom, left, right in _changes(shown, picture):
            if (bottom - top) * (right - left) > _WHOLE * picture.shape[0] * picture.shape[1]:
                return (Patch(self._number(picture), 0, 0, True),)
            found.append(Patch(self._number(picture[top:bottom, left:right]), left, top, False))
        return tuple(found)

    def _number(self, part: Pixels) -> int:
        key = part.shape[0].to_bytes(4) + part.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.pictures)
            written = base64.b64encode(self._webp(part)).decode()
            self.pictures.append(written)
            self.size += len(written) + 3
        return number

    def _webp(self, part: Pixels) -> bytes:
        """Encode a picture as WebP; the first picture decides whether encoding is lossless.

        Without loss, pictures with flat colors are smaller and sharp.
        """
        if self._lossless is None:
            exact, rough = _encoded(part, lossless=True), _encoded(part, lossless=False)
            self._lossless = len(exact) <= 2 * len(rough)
            return exact if self._lossless else rough
        return _encoded(part, lossless=self._lossless)


def _encoded(part: Pixels, *, lossless: bool) -> bytes:
    with io.BytesIO() as file:
        image = Image.fromarray(np.ascontiguousarray(part))
        image.save(file, "WEBP", lossless=lossless, quality=_QUALITY, method=4)
        return file.getvalue()


def _changes(before: Pixels, after: Pixels) -> Iterator[tuple[int, int, int, int]]:
    """Yield rectangles (top, bottom, left, right) that together cover all changed pixels."""
    # NumPy is slow along short axes, so the color axis here and the columns below are combined by hand.
    channels = before != after
    differs: NDArray[np.bool_] = np.logical_or.reduce([channels[:, :, c] for c in range(channels.shape[2])])
    if not differs.any():
        return
    height, width = before.shape[:2]
    rows, columns = -(-height // _BLOCK), -(-width // _BLOCK)
    padded = np.zeros((rows * _BLOCK, columns * _BLOCK), bool)
    padded[:height, :width] = differs
    blocks = padded.reshape(rows, _BLOCK, -1).any(axis=1).reshape(rows, columns, _BLOCK).any(axis=2)
    areas = _areas(np.asarray(blocks))
    for upper, lower, first, last in areas if len(areas) <= _MOST_PATCHES else [(0, rows, 0, columns)]:
        top, left = upper * _BLOCK, first * _BLOCK
        part = differs[top : lower * _BLOCK, left : last * _BLOCK]
        lines, points = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
        yield top + int(lines[0]), top + int(lines[-1]) + 1, left + int(points[0]), left + int(points[-1]) + 1


def _areas(blocks: NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """Return the rectangle (top, bottom, left, right) around each group of neighboring set cells."""
    left_over = {(int(row), int(column)) for row, column in zip(*np.nonzero(blocks), strict=True)}
    found: list[tuple[int, int, int, int]] = []
    while left_over:
        group = [left_over.pop()]
        for row, column in group:  # grows
            near = {(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)} & left_over
            left_over -= near
            group += near
        rows, columns = [row for row, _ in group], [column for _, column in group]
        found.append((min(rows), max(rows) + 1, min(columns), max(columns) + 1))
    return sorted(found)
