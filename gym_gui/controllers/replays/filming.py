"""Plays recorded episodes again and makes films of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from gym_gui.analysis.pages.film import Act, Film, FilmFrame
from gym_gui.controllers.replays.film_pictures import LARGEST, PatchMaker, fitted
from gym_gui.controllers.replays.replay_reel import Look
from gym_gui.controllers.replays.replay_session import EpisodeReplay, Picture, ReplayFrame, ReplayOrder
from gym_gui.controllers.replays.replay_track import ReplayTrack
from gym_gui.core.drawing.packed_picture import PackedPicture, pack, unpack
from gym_gui.core.enums import ActionSource
from gym_gui.services.runs.recorded_episode import RecordedEpisode

MOST_FRAMES = 400
"""Of one film; of a longer episode every other look is left out, as often as it takes."""
_FRUGAL = ((480, 1), (480, 2), (320, 2), (320, 4), (240, 4), (240, 8), (160, 16), (160, 32))
"""Longer side in pixels, and every how many-th kept look: tried in turn until a film is small enough."""
_LONGEST_TEXT = 4000
_USUAL = (ActionSource.POLICY, ActionSource.HUMAN)


@dataclass
class _Kept:
    """A look that may become a frame."""

    look: Look
    picture: PackedPicture | None
    last: bool = False


OnLook = Callable[[int], None]
"""Told the environment's step of a look."""


def film_of(
    recorded: RecordedEpisode, run_id: str, most_bytes: int, on_look: OnLook = lambda _step: None
) -> Film:
    """Play an episode again and make a film of it.

    Args:
        recorded: The episode.
        run_id: Its run.
        most_bytes: Room that the film may take in a page; it is thinned and made smaller until it fits.
        on_look: Called when a look is played, and each time it is drawn into the film.

    Raises:
        MosaicError: It cannot be played.
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
    """The frames; what was played is written down meanwhile, in the game's own notation."""
    for frame in frames:
        on_look(frame.step)
        moves += frame.moves
        yield frame


def _thinned(frames: Iterator[ReplayFrame]) -> tuple[list[_Kept], int]:
    """Evenly spaced looks and the last one; every how many-th they are."""
    kept: list[_Kept] = []
    every = 1
    final: tuple[Look, Picture | None] | None = None
    for frame in frames:
        final = Look.of(frame), frame.picture
        if frame.position % every:
            continue
        kept.append(_Kept(Look.of(frame), _packed(frame.picture)))
        if len(kept) > MOST_FRAMES:
            kept, every = kept[::2], every * 2
    if final is not None and final[0].position != kept[-1].look.position:
        kept.append(_Kept(final[0], _packed(final[1])))
    kept[-1].last = True
    return kept, every


def _packed(picture: Picture | None) -> PackedPicture | None:
    return None if picture is None else pack(fitted(picture, LARGEST))


class _Cutter:
    """Puts one film together."""

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
        """Of every so many-th look, with pictures of at most so many pixels."""
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
            # A board is drawn by the page: sharp in any size, and a hundredth of a picture.
            board = self._word(",".join(look.board.cells))
            last = tuple(row * look.board.columns + column for row, column in look.board.last)
        elif kept.picture is not None:
            picture = fitted(unpack(kept.picture), longest)
            self._size = picture.shape[:2] if self._size == (0, 0) else self._size
            patches = self._maker.add(picture)
        elif look.text:
            text = self._word(look.text[:_LONGEST_TEXT])
        return FilmFrame(look.step, patches, acts, board, last, text, scores)

    def _acts(self, before: int, rows: int) -> tuple[Act, ...]:
        """The last act of each agent since the look before."""
        latest = {self._track.steps[i].agent_id: i for i in range(before, min(rows, len(self._track.steps)))}
        found: list[Act] = []
        for agent, i in latest.items():
            step = self._track.steps[i]
            word = self._track.words(step, self._replay.meanings)
            source = -1 if step.action_source in _USUAL else self._word(str(step.action_source))
            total = self._track.total(agent, rows)
            reward = step.reward or 0.0
            found.append(Act(self._agents[agent], self._word(word), _finite(reward), _finite(total), source))
        return tuple(found)

    def _word(self, word: str) -> int:
        return self._words.setdefault(word, len(self._words))


def _finite(value: float) -> float:
    return round(value, 4) if math.isfinite(value) else 0.0
