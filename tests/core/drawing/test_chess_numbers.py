"""Numbers of chess moves are PettingZoo's."""

from __future__ import annotations

import chess
import numpy as np
from pettingzoo.classic.chess import chess_utils

from gym_gui.core.drawing.chess_numbers import numbered


def test_moves_are_those_that_the_environment_makes() -> None:
    rng, count = np.random.default_rng(5), 0
    starts = [chess.STARTING_FEN] * 2
    starts.append("1n1n3k/P1P1P3/8/8/8/8/p1p1p3/1N1N3K w - - 0 1")  # promotions of all kinds, both sides
    for start in starts:
        board = chess.Board(start)
        while not board.is_game_over() and board.ply() < 160:
            moves = numbered(board)
            assert len(moves) == board.legal_moves.count()
            for action in chess_utils.legal_moves(board):
                assert moves[action] == chess_utils.action_to_move(board, action, int(not board.turn))
                count += 1
            board.push(rng.choice(np.array(list(board.legal_moves), dtype=object)))
    assert count > 3000
    assert 0 not in numbered(chess.Board())
