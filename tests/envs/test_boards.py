"""Boards that are drawn: every position of random games agrees with the environment itself."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import chess
import numpy as np
import pytest

from gym_gui.core.live import Board, Move
from gym_gui.core.paradigms import Option
from gym_gui.envs import Environment, make
from gym_gui.envs.boards import OFF_BOARD

GAMES = [
    ("chess_v6", "chess", 160),
    ("connect_four_v3", "connect_four", 42),
    ("tictactoe_v3", "tic_tac_toe", 9),
    ("go_v5", "go", 120),
    ("open_spiel/chess", "chess", 160),
    ("open_spiel/connect_four", "connect_four", 42),
    ("open_spiel/tic_tac_toe", "tic_tac_toe", 9),
    ("open_spiel/go", "go", 120),
    ("open_spiel/checkers", "checkers", 120),
]
ENV_KWARGS = {"go_v5": {"board_size": 7}, "open_spiel/go": {"config": {"board_size": 7}}}


def positions(task: str, seed: int, steps: int) -> Iterator[tuple[Environment, Board, Move | None]]:
    """A random legal game, position by position, with the move that led to each."""
    environment = make(task, env_kwargs=ENV_KWARGS.get(task))
    adapter, rng = environment.adapter, random.Random(seed)
    adapter.reset(seed=seed)
    move: Move | None = None
    for _ in range(steps):
        board = environment.board()
        assert board is not None
        yield environment, board, move
        if adapter.is_episode_done():
            return
        passes = [m for m in board.moves if m.target == OFF_BOARD]
        choice = [m for m in board.moves if m.target != OFF_BOARD] or passes  # or go ends at once
        move = rng.choice(choice)
        adapter.step({board.turn: move.action})


def piece(board: Board, square: tuple[int, int]) -> str:
    return board.cells[square[0] * board.columns + square[1]]


def side(letter: str, kind: str) -> int | None:
    """0 for the first player's piece, 1 for the second's."""
    if not letter:
        return None
    return int(letter.islower()) if kind == "chess" else int(letter[0] == "O")


@pytest.mark.parametrize(("task", "kind", "steps"), GAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_moves_are_the_legal_actions_and_go_where_they_say(
    task: str, kind: str, steps: int, seed: int
) -> None:
    before: Board | None = None
    for environment, board, move in positions(task, seed, steps):
        adapter = environment.adapter
        assert (board.kind, len(board.cells)) == (kind, board.rows * board.columns)
        current: Sequence[str] = adapter.get_current_agents()
        assert board.turn == (current[0] if current else "")
        mask = adapter.action_mask(board.turn) if current else None
        legal = [] if mask is None else np.flatnonzero(mask).tolist()
        assert [m.action for m in board.moves] == legal
        if before is not None and move is not None:
            the_move_was_made(before, move, board)
        for each in board.moves:
            the_move_is_possible(board, each, kind)
        before = board
    assert before is not None and any(before.cells)


def the_move_is_possible(board: Board, move: Move, kind: str) -> None:
    assert move.label
    if move.target == OFF_BOARD:
        assert move.label == "pass"
        return
    target = piece(board, move.target)
    if move.source is None:
        assert target == ""
    else:
        mover = side(piece(board, move.source), kind)
        assert mover is not None
        assert side(target, kind) != mover
    if kind == "connect_four":
        row, column = move.target
        assert row == board.rows - 1 or piece(board, (row + 1, column))


def the_move_was_made(before: Board, move: Move, after: Board) -> None:
    if move.target == OFF_BOARD:
        assert after.last == ()
        return
    assert after.last == ((move.target,) if move.source is None else (move.source, move.target))
    if move.source is None:
        assert side(piece(after, move.target), after.kind) is not None
        return
    assert piece(after, move.source) == ""
    moved, now = piece(before, move.source), piece(after, move.target)
    assert now == (move.promotion or moved) or (before.kind == "checkers" and now == moved * 2)


@pytest.mark.parametrize("seed", range(6))
def test_chess_is_the_position_of_python_chess(seed: int) -> None:
    for environment, board, _ in positions("chess_v6", seed, 200):
        game: chess.Board = environment.env.board
        rows = [board.cells[row * 8 : row * 8 + 8] for row in range(8)]
        text = "\n".join(" ".join(cell or "." for cell in row) for row in rows)
        assert text == str(game)
        if board.turn:
            assert {m.label for m in board.moves} == {m.uci() for m in game.legal_moves}


@pytest.mark.parametrize("seed", range(4))
def test_the_same_chess_in_both_packages(seed: int) -> None:
    """OpenSpiel's position, followed in python-chess by the labels of the moves."""
    game = chess.Board()
    for environment, board, move in positions("open_spiel/chess", seed, 200):
        if move is not None:
            game.push_uci(move.label)
        assert game.board_fen() == str(environment.env.game_state).split()[0]
        if board.turn:
            assert {m.label for m in board.moves} == {m.uci() for m in game.legal_moves}


