"""A board position as JSON, and back; without the legal moves, for those who only look on."""

from __future__ import annotations

from typing import Any

import orjson

from gym_gui.core.live import Board


def board_to_json(board: Board | None) -> str:
    """``""`` for none."""
    if board is None:
        return ""
    fields = (board.kind, board.rows, board.columns, board.cells, board.last, board.turn, board.flipped)
    return orjson.dumps(fields).decode()


def board_from_json(text: str) -> Board | None:
    """What :func:`board_to_json` wrote."""
    if not text:
        return None
    fields: list[Any] = orjson.loads(text)
    kind, rows, columns, cells, last, turn, flipped = fields
    squares = tuple((int(row), int(column)) for row, column in last)
    return Board(kind, rows, columns, tuple(cells), (), squares, turn, flipped)
