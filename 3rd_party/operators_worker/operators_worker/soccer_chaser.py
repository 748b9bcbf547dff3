"""A player for MosaicMultiGrid soccer (``MosaicMultiGrid-S-…``, mosaic-multigrid 7).

Sees: its own partial view (3 x 3 cells ahead), the compass, and nothing else; it knows the
field's layout and which goal is its own from its slot's name. It does not know where it
stands: it keeps every position that agrees with what it has seen, acts as if the
likeliest were true, and is corrected by walls and goals.

Strategy: carrying the ball, walk into the nearest cell of the other goal (walking in
scores). Facing an opponent with the ball, take it. Seeing the ball, or an opponent with
it, go there. Else, when a team-mate was last seen with the ball, wait before the goal for
the pass; else look where nobody has looked for longest, weighed against the way.

Measured strength, 2v2, 200 matches a side, with a random team-mate against two random
players: green 197 won, 3 drawn, 388 goals to 0; blue 199 won, 1 drawn, 396 to 2 (random
against random: 6 goals in 50 matches). Chaser against chaser, each with a random
team-mate: 107 to 93.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.worker import Batch, LoadError, Slot
from operators_worker.behavior import EpisodicBehavior, require
from operators_worker.soccer_field import (
    AGENT,
    BALL,
    BLUE,
    CARRYING,
    FORWARD,
    GOALS,
    GREEN,
    HEIGHT,
    LEFT,
    NOOP,
    PICKUP,
    RIGHT,
    VECTORS,
    WALL,
    WIDTH,
    Locator,
    Point,
)

_COOLDOWN = 10
"""Steps after a tackle in which neither side may tackle again."""
_LONG = 60.0
"""Steps after which a cell is as interesting as one never seen."""
_TEAMS = {"green": GREEN, "blue": BLUE}
_X, _Y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT), indexing="ij")


@dataclass
class Match:
    """Memory of one episode.

    Attributes:
        team: Colour of the own team.
        goal: Cells of the goal to score in.
        possible: Positions that agree with everything seen, bool (WIDTH, HEIGHT).
        position: The one acted upon.
        unseen: Steps since each cell was seen, at most ``_LONG``; float (WIDTH, HEIGHT).
        target: Where the ball, or an opponent with it, was last seen.
        waypoint: Where to look next.
        wait_until: Step up to which a team-mate is believed to have the ball.
        tackle_from: Step from which a tackle may succeed again.
        tackling: Whether the last action was a tackle.
        carrying: Whether the ball was in hand at the last look.
        blocked: Whether a wall or the ball stood ahead at the last look.
        last: The action played last.
    """

    team: int
    goal: tuple[Point, ...]
    possible: NDArray[np.bool_]
    position: Point = (WIDTH // 2, HEIGHT // 2)
    unseen: NDArray[np.float64] = field(default_factory=lambda: np.full((WIDTH, HEIGHT), _LONG))
    target: Point | None = None
    waypoint: Point | None = None
    wait_until: int = -1
    tackle_from: int = 0
    tackling: bool = False
    carrying: bool = False
    blocked: bool = False
    last: int = NOOP


class SoccerChaser(EpisodicBehavior[Match]):
    """Plays one seat of a MosaicMultiGrid soccer match.

    The side is read from the name of the agent played (``green_0``; or a number, with the
    team sizes of the environment's id); ``settings["team"]`` (``green`` or ``blue``) overrides it.
    """

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        soccer = re.search(r"MosaicMultiGrid-(S|Soccer)-", slot.env_id) is not None
        require(soccer, "soccer_chaser", "a MosaicMultiGrid soccer environment", slot)
        parts = slot.observation_space.spaces
        image = parts.get("image")
        size = image.shape[0] if image is not None and len(image.shape) == 3 else 0
        fits = size % 2 == 1 and image is not None and image.shape == (size, size, 3) and "direction" in parts
        require(fits, "soccer_chaser", "a Dict of image (V, V, 3) with odd V, and direction", slot)
        eight = slot.action_space.kind == "Discrete" and slot.action_space.n == 8
        require(eight, "soccer_chaser", "MosaicMultiGrid's eight actions", slot)
        _team_of(slot, slot.agent_id)
        self._locator = Locator(size)
        self._size = size

    def new_state(self, seed: int, agent_id: str) -> Match:
        team = _team_of(self.slot, agent_id)
        return Match(team, GOALS[GREEN if team == BLUE else BLUE], self._locator.everywhere())

    def act(self, state: Match, batch: Batch, i: int) -> int:
        image, direction = batch.observations["image"][i], int(batch.observations["direction"][i])
        view = image.reshape(-1, 3).tolist()
        self._locate(state, image, direction)
        self._look(state, view, direction, batch.steps[i])
        state.last = self._choose(state, view, direction, batch.steps[i])
        return state.last

    def _locate(self, state: Match, image: NDArray[np.integer], direction: int) -> None:
        """Update where the player may be from its last action and the new view."""
        if state.last == FORWARD and not state.blocked:
            dx, dy = VECTORS[direction]
            state.possible = np.roll(state.possible, (dx, dy), axis=(0, 1))
            state.position = state.position[0] + dx, state.position[1] + dy
        agree = self._locator.agree(image, direction)
        state.possible &= agree
        if not state.possible.any():
            # Another player moved the ball just as we walked; start from what is seen now.
            state.possible = agree & self._locator.everywhere()
        if not state.possible[state.position]:
            self._correct(state)

    @staticmethod
    def _correct(state: Match) -> None:
        """Move to the nearest possible position, and the memory of the field with it."""
        x, y = state.position
        distance = np.where(state.possible, np.abs(_X - x) + np.abs(_Y - y), WIDTH + HEIGHT)
        new = divmod(int(distance.argmin()), HEIGHT)
        dx, dy = new[0] - x, new[1] - y
        moved = np.full_like(state.unseen, _LONG)
        moved[max(dx, 0) : WIDTH + min(dx, 0), max(dy, 0) : HEIGHT + min(dy, 0)] = state.unseen[
            max(-dx, 0) : WIDTH - max(dx, 0), max(-dy, 0) : HEIGHT - max(dy, 0)
        ]
        state.unseen, state.position, state.waypoint = moved, new, None
        if state.target is not None:
            state.target = state.target[0] + dx, state.target[1] + dy

    def _look(self, state: Match, view: list[list[int]], direction: int, step: int) -> None:
        """Note what is seen: ball, players with it, and which cells hold neither."""
        own, front = self._own_cell, self._own_cell - 1
        carrying = view[own][0] == BALL
        if state.carrying and not carrying:
            if state.position in state.goal:
                state.unseen[:] = _LONG  # scored: the new ball may lie anywhere
            else:
                state.tackle_from = step + _COOLDOWN
            state.waypoint = None
        if state.tackling and carrying and not state.carrying:
            state.tackle_from = step + _COOLDOWN
        state.carrying = carrying
        state.blocked = view[front][0] in (WALL, BALL)
        np.minimum(state.unseen + 1.0, _LONG, out=state.unseen)
        x, y = state.position
        for (kind, color, status), (dx, dy) in zip(view, self._locator.offsets[direction], strict=True):
            cell = x + dx, y + dy
            if not kind or not (0 <= cell[0] < WIDTH and 0 <= cell[1] < HEIGHT):
                continue
            state.unseen[cell] = 0.0
            if state.target == cell:
                state.target = None
            if kind == BALL and not (dx == 0 and dy == 0):
                state.target = cell
            elif kind == AGENT and status >= CARRYING:
                if color == state.team:
                    state.wait_until = step + 2 * _COOLDOWN
                else:
                    state.target = cell

    @property
    def _own_cell(self) -> int:
        """Index of the player's own cell in the flattened view; the one ahead comes just before."""
        return (self._size // 2) * self._size + self._size - 1

    def _choose(self, state: Match, view: list[list[int]], direction: int, step: int) -> int:
        kind, color, status = view[self._own_cell - 1]
        opponent = kind == AGENT and status >= CARRYING and color != state.team
        state.tackling = opponent and not state.carrying and step >= state.tackle_from
        if state.carrying:
            x, y = state.position
            goal = min(state.goal, key=lambda cell: abs(cell[0] - x) + abs(cell[1] - y))
            return self._walk(state, goal, direction)
        if kind == BALL or state.tackling:
            return PICKUP
        if state.target is not None:
            return self._walk(state, state.target, direction)
        if step < state.wait_until:
            return self._walk(state, state.goal[1], direction)
        return self._walk(state, self._look_next(state), direction)

    @staticmethod
    def _walk(state: Match, cell: Point, direction: int) -> int:
        """Go straight where that leads nearer, else turn to where it does."""
        dx, dy = cell[0] - state.position[0], cell[1] - state.position[1]
        ahead = [dx * vx + dy * vy for vx, vy in VECTORS]
        if ahead[direction] > 0 and not state.blocked:
            return FORWARD
        return LEFT if ahead[(direction - 1) % 4] > ahead[(direction + 1) % 4] else RIGHT

    @staticmethod
    def _look_next(state: Match) -> Point:
        """The cell whose surroundings are most worth seeing for the way there."""
        if state.waypoint is not None and state.unseen[state.waypoint] > 1.0:
            return state.waypoint
        inside = np.zeros_like(state.unseen)
        inside[1:-1, 1:-1] = state.unseen[1:-1, 1:-1]
        rows = inside[:-2] + inside[1:-1] + inside[2:]
        worth = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
        way = np.abs(_X - state.position[0]) + np.abs(_Y - state.position[1])
        best = int((worth / (way[1:-1, 1:-1] + 3.0)).argmax())
        x, y = divmod(best, HEIGHT - 2)
        state.waypoint = x + 1, y + 1
        return state.waypoint


def _team_of(slot: Slot, agent_id: str) -> int:
    """The colour of the team of ``agent_id``.

    Raises:
        LoadError: When neither the settings nor the names tell.
    """
    word = str(slot.settings.get("team", agent_id.partition("_")[0])).lower()
    if word in _TEAMS:
        return _TEAMS[word]
    number = re.search(r"(\d+)$", agent_id)
    sizes = re.search(r"-(\d+)v(?:s)?(\d+)", slot.env_id)
    if "team" in slot.settings or number is None or sizes is None:
        raise LoadError(f"soccer_chaser cannot tell the team of {agent_id!r}. Set team: green or blue")
    return GREEN if int(number[1]) < int(sizes[1]) else BLUE
