"""Names of board squares and pieces, for screen readers and hints."""

from __future__ import annotations

from typing import Final

from gym_gui.core.live import Board
from mosaic_worker.squares import GO_FILES

_CHESS: Final = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}
_PIECES: Final = {
    "connect_four": {"X": "red disc", "O": "yellow disc"},
    "tic_tac_toe": {"X": "cross", "O": "nought"},
    "go": {"X": "black stone", "O": "white stone"},
    "checkers": {"X": "red man", "O": "white man", "XX": "red king", "OO": "white king"},
}
_GAMES: Final = {
    "chess": "Chess board",
    "connect_four": "Connect four board",
    "tic_tac_toe": "Tic-tac-toe board",
    "go": "Go board",
    "checkers": "Checkers board",
}


def game_word(kind: str) -> str:
    """Return the display name of a kind of board, such as ``Go board``; ``Board`` if it is unknown."""
    return _GAMES.get(kind, "Board")


def piece_word(kind: str, piece: str) -> str:
    """Return the name of a piece, such as ``white knight`` or ``red disc``; ``piece`` if it is unknown."""
    if kind == "chess" and piece.lower() in _CHESS:
        return f"{'white' if piece.isupper() else 'black'} {_CHESS[piece.lower()]}"
    return _PIECES.get(kind, {}).get(piece, "piece")


def chess_word(letter: str) -> str:
    """Return the name of a chess piece, such as ``queen`` for ``q``; an unknown letter stays as it is."""
    return _CHESS.get(letter.lower(), letter)


def column_label(board: Board, column: int) -> str:
    """Return the label below a board's column."""
    if board.kind == "connect_four":
        return str(column + 1)
    letters = GO_FILES if board.kind == "go" else "abcdefghijklmnopqrstuvwxyz"
    return letters[column % len(letters)]


def row_label(board: Board, row: int) -> str:
    """Return the label beside a board's row; ``""`` if rows have no labels."""
    return "" if board.kind == "connect_four" else str(board.rows - row)


def square_word(board: Board, square: tuple[int, int]) -> str:
    """Return the name of a square, such as ``e4`` or ``column 3, row 1 from below``."""
    row, column = square
    if board.kind == "connect_four":
        return f"column {column + 1}, row {board.rows - row} from below"
    if board.kind == "tic_tac_toe":
        return f"row {row + 1}, column {column + 1}"
    return column_label(board, column) + row_label(board, row)


def occupied_word(board: Board, square: tuple[int, int]) -> str:
    """Return the name of a square with its piece, such as ``e2, white pawn`` or ``e4, empty``."""
    piece = board.cells[square[0] * board.columns + square[1]]
    return f"{square_word(board, square)}, {piece_word(board.kind, piece) if piece else 'empty'}"
