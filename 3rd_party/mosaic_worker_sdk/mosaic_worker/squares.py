"""Squares and moves of board games as players call them: in environments, and in workers that search."""

from __future__ import annotations

from typing import Tuple

GO_FILES = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Columns of a go board, which leave out the I: it reads as a 1."""
_NINE = (
    *("top left", "top", "top right"),
    *("left", "centre", "right"),
    *("bottom left", "bottom", "bottom right"),
)


def point_named(point: Tuple[int, int], rows: int) -> str:
    """Name of a go point, from its row from the top and its column: ``(0, 0)`` of 19 rows is ``A19``."""
    return f"{GO_FILES[point[1]]}{rows - point[0]}"


def placed_word(kind: str, rows: int, square: Tuple[int, int]) -> str:
    """A move that puts a piece on the board: ``column 4``, ``bottom left``, ``D4``, ``pass``.

    Args:
        kind: ``connect_four``, ``tic_tac_toe`` or ``go``.
        rows: Rows of the board.
        square: Where it is put, row from the top and column; below 0 for a move that ends on no square.
    """
    if square[0] < 0:
        return "pass"
    if kind == "connect_four":
        return f"column {square[1] + 1}"
    return _NINE[square[0] * 3 + square[1]] if kind == "tic_tac_toe" else point_named(square, rows)
