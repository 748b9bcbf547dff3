"""Helpers for all readers of boards: turn, squares, lines and two common kinds of board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_gui.core.live import OFF_BOARD, Board, Move
from gym_gui.core.types import AgentID
from gym_gui.envs.instance import Instance

Square = tuple[int, int]

FIRST, SECOND = "X", "O"
_FILES = "abcdefghijklmnopqrstuvwxyz"


class Turn(NamedTuple):
    """Agent on turn in a board game, with its legal actions and the last action.

    Attributes:
        agent: Agent on turn; ``""`` if the game is over.
        legal: Legal actions of the agent on turn.
        last: The last action; ``None`` before the first.
    """

    agent: AgentID
    legal: tuple[int, ...]
    last: int | None


def turn_of(environment: Instance) -> Turn:
    """Return the turn of a board game, from the environment's adapter and its action mask."""
    adapter: Any = environment.adapter
    current: Sequence[AgentID] = adapter.get_current_agents()
    game: Any = getattr(adapter, "inner", adapter)
    moved: tuple[AgentID, Any] | None = getattr(game, "last_move", None)
    last = None if moved is None else int(moved[1])
    if not current:
        return Turn("", (), last)
    agent = current[0]
    mask = adapter.action_mask(agent) if agent in game.possible_agents else None  # a manager makes no moves
    return Turn(agent, () if mask is None else tuple(np.flatnonzero(mask).tolist()), last)


def square_named(name: str, rows: int) -> Square:
    """Return the row from the top and the column of a square with a name such as ``e2``, both from 0."""
    return rows - int(name[1:]), _FILES.index(name[0])


_WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))


def in_a_row(cells: Sequence[str], columns: int, wanted: int) -> tuple[Square, ...]:
    """Return the squares of all lines of ``wanted`` or more equal pieces: rows, columns or diagonals.

    Args:
        cells: Pieces, row by row from the top.
        columns: Columns of the board.
        wanted: Number of equal pieces that make a line.
    """
    rows, found = len(cells) // columns, dict[Square, None]()

    def piece(row: int, column: int) -> str:
        return cells[row * columns + column] if 0 <= row < rows and 0 <= column < columns else ""

    for place, own in enumerate(cells):
        if own:
            row, column = divmod(place, columns)
            for down, right in _WAYS:
                line = [(row + i * down, column + i * right) for i in range(wanted)]
                if all(piece(*square) == own for square in line):
                    found.update(dict.fromkeys(line))
    return tuple(found)


def drops(kind: str, cells: Sequence[str], columns: int, turn: Turn, label: Callable[[int], str]) -> Board:
    """Return a board whose pieces fall to the lowest free cell of a column; actions are column numbers."""
    rows = len(cells) // columns

    def height(column: int) -> int:
        """Return the row of the topmost piece, or ``rows`` if the column is empty."""
        return next((row for row in range(rows) if cells[row * columns + column]), rows)

    moves = tuple(Move(action, (height(action) - 1, action), label=label(action)) for action in turn.legal)
    last = () if turn.last is None else ((height(turn.last), turn.last),)
    line = in_a_row(cells, columns, 4)
    return Board(kind, rows, columns, tuple(cells), moves, last, turn.agent, line=line)


def placings(
    kind: str,
    cells: Sequence[str],
    columns: int,
    turn: Turn,
    square: Callable[[int], Square],
    label: Callable[[int], str],
) -> Board:
    """Return a board on whose free squares players put pieces.

    Args:
        kind: As in :class:`Board`.
        cells: Pieces, row by row from the top.
        columns: Columns of the board.
        turn: The turn, from :func:`turn_of`.
        square: Returns the square of an action, or :data:`OFF_BOARD`.
        label: Returns the text for an action.
    """
    moves = tuple(Move(action, square(action), label=label(action)) for action in turn.legal)
    last = () if turn.last is None or square(turn.last) == OFF_BOARD else (square(turn.last),)
    line = in_a_row(cells, columns, 3) if kind == "tic_tac_toe" else ()
    return Board(kind, len(cells) // columns, columns, tuple(cells), moves, last, turn.agent, line=line)
