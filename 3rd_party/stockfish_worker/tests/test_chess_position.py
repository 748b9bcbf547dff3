"""A position is read from what is shown, and its history found again."""

from __future__ import annotations

import random

import chess
import pytest

from stockfish_worker.position import NoPositionError, Position


def read(board: chess.Board, *, san: bool = False) -> Position:
    words = [board.san(move) if san else move.uci() for move in board.legal_moves]
    choices = {word: number for number, word in enumerate(words)}
    return Position.read(f"You are to move, with white.\nFEN: {board.fen()}\nYou are in check.", choices)


def test_random_games_are_read_with_every_move_that_led_there():
    count = 0
    for seed, san in enumerate((False, True)):
        board, rng, earlier = chess.Board(), random.Random(seed), None
        while not board.is_game_over() and board.ply() < 150:
            position = read(board, san=san).with_history(earlier)
            assert position.board == board and position.board.move_stack == board.move_stack
            assert set(position.actions) == set(board.legal_moves)
            board.push(rng.choice(list(board.legal_moves)))
            earlier = board.copy()  # one's own move is remembered; the reply to it is not told
            if not board.is_game_over():
                board.push(rng.choice(list(board.legal_moves)))
            count += 1
    assert count > 80


def test_the_same_position_once_more_keeps_its_history():
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    earlier = board.copy()
    earlier.push_uci("g1f3")
    again = read(board).with_history(earlier)
    assert [move.uci() for move in again.board.move_stack] == ["e2e4", "e7e5"]


def test_another_game_has_no_history():
    earlier = chess.Board()
    earlier.push_uci("e2e4")
    other = chess.Board("7k/8/8/8/8/8/8/K6R w - - 0 1")
    assert read(other).with_history(earlier).board.move_stack == []


@pytest.mark.parametrize(
    ("text", "choices", "words"),
    [
        ("The ball is at (3, 4).", {}, "no FEN"),
        (f"FEN: {chess.STARTING_FEN}", {"e2e4": 0}, "there is no action for the legal moves a2a3"),
        (f"FEN: {chess.STARTING_FEN}", {"e2e5": 0}, "cannot be read"),
        ("FEN: 9/8/8/8/8/8/8/8 w - - 0 1", {}, "no FEN"),
        ("FEN: 88/8/8/8/8/8/8/8 w - - 0 1", {}, "cannot be read"),
    ],
)
def test_what_is_no_position_is_said(text: str, choices: dict[str, int], words: str):
    with pytest.raises(NoPositionError, match=words):
        Position.read(text, choices)
