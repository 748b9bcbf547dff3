"""Base class of MosaicMultiGrid soccer players: estimates the position, keeps a memory and defines moves.

A player gets only its own partial view (3 x 3 cells ahead) and its direction. It knows the layout of the
field, and its own goal from its slot's name. It does not know its position: it stores every position that
agrees with its observations, acts as if one of them were true, and corrects this at walls and goals.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, LoadError, Slot
from operators_worker.behavior import EpisodicBehavior, require
from operators_worker.soccer_field import (
    AGENT,
    BALL,
    BLUE,
    CARRYING,
    DROP,
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
"""Steps after which a seen cell is as interesting as an unseen one."""
_TEAMS = {"green": GREEN, "blue": BLUE}
_X, _Y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT), indexing="ij")


@dataclass
class Match:
    """Memory of one episode.

    Attributes:
        team: Color of the own team.
        goal: Cells of the goal to score in.
        own_goal: Cells of the goal to guard.
        possible: Positions that agree with everything seen, bool (WIDTH, HEIGHT).
        position: Position that the player assumes.
        unseen: Steps since each cell was seen, at most ``_LONG``; float (WIDTH, HEIGHT).
        target: Last seen position of the ball or of an opponent with the ball.
        waypoint: Cell to look at next.
        wait_until: Step up to which a team-mate is believed to have the ball.
        tackle_from: Step from which a tackle may succeed again.
        tackling: Whether the last action was a tackle.
        carrying: Whether the player had the ball at the last observation.
        blocked: Whether a wall or the ball was ahead at the last observation.
        last: The last action.
    """

    team: int
    goal: tuple[Point, ...]
    own_goal: tuple[Point, ...]
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


class SoccerView(NamedTuple):
    """Observation of a decision, which is used with the memory.

    Attributes:
        view: Cells in view, row by row.
        direction: Direction of the player.
        step: Step of the episode.
    """

    view: list[list[int]]
    direction: int
    step: int


class SoccerPlayer(EpisodicBehavior[Match]):
    """A player in a MosaicMultiGrid soccer match; a subclass chooses its moves.

    The side is read from the name of the agent played (``green_0``; or a number, with the
    team sizes of the environment's id); ``settings["team"]`` (``green`` or ``blue``) overrides it.

    Args:
        slot: The slot to play.
        behavior: Name of the behavior, for error messages.
        sees: The environment's own part of the slot's observation space.
    """

    def __init__(self, slot: Slot, behavior: str, sees: Space | None) -> None:
        super().__init__(slot)
        soccer = re.search(r"MosaicMultiGrid-(S|Soccer)-", slot.env_id) is not None
        require(soccer, behavior, "a MosaicMultiGrid soccer environment", slot)
        parts = dict[str, Space]() if sees is None else sees.spaces
        image = parts.get("image")
        size = image.shape[0] if image is not None and len(image.shape) == 3 else 0
        fits = size % 2 == 1 and image is not None and image.shape == (size, size, 3) and "direction" in parts
        require(fits, behavior, "a Dict of image (V, V, 3) with odd V, and direction", slot)
        eight = slot.action_space.kind == "Discrete" and slot.action_space.n == 8
        require(eight, behavior, "MosaicMultiGrid's eight actions", slot)
        _team_of(slot, slot.agent_id, behavior)
        self._behavior = behavior
        self._locator = Locator(size)
        self._size = size

    @abstractmethod
    def seen(self, batch: Batch) -> Mapping[str, Any]:
        """Return the environment's own observations in a batch."""

    @abstractmethod
    def choose(self, state: Match, sight: SoccerView, batch: Batch, i: int) -> int:
        """Choose an action, after the memory was updated with the observation."""

    def new_state(self, seed: int, agent_id: str) -> Match:
        team = _team_of(self.slot, agent_id, self._behavior)
        other = GREEN if team == BLUE else BLUE
        return Match(team, GOALS[other], GOALS[team], self._locator.everywhere())

    def act(self, state: Match, batch: Batch, i: int) -> int:
        seen = self.seen(batch)
        image = seen["image"][i]
        sight = SoccerView(image.reshape(-1, 3).tolist(), int(seen["direction"][i]), batch.steps[i])
        self._locate(state, image, sight.direction)
        self._look(state, *sight)
        state.tackling = False
        state.last = self.choose(state, sight, batch, i)
        return state.last

    def _locate(self, state: Match, image: NDArray[np.integer], direction: int) -> None:
        """Update the player's possible positions with its last action and the new view."""
        if state.last == FORWARD and not state.blocked:
            dx, dy = VECTORS[direction]
            state.possible = np.roll(state.possible, (dx, dy), axis=(0, 1))
            state.position = state.position[0] + dx, state.position[1] + dy
        agree = self._locator.agree(image, direction)
        state.possible &= agree
        if not state.possible.any():
            # Another player moved the ball at the same time as this player walked; restart from the current
            # view.
            state.possible = agree & self._locator.everywhere()
        if not state.possible[state.position]:
            self._correct(state)

    @staticmethod
    def _correct(state: Match) -> None:
        """Move the assumed position to the nearest possible one, and the memory of the field with it."""
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
        """Record the ball, players with the ball, and cells without either."""
        own, front = self._own_cell, self._own_cell - 1
        carrying = view[own][0] == BALL
        if state.carrying and not carrying:
            if state.position in state.goal:
                state.unseen[:] = _LONG  # after a goal, the new ball can be anywhere
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
        """Index of the player's own cell in the flattened view; the index of the cell ahead is one less."""
        return (self._size // 2) * self._size + self._size - 1

    def score(self, state: Match, sight: SoccerView) -> int:
        """Take one step with the ball to the nearest cell of the other goal; entering it scores."""
        x, y = state.position
        goal = min(state.goal, key=lambda cell: abs(cell[0] - x) + abs(cell[1] - y))
        return self._walk(state, goal, sight.direction)

    def pass_on(self) -> int:
        """Pass the ball to a team-mate, at any distance."""
        return DROP

    def take(self, state: Match, sight: SoccerView) -> int | None:
        """Take the ball from the cell ahead or from an opponent there; return ``None`` if there is none."""
        kind, color, status = sight.view[self._own_cell - 1]
        opponent = kind == AGENT and status >= CARRYING and color != state.team
        state.tackling = opponent and not state.carrying and sight.step >= state.tackle_from
        return PICKUP if kind == BALL or state.tackling else None

    def fetch(self, state: Match, sight: SoccerView) -> int | None:
        """Take one step to the ball's last seen position; return ``None`` if it is unknown."""
        action = self.take(state, sight)
        if action is None and state.target is not None:
            action = self._walk(state, state.target, sight.direction)
        return action

    def support(self, state: Match, sight: SoccerView) -> int | None:
        """Take one step to where a pass is awaited; return ``None`` if no team-mate seems to have it."""
        if sight.step >= state.wait_until:
            return None
        return self._walk(state, state.goal[1], sight.direction)

    def search(self, state: Match, sight: SoccerView) -> int:
        """Take one step toward cells that were not seen for a long time, weighed against their distance."""
        return self._walk(state, self._look_next(state), sight.direction)

    def defend(self, state: Match, sight: SoccerView) -> int:
        """Stay before the own goal and look around; take the ball from an opponent who comes with it."""
        action = self.take(state, sight)
        if action is not None:
            return action
        x, y = state.own_goal[1]
        post = (x + 1 if x < WIDTH // 2 else x - 1), y
        return RIGHT if state.position == post else self._walk(state, post, sight.direction)

    @staticmethod
    def _walk(state: Match, cell: Point, direction: int) -> int:
        """Go forward if that leads closer to ``cell``, else turn toward it."""
        dx, dy = cell[0] - state.position[0], cell[1] - state.position[1]
        ahead = [dx * vx + dy * vy for vx, vy in VECTORS]
        if ahead[direction] > 0 and not state.blocked:
            return FORWARD
        return LEFT if ahead[(direction - 1) % 4] > ahead[(direction + 1) % 4] else RIGHT

    @staticmethod
    def _look_next(state: Match) -> Point:
        """Return the cell that is most worth looking at, considering its distance."""
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


def _team_of(slot: Slot, agent_id: str, behavior: str) -> int:
    """Return the color of the team of ``agent_id``.

    Raises:
        LoadError: Neither the settings nor the names say the team.
    """
    word = str(slot.settings.get("team", agent_id.partition("_")[0])).lower()
    if word in _TEAMS:
        return _TEAMS[word]
    number = re.search(r"(\d+)$", agent_id)
    sizes = re.search(r"-(\d+)v(?:s)?(\d+)", slot.env_id)
    if "team" in slot.settings or number is None or sizes is None:
        raise LoadError(f"{behavior} cannot determine the team of {agent_id!r}. Set team to green or blue")
    return GREEN if int(number[1]) < int(sizes[1]) else BLUE