@pytest.mark.parametrize("task", ["chess_v6", "open_spiel/chess"])
def test_a_promotion_offers_four_pieces(task: str) -> None:
    """Both sides push a pawn through; the letters have the colour of who promotes."""
    environment = make(task)
    adapter = environment.adapter
    adapter.reset(seed=0)
    opening = "a2a4 b7b5 a4b5 h7h5 b5b6 h5h4 b6c7 h4h3 a1a2 h3g2 g1f3"
    for label in opening.split():
        play(environment, label)
    black = {m.label: m.promotion for m in moves_from(environment, "g2", "h1")}
    assert black == {"g2h1q": "q", "g2h1r": "r", "g2h1b": "b", "g2h1n": "n"}
    play(environment, "g2h1n")
    white = {m.label: m.promotion for m in moves_from(environment, "c7", "b8")}
    assert white == {"c7b8q": "Q", "c7b8r": "R", "c7b8b": "B", "c7b8n": "N"}
    play(environment, "c7b8r")
    board = environment.board()
    assert board is not None and piece(board, (0, 1)) == "R" and piece(board, (7, 7)) == "n"


def play(environment: Environment, label: str) -> None:
    board = environment.board()
    assert board is not None
    (move,) = [m for m in board.moves if m.label == label]
    environment.adapter.step({board.turn: move.action})


def moves_from(environment: Environment, source: str, target: str) -> list[Move]:
    board = environment.board()
    assert board is not None
    return [m for m in board.moves if m.label.startswith(source + target)]


@pytest.mark.parametrize("seed", range(3))
def test_connect_four_and_tic_tac_toe_have_the_pieces_of_the_environment(seed: int) -> None:
    for environment, board, _ in positions("connect_four_v3", seed, 50):
        assert [{"": 0, "X": 1, "O": 2}[cell] for cell in board.cells] == environment.env.board
    for environment, board, _ in positions("tictactoe_v3", seed, 10):
        squares = environment.env.board.squares
        assert [{"": 0, "X": 1, "O": 2}[c] for c in board.cells] == [
            squares[i % 3 * 3 + i // 3] for i in range(9)
        ]


def test_the_marks_lie_where_the_picture_has_them() -> None:
    """Action 2 of tic-tac-toe is the lower left square, in the drawing of PettingZoo too."""
    environment = make("tictactoe_v3", render_mode="rgb_array")
    environment.adapter.reset(seed=0)
    empty = environment.picture()
    environment.adapter.step({"player_1": 2})
    picture, board = environment.picture(), environment.board()
    assert board is not None and picture is not None and empty is not None
    assert board.last == ((2, 0),) and piece(board, (2, 0)) == "X"
    rows, columns = np.nonzero((picture != empty).any(axis=2))
    height, width = picture.shape[:2]
    assert rows.min() > height / 2 and columns.max() < width / 2


def test_capturing_in_go_takes_the_stones_off() -> None:
    for task in ("go_v5", "open_spiel/go"):
        environment = make(task, env_kwargs=ENV_KWARGS[task])
        environment.adapter.reset(seed=0)
        for label in ("B7", "A7", "A6"):  # a stone in the corner has two liberties
            play(environment, label)
        board = environment.board()
        assert board is not None
        assert (piece(board, (0, 0)), piece(board, (0, 1)), piece(board, (1, 0))) == ("", "X", "X")
        play(environment, "pass")
        after = environment.board()
        assert after is not None and after.last == () and after.cells == board.cells


def test_kings_of_checkers_are_doubled() -> None:
    letters: set[str] = set()
    for seed in range(8):
        for _, board, _ in positions("open_spiel/checkers", seed, 200):
            letters |= set(board.cells)
    assert letters == {"", "X", "O", "XX", "OO"}


@pytest.mark.parametrize(
    "task", ["CartPole-v1", "leduc_holdem_v4", "open_spiel/leduc_poker", "pistonball_v6"]
)
def test_what_is_no_board_game_has_no_board(task: str) -> None:
    environment = make(task)
    environment.adapter.reset(seed=0)
    assert environment.board() is None


def test_a_board_that_cannot_be_read_is_said_once_and_play_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    environment = make("connect_four_v3")
    environment.adapter.reset(seed=0)
    environment.env.board = None  # as a release of PettingZoo that keeps it elsewhere
    assert environment.board() is None
    assert environment.board() is None
    (said,) = [r.getMessage() for r in caplog.records]
    assert "its board cannot be read" in said


def test_while_a_manager_chooses_nothing_can_be_moved() -> None:
    environment = make("connect_four_v3").with_manager([Option("attack", budget=2), Option("defend")])
    environment.adapter.reset(seed=0)
    choosing = environment.board()
    assert choosing is not None and (choosing.turn, choosing.moves) == ("player_0/goal", ())
    environment.adapter.step({"player_0/goal": 0})
    playing = environment.board()
    assert playing is not None and playing.turn == "player_0" and len(playing.moves) == 7
    environment.adapter.step({"player_0": 3})
    after = environment.board()
    assert after is not None and after.last == ((5, 3),)
