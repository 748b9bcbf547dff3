"""Numbers of chess moves are PettingZoo's."""

from __future__ import annotations

import random

import chess
import pytest
from pettingzoo.classic.chess import chess_utils

from gym_gui.core.chess_numbers import numbered

PROMOTIONS = "1n1n3k/P1P1P3/8/8/8/8/p1p1p3/1N1N3K w - - 0 1"
"""Of all kinds, both sides."""


@pytest.mark.parametrize(
    ("start", "seed"), [(chess.STARTING_FEN, 5), (chess.STARTING_FEN, 6), (PROMOTIONS, 7)]
)
def test_moves_are_those_that_the_environment_makes(start: str, seed: int) -> None:
    rng, board, count = random.Random(seed), chess.Board(start), 0
    while not board.is_game_over() and board.ply() < 160:
        moves = numbered(board)
        actions = chess_utils.legal_moves(board)
        assert sorted(moves) == sorted(actions)
        for action in actions:
            assert moves[action] == chess_utils.action_to_move(board, action, int(not board.turn))
        count += len(moves)
        board.push(rng.choice(list(moves.values())))
    assert count > 100
