"""Pixel positions of a board's squares in a widget."""

from __future__ import annotations

from dataclasses import dataclass

from PyQt6.QtCore import QPointF, QRectF

from gym_gui.core.live import Board

LABELED = frozenset({"chess", "checkers", "go", "connect_four"})
"""Board games whose boards have coordinates at the edge."""
_LETTERS, _RIM = 12, 8
"""Minimum width of the edge around the squares in pixels: with coordinates, and without."""


@dataclass(frozen=True, slots=True)
class BoardGeometry:
    """Pixel positions of a board's squares in widget coordinates.

    Attributes:
        rows: Number of rows.
        columns: Number of columns.
        side: Edge of a square in logical pixels; a whole number, so that edges are sharp.
        left: Left edge of the leftmost square.
        top: Top edge of the topmost square.
        flipped: Whether the board is drawn from the opponent's side.
        edge: Width in pixels of the edge around the squares, for rim and coordinates.
    """

    rows: int
    columns: int
    side: int
    left: int
    top: int
    flipped: bool
    edge: int

    @classmethod
    def fitted(cls, board: Board, room: QRectF, *, flipped: bool) -> BoardGeometry:
        """Return the geometry of the largest board that fits into a rectangle, centered."""
        labeled = board.kind in LABELED
        margin = 0.62 if labeled else 0.35
        side = int(
            min(room.width() / (board.columns + 2 * margin), room.height() / (board.rows + 2 * margin))
        )
        # Letters at the edge have to be readable on small boards, and need no more on large ones.
        edge = min(max(int(margin * side), _LETTERS if labeled else _RIM), 26)
        side = int(min((room.width() - 2 * edge) / board.columns, (room.height() - 2 * edge) / board.rows))
        side = max(side, 4)
        left = int(room.center().x() - board.columns * side / 2)
        top = int(room.center().y() - board.rows * side / 2)
        return cls(board.rows, board.columns, side, left, top, flipped, edge)

    def rect(self, square: tuple[int, int]) -> QRectF:
        """Return the rectangle of a square (row, column)."""
        row, column = self._shown(square)
        return QRectF(self.left + column * self.side, self.top + row * self.side, self.side, self.side)

    def centre(self, square: tuple[int, int]) -> QPointF:
        """Return the center of a square (row, column)."""
        return self.rect(square).center()

    def at(self, point: QPointF) -> tuple[int, int] | None:
        """Return the row and column of the square at a point; ``None`` outside the board."""
        column = int((point.x() - self.left) // self.side)
        row = int((point.y() - self.top) // self.side)
        if 0 <= row < self.rows and 0 <= column < self.columns:
            return self._shown((row, column))
        return None

    def squares(self) -> QRectF:
        """Return the rectangle that contains all squares, without the edge."""
        return QRectF(self.left, self.top, self.columns * self.side, self.rows * self.side)

    def board(self) -> QRectF:
        """Return the rectangle that contains the squares and the edge around them."""
        return self.squares().adjusted(-self.edge, -self.edge, self.edge, self.edge)

    def moved(self, square: tuple[int, int], down: int, right: int) -> tuple[int, int]:
        """Return the square ``down`` and ``right`` steps away on the screen, limited to the board."""
        row, column = self._shown(square)
        row = min(max(row + down, 0), self.rows - 1)
        column = min(max(column + right, 0), self.columns - 1)
        return self._shown((row, column))

    def _shown(self, square: tuple[int, int]) -> tuple[int, int]:
        row, column = square
        return (self.rows - 1 - row, self.columns - 1 - column) if self.flipped else (row, column)
