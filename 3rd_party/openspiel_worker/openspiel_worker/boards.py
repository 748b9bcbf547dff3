"""Reads boards from facts and text, and sets up OpenSpiel states that show them."""

# OpenSpiel's stubs leave out most types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyspiel

from mosaic_worker.squares import placed_word

Square = tuple[int, int]
"""Column and row, counted from 1, from the left and from the bottom."""
Pieces = Mapping[Square, int]
"""Number of the player whose piece is on each square: 0 moves first in a game."""

_PIECE = re.compile(r'piece\("?([XO])"?, (\d+), (\d+)\)')
_FEN = re.compile(r"(?<!\S)(?:[pnbrqkPNBRQK1-8]+/){7}[pnbrqkPNBRQK1-8]+ [wb] \S+ \S+ \d+ \d+(?!\S)")
_MARKS = {"x": 0, "o": 1, "X": 0, "O": 1}


class VisiblePosition(NamedTuple):
    """A position as a seat observes it.

    Attributes:
        facts: Facts of the observation.
        text: Text of the observation.
    """

    facts: Sequence[str]
    text: str


class PlacementGame:
    """A game in which stones or marks are placed on squares: tic-tac-toe, connect four, go.

    Args:
        game: OpenSpiel's game.
        columns: Columns of its board.
        rows: Rows of its board.
    """

    def __init__(self, game: Any, columns: int, rows: int) -> None:
        self._game = game
        self._kind: str = game.get_type().short_name
        self._columns, self._rows = columns, rows

    def shows(self, state: Any, shown: VisiblePosition) -> bool:
        """Return whether a state has the shown board."""
        return self.pieces_of(state) == _pieces_in(shown.facts)

    def set_up(self, shown: VisiblePosition) -> Any | None:
        """Return a state with the shown board; ``None`` if no course of the game leads there.

        Earlier moves are not shown, so a ko or a forbidden repetition is unknown.
        """
        pieces, mover = _pieces_in(shown.facts), self.mover(shown)
        if mover is None:
            return None
        passed = (
            self._kind == "go" and bool(pieces) and not any(f.startswith("last_move") for f in shown.facts)
        )
        moves = self._dropped(pieces) if self._kind == "connect_four" else self._placed(pieces, mover, passed)
        if moves is None:
            return None
        state = self._game.new_initial_state()
        for move in moves:
            if state.is_terminal() or move not in state.legal_actions():
                return None
            state.apply_action(move)
        return state if state.current_player() == mover and self.shows(state, shown) else None

    def mover(self, shown: VisiblePosition) -> int | None:
        """Return the number of the observing player, who moves next; ``None`` if it is not shown."""
        me = next((fact for fact in shown.facts if fact.startswith("me(")), "")
        return next((number for mark, number in (("X", 0), ("O", 1)) if mark in me), None)

    def word(self, state: Any, action: int) -> str:
        """Return a move in the words of the environments."""
        if self._kind == "connect_four":
            return f"column {action + 1}"
        row, column = divmod(action, self._columns)
        if self._kind == "tic_tac_toe":
            return f"column {column + 1} row {row + 1}"
        return self.notation(state, action)

    def notation(self, state: Any, action: int) -> str:
        """Return a move in the notation of players."""
        if self._kind == "connect_four":
            return placed_word(self._kind, self._rows, (0, action))
        row, column = divmod(action, self._columns)
        if self._kind == "go":
            row = (
                self._rows - 1 - row
            )  # go counts rows from the bottom, and a pass would be one row beyond the board
        return placed_word(self._kind, self._rows, (row, column))

    def _action(self, square: Square) -> int:
        column, row = square
        if self._kind == "connect_four":
            return column - 1
        down = row - 1 if self._kind == "go" else self._rows - row
        return down * self._columns + column - 1

    def pieces_of(self, state: Any) -> Pieces:
        """Return the board of a state."""
        lines = [line.split()[-1] for line in str(state).splitlines() if line.strip()]
        if self._kind == "go":  # skip the heading and the letters of the columns
            lines = lines[1:-1]
        return {
            (column + 1, self._rows - row): _MARKS[mark]
            for row, line in enumerate(lines)
            for column, mark in enumerate(line)
            if mark in _MARKS
        }

    def _placed(self, pieces: Pieces, mover: int, passed: bool) -> list[int] | None:
        """Return moves that place the stones in turn, found backward; ``None`` if there are none.

        The player with fewer stones passes early on, never twice in a row. Stones that coexist at the end
        capture none of each other on the way.
        """
        left = [[self._action(square) for square, mark in pieces.items() if mark == who] for who in (0, 1)]
        none = self._columns * self._rows
        moves = [none] if passed else []
        who = mover if passed else 1 - mover
        while left[0] or left[1]:
            moves.append(left[who].pop() if left[who] else none)
            who = 1 - who
        if moves and who == 0:  # the second player made the first move
            moves.append(none)
        if self._kind != "go" and none in moves:
            return None
        return moves[::-1]

    def _dropped(self, pieces: Pieces) -> list[int] | None:
        """Return moves that fill columns from below, in turn; ``None`` if there are none."""
        tried: set[tuple[int, ...]] = set()
        moves: list[int] = []

        def fill(heights: tuple[int, ...]) -> bool:
            if len(moves) == len(pieces):
                return True
            if heights in tried:
                return False
            tried.add(heights)
            for column in range(self._columns):
                if pieces.get((column + 1, heights[column] + 1)) != len(moves) % 2:
                    continue
                moves.append(column)
                if fill((*heights[:column], heights[column] + 1, *heights[column + 1 :])):
                    return True
                moves.pop()
            return False

        return moves if fill((0,) * self._columns) else None


