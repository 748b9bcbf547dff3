"""A player for games of lines on a small board, which looks one move ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.rng import uniform
from mosaic_worker.worker import Batch, Invalid, Slot
from operators_worker.behavior import Behavior, require


def lines_through(rows: int, columns: int, length: int) -> list[list[tuple[int, ...]]]:
    """Return, for each cell (row-major), the other cells of every line of ``length`` through it."""
    through: list[list[tuple[int, ...]]] = [[] for _ in range(rows * columns)]
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + k * down, column + k * right) for k in range(length)]
                if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
                    line = [r * columns + c for r, c in cells]
                    for cell in line:
                        through[cell].append(tuple(other for other in line if other != cell))
    return through


class OnePly(Behavior):
    """Wins if it can, else blocks a win of the opponent, else takes the cell with the highest preference.

    Args:
        slot: The slot.
        name: Name of the behavior, for messages.
        shape: Rows and columns of the board.
        length: Number of stones in a line that win.
        actions: Number of actions.
        liking: Preference for each cell (row-major) if there is nothing to win or block; the policy's seed
            breaks ties.
    """

    def __init__(
        self, slot: Slot, name: str, shape: tuple[int, int], length: int, actions: int, liking: Sequence[int]
    ) -> None:
        super().__init__(slot)
        space = slot.observation_space
        board = space.spaces.get("observation", space)
        needs = f"two planes (own, other) of shape {(*shape, 2)} and a Discrete({actions}) action"
        discrete = slot.action_space.kind == "Discrete" and slot.action_space.n == actions
        require(board.shape == (*shape, 2) and discrete, name, needs, slot)
        self._through = lines_through(*shape, length)
        self._liking = liking

    def landing(self, action: int, taken: NDArray[np.bool_]) -> int:
        """Return the cell (row-major) that ``action`` fills; ``taken`` has the board's shape."""
        return action

    def select(self, batch: Batch) -> list[Any]:
        seen = batch.observations
        boards = np.asarray(seen["observation"] if isinstance(seen, Mapping) else seen, np.bool_)
        chances = uniform(batch.seeds, batch.steps).tolist()
        return [self._choose(batch, i, boards[i], chances[i]) for i in range(len(batch))]

    def _choose(self, batch: Batch, i: int, board: NDArray[np.bool_], chance: float) -> Any:
        taken = np.logical_or(board[..., 0], board[..., 1])
        legal = self._legal(batch, i, taken)
        if not legal:
            return Invalid("no move is legal")
        cells = {action: self.landing(action, taken) for action in legal}
        for player in (0, 1):
            stones = board[..., player].reshape(-1).tolist()
            for action, cell in cells.items():
                if any(all(stones[c] for c in line) for line in self._through[cell]):
                    return action
        most = max(self._liking[cell] for cell in cells.values())
        best = [action for action, cell in cells.items() if self._liking[cell] == most]
        return best[int(chance * len(best))]

    def _legal(self, batch: Batch, i: int, taken: NDArray[np.bool_]) -> list[int]:
        if batch.action_masks is not None:
            return np.flatnonzero(batch.action_masks[i]).tolist()
        return self.open_moves(taken)

    def open_moves(self, taken: NDArray[np.bool_]) -> list[int]:
        """Return the legal moves, from the board alone."""
        return np.flatnonzero(~taken.reshape(-1)).tolist()
