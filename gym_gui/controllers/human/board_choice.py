"""Determines the move that a person chooses by clicks on a board, from the legal moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gym_gui.controllers.human.square_names import piece_word
from gym_gui.core.live import Board, Move

Square = tuple[int, int]

NOT_NOW: Final = "It is not your move yet."
OVER: Final = "The game is over: restart it to play again."


@dataclass(frozen=True, slots=True)
class ChosenMove:
    """Result of a click on a board that determines exactly one move."""

    move: Move


@dataclass(frozen=True, slots=True)
class AmbiguousClick:
    """Result of a click on a board that fits several moves, such as promotions; the user chooses one."""

    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class SelectedSquare:
    """Result of a click on a board that selects the piece on ``square``, or deselects it (``None``)."""

    square: Square | None


@dataclass(frozen=True, slots=True)
class RefusedClick:
    """Result of a click on a board that changes nothing.

    Attributes:
        sentence: Reason why nothing happens, and what to do instead.
    """

    sentence: str


Answer = ChosenMove | AmbiguousClick | SelectedSquare | RefusedClick


@dataclass(slots=True)
class BoardChoice:
    """A person's current selection on one board.

    Attributes:
        board: The position.
        interactive: Whether it is a person's turn.
        selected: Square of the selected piece.
    """

    board: Board
    interactive: bool = False
    selected: Square | None = field(default=None)

    def sources(self) -> set[Square]:
        """Return the squares of pieces that can move."""
        return {move.source for move in self.board.moves if move.source is not None}

    def targets(self, source: Square | None) -> list[Move]:
        """Return the legal moves to squares of the piece on ``source``.

        If ``source`` is ``None``, return the moves that put a new piece on the board.
        """
        return [m for m in self.board.moves if m.source == source and self.on_board(m.target)]

    def off_board_moves(self) -> list[Move]:
        """Return the legal moves that end on no square, such as a pass in go."""
        return [m for m in self.board.moves if not self.on_board(m.target)]

    def drops_at(self, square: Square) -> list[Move]:
        """Return the moves that put a new piece on a square or, in connect four, into its column."""
        falling = self.board.kind == "connect_four"
        return [m for m in self.targets(None) if m.target == square or (falling and m.target[1] == square[1])]

    def landing(self, square: Square) -> Square | None:
        """Return the square on which a piece dropped at ``square`` lands; ``None`` if no drop is legal."""
        moves = self.drops_at(square)
        if not moves:
            return None
        if self.board.kind != "connect_four":
            return moves[0].target
        column = square[1]
        empty = [row for row in range(self.board.rows) if not self.piece((row, column))]
        return (max(empty), column) if empty else None

    def piece(self, square: Square) -> str:
        """Return the piece on a square; ``""`` if the square is empty."""
        return self.board.cells[square[0] * self.board.columns + square[1]]

    def on_board(self, square: Square) -> bool:
        """Return whether a square, as (row, column), lies on the board."""
        return 0 <= square[0] < self.board.rows and 0 <= square[1] < self.board.columns

    def choose(self, square: Square) -> Answer:
        """Handle a person's click on a square."""
        if not self.board.moves and not self.board.turn:
            return RefusedClick(OVER)
        if not self.interactive:
            return RefusedClick(NOT_NOW)
        if square == self.selected:
            return self._select(None)
        if self.selected is not None:
            meant = [m for m in self.targets(self.selected) if m.target == square]
            if meant:
                return self._meant(meant)
        if square in self.sources():
            return self._select(square)
        drops = self.drops_at(square)
        if drops:
            return self._meant(drops)
        return RefusedClick(self._why_not(square))

    def drop(self, square: Square) -> Answer:
        """Handle the end of dragging the selected piece to a square."""
        if self.selected is None or square == self.selected:
            return SelectedSquare(self.selected)
        if not self.interactive:
            return RefusedClick(NOT_NOW)
        meant = [m for m in self.targets(self.selected) if m.target == square]
        return self._meant(meant) if meant else RefusedClick(self._why_not(square))

    def is_own_piece(self, square: Square) -> bool:
        """Return whether a click on a square selects the piece there.

        A click on a piece that the selected piece can capture plays the capture instead.
        """
        taken = self.selected is not None and any(m.target == square for m in self.targets(self.selected))
        return self.interactive and square in self.sources() and not taken

    def choosable(self, square: Square) -> bool:
        """Return whether a click on a square now selects a piece or plays a move."""
        if not self.interactive:
            return False
        meant = self.selected is not None and any(m.target == square for m in self.targets(self.selected))
        return meant or square in self.sources() or bool(self.drops_at(square))

    def piece_to_place(self) -> str:
        """Return the kind of the piece that the next move puts on the board: ``X`` or ``O``."""
        last = self.board.last[-1] if self.board.last else None
        if self.board.kind == "go" and last is not None and self.on_board(last):
            return "O" if self.piece(last) == "X" else "X"
        return "X" if self.board.cells.count("X") <= self.board.cells.count("O") else "O"

    def release(self) -> None:
        """Deselect the selected piece."""
        self.selected = None

    def _select(self, square: Square | None) -> SelectedSquare:
        self.selected = square
        return SelectedSquare(square)

    def _meant(self, moves: Sequence[Move]) -> Answer:
        return ChosenMove(moves[0]) if len(moves) == 1 else AmbiguousClick(tuple(moves))

    def _why_not(self, square: Square) -> str:
        kind, piece = self.board.kind, self.piece(square)
        if self.selected is not None:
            name = piece_word(kind, self.piece(self.selected))
            return f"The {name} cannot go there: choose a marked square, or press Esc to deselect it."
        if kind == "connect_four":
            return "This column is full: choose another one."
        if self.sources():
            if piece:
                return f"This {piece_word(kind, piece)} has no legal move: choose another piece."
            return "Choose one of your pieces first."
        if piece:
            return "This square is occupied: choose an empty one."
        return "The rules do not allow this square now: choose another one."