class Chess:
    """Chess, whose positions are given in Forsyth-Edwards notation.

    Args:
        game: OpenSpiel's game.
    """

    def __init__(self, game: Any) -> None:
        self._game = game

    def shows(self, state: Any, shown: VisiblePosition) -> bool:
        """Return whether a state has the shown board, side to move and castling rights."""
        # Some programs write an en passant square where no pawn can take; others leave it out.
        return str(state).split()[:3] == self._fen(shown).split()[:3]

    def set_up(self, shown: VisiblePosition) -> Any | None:
        """Return a state of the position; ``None`` if it is not valid. Earlier repetitions are not known."""
        fen = self._fen(shown)
        try:
            return self._game.new_initial_state(fen) if fen else None
        except pyspiel.SpielError:
            return None

    def mover(self, shown: VisiblePosition) -> int | None:
        """Return the number of the player to move; black is OpenSpiel's player 0."""
        state = self.set_up(shown)
        return None if state is None else int(state.current_player())

    def word(self, state: Any, action: int) -> str:
        """Return a move as its two squares: ``e2e4``."""
        return str(pyspiel.chess.action_to_move(action, state.board()).to_lan())

    def notation(self, state: Any, action: int) -> str:
        """Return a move in standard algebraic notation: ``e4``."""
        return str(state.action_to_string(state.current_player(), action))

    def _fen(self, shown: VisiblePosition) -> str:
        found = _FEN.search(shown.text)
        return found.group() if found else ""


def _pieces_in(facts: Sequence[str]) -> Pieces:
    found = (_PIECE.fullmatch(fact) for fact in facts)
    return {(int(each[2]), int(each[3])): _MARKS[each[1]] for each in found if each}


def board_of(game: Any) -> PlacementGame | Chess | None:
    """Return the reader of a game's boards; ``None`` for games whose positions cannot be set up."""
    kind: str = game.get_type().short_name
    parameters: Mapping[str, Any] = game.get_parameters()
    if kind == "chess":
        return Chess(game)
    if kind == "go":
        return PlacementGame(game, parameters["board_size"], parameters["board_size"])
    if kind == "connect_four":
        return PlacementGame(game, parameters["columns"], parameters["rows"])
    return PlacementGame(game, 3, 3) if kind == "tic_tac_toe" else None
