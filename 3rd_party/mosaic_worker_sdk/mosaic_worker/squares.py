"""Names of the squares and moves of board games, for environments and for workers with a game tree search."""

from __future__ import annotations

from typing import Tuple

GO_FILES = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Names of the columns of a Go board; the letter I is left out because it looks like a 1."""
_NINE = (
    *("top left", "top", "top right"),
    *("left", "centre", "right"),
    *("bottom left", "bottom", "bottom right"),
)


def point_named(point: Tuple[int, int], rows: int) -> str:
    """Return the name of a Go point (row from the top, column): ``(0, 0)`` on 19 rows is ``A19``."""
    return f"{GO_FILES[point[1]]}{rows - point[0]}"


def placed_word(kind: str, rows: int, square: Tuple[int, int]) -> str:
    """Return the name of a move that places a piece: ``column 4``, ``bottom left``, ``D4``, ``pass``.

    Args:
        kind: ``connect_four``, ``tic_tac_toe`` or ``go``.
        rows: Number of rows of the board.
        square: Row (from the top) and column of the piece; a negative row for a pass.
    """
    if square[0] < 0:
        return "pass"
    if kind == "connect_four":
        return f"column {square[1] + 1}"
    return _NINE[square[0] * 3 + square[1]] if kind == "tic_tac_toe" else point_named(square, rows)
