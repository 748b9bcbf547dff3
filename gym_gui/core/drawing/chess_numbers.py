"""PettingZoo's action numbers of chess moves (in ``chess_v6``: 8 x 8 squares x 73 kinds of moves).

The numbers are those from the perspective of the side that moves: Black's are those of the board turned
upside down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import chess

_WAYS: Final = 73
_KNIGHT: Final = 56
_UNDER: Final = 64
_UNDER_PIECES: Final = (2, 3, 4)
"""python-chess's numbers of knight, bishop and rook."""
_QUEEN_DIRECTIONS: Final = {
    direction: i for i, direction in enumerate((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y)
}
_KNIGHT_JUMPS: Final = {
    jump: i
    for i, jump in enumerate((x, y) for x in range(-2, 3) for y in range(-2, 3) if abs(x) + abs(y) == 3)
}


def numbered(board: chess.Board) -> dict[int, chess.Move]:
    """Return the legal moves of a position by action number."""
    black = not board.turn
    return {_number(move, black): move for move in board.legal_moves}


def _number(move: chess.Move, black: bool) -> int:
    flip = 56 if black else 0
    start, end = move.from_square ^ flip, move.to_square ^ flip
    right, up = end % 8 - start % 8, end // 8 - start // 8
    jump = _KNIGHT_JUMPS.get((right, up))
    if jump is not None:
        way = _KNIGHT + jump
    elif move.promotion in _UNDER_PIECES:
        way = _UNDER + 3 * (right + 1) + _UNDER_PIECES.index(move.promotion)
    else:
        far = max(abs(right), abs(up))
        way = (far - 1) * 8 + _QUEEN_DIRECTIONS[right // far, up // far]
    return (start % 8 * 8 + start // 8) * _WAYS + way
