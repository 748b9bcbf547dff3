"""Describes chess in the notations of chess players and programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import chess

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.live import Board
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.boards import BoardDescriber
from gym_gui.envs.facts import Fact, fact


class ChessDescriber(BoardDescriber):
    """Describes a ``chess.Board``: FEN, board, check, and legal moves in standard algebraic notation."""

    def notation(self, board: Board) -> list[str]:
        lines = super().notation(board)
        if self._game.is_check():
            lines.append("You are in check.")
        if self._game.is_repetition(2):
            lines.append("This position was on the board before: the third time draws.")
        return lines

    def fen(self, board: Board) -> str:
        return self._game.fen()

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        repeated = [fact("repeated")] if self._game.is_repetition(2) else []
        return [*super().facts(agent, observation, mode), *repeated]

    @property
    def _game(self) -> chess.Board:
        # The environment mirrors the board for black; FEN and moves are those of the real board.
        return self.environment.env.board

    def _legal(self, board: Board) -> list[str]:
        if self._hides or self._names:  # players' notation has the usual letters
            return []
        return [f"Legal moves: {', '.join(sorted(sans(self.environment.env.board)))}"]


def sans(board: chess.Board) -> list[str]:
    """Return all legal moves in standard algebraic notation, as :meth:`chess.Board.san` writes them.

    ``san`` searches all moves again for every move, to distinguish pieces, and plays each move to test for
    check. This function searches the moves once and plays only those that may give check.
    """
    moves = list(board.legal_moves)
    pieces = [board.piece_type_at(move.from_square) or chess.PAWN for move in moves]
    starts: dict[tuple[int, int], list[int]] = defaultdict(list)
    for move, piece in zip(moves, pieces, strict=True):
        starts[piece, move.to_square].append(move.from_square)
    reach, lines = _towards_king(board)
    found: list[str] = []
    for move, piece in zip(moves, pieces, strict=True):
        start, end = move.from_square, move.to_square
        takes = board.occupied >> end & 1
        may_check = move.promotion or (reach[piece] >> end | lines >> start) & 1
        if piece == chess.KING and board.is_castling(move):
            text, may_check = "O-O-O" if end < start else "O-O", True
        else:
            if piece == chess.PAWN and not takes and (start - end) % 8:
                takes = may_check = True  # en passant
            text = ("x" if takes else "") + chess.SQUARE_NAMES[end]
            if piece != chess.PAWN:
                text = _piece(piece, start, starts[piece, end]) + text
            elif takes:
                text = chess.FILE_NAMES[start % 8] + text
        if move.promotion:
            text += f"={chess.piece_symbol(move.promotion).upper()}"
        if may_check:
            board.push(move)
            if board.is_check():
                text += "#" if board.is_checkmate() else "+"
            board.pop()
        found.append(text)
    return found


def _piece(piece: int, start: int, starts: list[int]) -> str:
    """Return a piece's letter, with the file or rank that tells it from others with the same target."""
    letter = chess.piece_symbol(piece).upper()
    others = [other for other in starts if other != start]
    if not others:
        return letter
    same_file = any(other % 8 == start % 8 for other in others)
    same_rank = any(other // 8 == start // 8 for other in others)
    file, rank = chess.SQUARE_NAMES[start]
    return letter + (file if same_rank or not same_file else "") + (rank if same_file else "")


def _towards_king(board: chess.Board) -> tuple[dict[int, int], int]:
    """Return from where pieces could give check: squares by kind of piece, and all lines of the king."""
    king = board.king(not board.turn)
    assert king is not None
    aslant = chess.BB_DIAG_ATTACKS[king][0]
    straight = chess.BB_RANK_ATTACKS[king][0] | chess.BB_FILE_ATTACKS[king][0]
    reach = {
        chess.PAWN: chess.BB_PAWN_ATTACKS[not board.turn][king],
        chess.KNIGHT: chess.BB_KNIGHT_ATTACKS[king],
        chess.BISHOP: aslant,
        chess.ROOK: straight,
        chess.QUEEN: aslant | straight,
        chess.KING: 0,
    }
    return reach, aslant | straight
